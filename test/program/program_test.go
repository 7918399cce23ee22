// Package program tests the command line of the built program.
package program

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/api/openapi"
	"pressroom.example/pressroom/internal/testkit/must"
	"pressroom.example/pressroom/internal/testkit/program"
)

func binary(tb testing.TB) string {
	tb.Helper()
	return program.Build(tb, program.Pressroom, "")
}

// process is one run of the program, which ends with the test.
type process struct {
	t     *testing.T
	cmd   *exec.Cmd
	lines chan string // standard output
	log   logFile
}

// logFile has a program's standard error.
type logFile string

// String returns the content so far.
func (l logFile) String() string {
	raw, err := os.ReadFile(string(l))
	if err != nil {
		return err.Error()
	}
	return string(raw)
}

func start(t *testing.T, env []string, args ...string) *process {
	t.Helper()
	log := must.Get(os.Create(filepath.Join(t.TempDir(), "log")))(t)
	defer log.Close()
	p := &process{t: t, cmd: exec.Command(binary(t), args...), lines: make(chan string, 1000), log: logFile(log.Name())}
	p.cmd.Env = append(os.Environ(), env...)
	p.cmd.Dir = t.TempDir()
	p.cmd.Stderr = log
	out := must.Get(p.cmd.StdoutPipe())(t)
	must.NoError(t, p.cmd.Start())
	go func() {
		scanner := bufio.NewScanner(out)
		for scanner.Scan() {
			p.lines <- scanner.Text()
		}
		close(p.lines)
	}()
	t.Cleanup(func() { _ = p.cmd.Process.Kill() })
	return p
}

// line returns the next line on standard output.
func (p *process) line() string {
	p.t.Helper()
	select {
	case line, ok := <-p.lines:
		if !ok {
			p.t.Fatalf("the program ended: %s", p.log)
		}
		return line
	case <-time.After(30 * time.Second):
		p.t.Fatal("no output within half a minute")
		return ""
	}
}

// end stops the program and returns its exit status.
func (p *process) end() int {
	p.t.Helper()
	must.NoError(p.t, p.cmd.Process.Signal(syscall.SIGTERM))
	for range p.lines { // read completely, as Wait requires
	}
	_ = p.cmd.Wait()
	return p.cmd.ProcessState.ExitCode()
}

// fails runs the program, which must fail, and returns its output.
func fails(t *testing.T, env []string, args ...string) string {
	t.Helper()
	program := binary(t)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env, cmd.Dir = append(os.Environ(), env...), t.TempDir()
	out, err := cmd.CombinedOutput()
	if err == nil {
		t.Fatalf("%v succeeded: %s", args, out)
	}
	return string(out)
}

func get(t *testing.T, url, key string) (int, map[string]any) {
	t.Helper()
	req := must.Get(http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil))(t)
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	resp := must.Get(http.DefaultClient.Do(req))(t)
	defer resp.Body.Close()
	var body map[string]any
	_ = json.NewDecoder(resp.Body).Decode(&body) // the status is checked
	return resp.StatusCode, body
}

// Every command that quickstart prints works as printed.
func TestPrintedCommandsWork(t *testing.T) {
	t.Parallel()
	p := start(t, nil, "quickstart", "--data", filepath.Join(t.TempDir(), "data"), "--addr", "127.0.0.1:0")
	script := []string{}
	for line := p.line(); !strings.HasPrefix(line, "Press Ctrl-C to stop"); line = p.line() {
		if command, ok := strings.CutPrefix(line, "  curl -s "); ok {
			script = append(script, "curl -sS --fail-with-body "+command)
		}
		if command, ok := strings.CutPrefix(line, "  pressroom "); ok {
			script = append(script, binary(t)+" "+command)
		}
		if strings.HasPrefix(line, "  export ") {
			script = append(script, line)
		}
	}
	if len(script) < 11 {
		t.Fatalf("only %d commands were printed: %v", len(script), script)
	}
	cmd := exec.Command("bash", "-e")
	cmd.Stdin = strings.NewReader(strings.Join(script, "\n"))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if status := p.end(); status != 0 {
		t.Errorf("exit status %d: %s", status, p.log)
	}
}

type greeting struct {
	BaseURL    string            `json:"base_url"`
	MCPURL     string            `json:"mcp_url"`
	AppURL     string            `json:"app_url"`
	SandboxURL string            `json:"sandbox_url"`
	Keys       map[string]string `json:"keys"`
	Owner      map[string]string `json:"owner"`
}

// When restarted in the same directory, quickstart keeps all data and keys, and adds new keys.
func TestQuickstartRestart(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	var greetings []greeting
	for range 2 {
		p := start(t, nil, "quickstart", "--data", data, "--addr", "127.0.0.1:0", "--json")
		var g greeting
		must.NoError(t, json.Unmarshal([]byte(p.line()), &g))
		greetings = append(greetings, g)
		for _, earlier := range greetings {
			for level, key := range earlier.Keys {
				if status, body := get(t, g.BaseURL+"/me", key); status != http.StatusOK {
					t.Errorf("the %s key: %d %v", level, status, body)
				}
			}
		}
		if status, body := get(t, g.AppURL+"/readyz", ""); status != http.StatusOK {
			t.Errorf("not ready: %v", body)
		}
		if _, body := get(t, g.BaseURL+"/reports?status=ready", g.Keys["read_only"]); !strings.Contains(fmt.Sprint(body), "north.cafe") {
			t.Errorf("quickstart printed its output before the report was ready: %v", body)
		}
		if status := p.end(); status != 0 {
			t.Errorf("exit status %d: %s", status, p.log)
		}
	}
	if said := mustRun(t, nil, "", "admin", "--json", "keys", "list", "--team", "1", "--database",
		"sqlite:"+filepath.Join(data, "pressroom.db")); strings.Count(said, `"expires_at":"2`) != 6 {
		t.Errorf("keys of quickstart do not expire: %s", said)
	}
	if greetings[0].Keys["full"] == greetings[1].Keys["full"] {
		t.Error("no new keys were created")
	}
	if greetings[0].Owner["password"] != greetings[1].Owner["password"] || greetings[0].SandboxURL != greetings[1].SandboxURL {
		t.Error("the password or the sandbox's address changed")
	}
}

// TestQuickstartAfterPasswordChange checks that quickstart prints a working command to sign in again instead of an
// outdated password.
func TestQuickstartAfterPasswordChange(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "it's data")
	p := start(t, nil, "quickstart", "--data", data, "--addr", "127.0.0.1:0", "--json")
	var first greeting
	if err := json.Unmarshal([]byte(p.line()), &first); err != nil || first.Owner["password"] == "" || first.Owner["recover"] != "" {
		t.Fatal(err, first.Owner)
	}
	said := mustRun(t, nil, "", "admin", "people", "recover", first.Owner["email"],
		"--database", "sqlite:"+filepath.Join(data, "pressroom.db"), "--public-url", first.AppURL)
	if !regexp.MustCompile(`(?m)^name +Ada Okafor\nemail +` + regexp.QuoteMeta(first.Owner["email"]) + `$`).MatchString(said) {
		t.Errorf("people recover printed:\n%s", said)
	}
	useRecovery(t, said)
	if status := p.end(); status != 0 {
		t.Fatalf("exit status %d: %s", status, p.log)
	}

	p = start(t, nil, "quickstart", "--data", data, "--addr", "127.0.0.1:0")
	printed, command := "", ""
	for line := p.line(); !strings.HasPrefix(line, "Press Ctrl-C to stop"); line = p.line() {
		printed += line + "\n"
		if at := strings.Index(line, "pressroom admin people recover "); at >= 0 {
			command = line[at:]
		}
	}
	if strings.Contains(printed, first.Owner["password"]) || !strings.Contains(printed, "The password was changed") {
		t.Fatalf("printed:\n%s", printed)
	}
	cmd := exec.CommandContext(t.Context(), "bash", "-ec", `"$REAL" `+strings.TrimPrefix(command, "pressroom "))
	cmd.Env, cmd.Dir = append(os.Environ(), "REAL="+binary(t)), t.TempDir()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", command, err, out)
	}
	useRecovery(t, string(out))
	if status := p.end(); status != 0 {
		t.Errorf("exit status %d: %s", status, p.log)
	}
}

// useRecovery sets a new password with the link that a command printed.
func useRecovery(t *testing.T, printed string) {
	t.Helper()
	link := regexp.MustCompile(`http://\S+/recovery/[A-Z0-9]+`).FindString(printed)
	if link == "" {
		t.Fatalf("no link in %s", printed)
	}
	resp := must.Get(http.PostForm(link, url.Values{"password": {"vivid tundra sextant 9"}}))(t)
	defer resp.Body.Close()
	page, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK || strings.Contains(string(page), "role=\"alert\"") {
		t.Fatalf("%d %v\n%s", resp.StatusCode, err, page)
	}
}

// Only one process can use a directory. A database can be opened only with its sealing key.
func TestSecondProcessRejected(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	p := start(t, nil, "quickstart", "--data", data, "--addr", "127.0.0.1:0", "--json")
	p.line()
	out := fails(t, nil, "quickstart", "--data", data, "--addr", "127.0.0.1:0")
	if !strings.Contains(out, "another pressroom process is using") {
		t.Errorf("a second quickstart: %s", out)
	}
	database := "sqlite:" + filepath.Join(data, "pressroom.db")
	out = fails(t, nil, "serve", "--database", database, "--addr", "127.0.0.1:0")
	if !strings.Contains(out, "another pressroom process serves") {
		t.Errorf("a second node on the file: %s", out)
	}
	if status := p.end(); status != 0 {
		t.Errorf("exit status %d: %s", status, p.log)
	}
	must.NoError(t, os.Remove(filepath.Join(data, "pressroom.db.sealing-key")))
	if out := fails(t, nil, "serve", "--database", database, "--addr", "127.0.0.1:0"); !strings.Contains(out, "PRESSROOM_SEALING_KEY") {
		t.Errorf("without its key: %s", out)
	}
	if out := fails(t, nil, "serve", "--database", database, "--sealing-key", newSealingKey(t), "--addr",
		"127.0.0.1:0"); !strings.Contains(out, "lacks a key that encrypted accounts") {
		t.Errorf("with another key: %s", out)
	}
}

// Configuration errors name the variable and the fix.
func TestConfigurationErrorsNameFix(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		env  []string
		args []string
		want []string
	}{
		{[]string{"PRESSROOM_DATABASE=mysql://x"}, []string{"serve", "--sealing-key", newSealingKey(t)}, []string{
			"sqlite:PATH", "postgres://",
		}},
		{[]string{"PRESSROOM_DATABASE=postgres://x@127.0.0.1:1/x"}, []string{"serve"}, []string{
			"PRESSROOM_SEALING_KEY", "admin sealing-key",
		}},
		{[]string{"PRESSROOM_SEALING_KEY=short"}, []string{"serve"}, []string{"sealing key", "admin sealing-key"}},
		{[]string{"PRESSROOM_PUBLIC_URL=press.example.com"}, []string{"serve"}, []string{"PRESSROOM_PUBLIC_URL", "https://"}},
		{[]string{"PRESSROOM_LEASE=1ms"}, []string{"serve"}, []string{"PRESSROOM_LEASE", "1s"}},
		{[]string{"PRESSROOM_TLS_CERT=/no/such/tls.crt"}, []string{"serve"}, []string{"--tls-cert", "--tls-key"}},
		{[]string{"PRESSROOM_TLS_CERT=/no/such/tls.crt", "PRESSROOM_TLS_KEY=/no/such/tls.key"}, []string{
			"serve",
		}, []string{"certificate", "/no/such/tls.crt"}},
		{[]string{"PRESSROOM_ACME_DOMAIN=press.test"}, []string{"serve", "--public-url", "http://press.test"}, []string{
			"PRESSROOM_PUBLIC_URL", "https://",
		}},
		{[]string{"PRESSROOM_PLAIN_ADDR=127.0.0.1:0"}, []string{"serve"}, []string{"PRESSROOM_PLAIN_ADDR", "--tls-cert"}},
		{nil, []string{"serve", "--role", "boss"}, []string{"--role", "worker"}},
		{nil, []string{"serve", "--addr", "nowhere:http:x"}, []string{"--addr"}},
		{nil, []string{"serve", "--database", "sqlite:/no/such/dir/x.db", "--sealing-key", newSealingKey(t)}, []string{"SQLite"}},
		{nil, []string{"launch"}, []string{"quickstart", "serve", "admin"}},
		{nil, []string{"admin", "keys", "add", "--team", "99"}, []string{"no database", "PRESSROOM_DATABASE"}},
	} {
		out := fails(t, c.env, c.args...)
		for _, want := range c.want {
			if !strings.Contains(out, want) {
				t.Errorf("%v %v: the message lacks %q: %s", c.env, c.args, want, out)
			}
		}
	}
}

func newSealingKey(t *testing.T) string {
	t.Helper()
	out := must.Get(exec.Command(binary(t), "admin", "sealing-key").Output())(t)
	return strings.TrimSpace(string(out))
}

func TestHelpListsCommands(t *testing.T) {
	t.Parallel()
	out := must.Get(exec.Command(binary(t), "--help").CombinedOutput())(t)
	for _, want := range []string{"quickstart", "serve", "admin", "call", "sandbox", "version"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("--help does not list %s", want)
		}
	}
}

func TestHelpCommand(t *testing.T) {
	t.Parallel()
	want := must.Get(exec.Command(binary(t), "admin", "keys", "add", "--help").Output())(t)
	got := must.Get(exec.Command(binary(t), "help", "admin", "keys", "add").Output())(t)
	if string(got) != string(want) {
		t.Errorf("help admin keys add prints %s", got)
	}
	want = must.Get(exec.Command(binary(t), "--help").Output())(t)
	for _, args := range [][]string{{}, {"help"}} {
		if got := must.Get(exec.Command(binary(t), args...).Output())(t); string(got) != string(want) {
			t.Errorf("%v prints %s", args, got)
		}
	}
	if got := must.Get(exec.Command(binary(t), "help", "posts").Output())(t); !strings.Contains(string(got), "pressroom posts VERB") {
		t.Errorf("help posts prints %s", got)
	}
}

func TestUnknownCommand(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]string{
		"post list":  "unknown command post; did you mean posts? The commands are quickstart, serve, admin, call, ",
		"quikstart":  "unknown command quikstart; did you mean quickstart? The commands are ",
		"deploy":     "unknown command deploy. The commands are quickstart, ",
		"admin kyes": "unknown command kyes; did you mean keys? The commands are sealing-key, ",
	} {
		cmd := exec.Command(binary(t), strings.Fields(command)...)
		var failed strings.Builder
		cmd.Stderr = &failed
		out, _ := cmd.Output()
		if cmd.ProcessState.ExitCode() != 2 || len(out) > 0 || !strings.Contains(failed.String(), want) ||
			strings.Contains(failed.String(), "complete,") {
			t.Errorf("%s exits with %d: %s%s", command, cmd.ProcessState.ExitCode(), out, failed.String())
		}
	}
}

func TestVersionFlag(t *testing.T) {
	t.Parallel()
	flag := must.Get(exec.Command(binary(t), "--version").Output())(t)
	command := must.Get(exec.Command(binary(t), "version").Output())(t)
	if string(flag) != string(command) || !strings.HasPrefix(string(flag), "pressroom "+openapi.Version) {
		t.Errorf("--version: %q, version: %q", flag, command)
	}
}

func TestWrongFlagValue(t *testing.T) {
	t.Parallel()
	out, err := exec.Command(binary(t), "serve", "--require-second-factor=all").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "--require-second-factor must be one of") ||
		!strings.Contains(string(out), "pressroom serve --help") || strings.Count(string(out), "\n") > 10 {
		t.Errorf("%v: %s", err, out)
	}
}
