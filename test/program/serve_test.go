package program

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/must"
)

// mustRun runs the program, which must succeed, and returns its output.
func mustRun(t *testing.T, env []string, stdin string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), binary(t), args...)
	cmd.Env, cmd.Dir, cmd.Stdin = append(os.Environ(), env...), t.TempDir(), strings.NewReader(stdin)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", args, err, out)
	}
	return string(out)
}

// Creating a key for a team whose plan does not include keys prints a warning on standard error and in the JSON output.
func TestKeyOnPlanWithoutKeys(t *testing.T) {
	t.Parallel()
	database := "sqlite:" + filepath.Join(t.TempDir(), "press.db")
	mustRun(t, nil, "", "admin", "people", "add", "--name", "Ada", "--email", "ada@example.com", "--database", database)
	for team, plan := range []string{"free", "creator"} {
		mustRun(t, nil, "", "admin", "teams", "add", "--name", "Harbour", "--owner", "1", "--plan", plan, "--database", database)
		cmd := exec.CommandContext(t.Context(), binary(t), "admin", "--json", "keys", "add", "--team",
			strconv.Itoa(team+1), "--database", database)
		var told, warned bytes.Buffer
		cmd.Dir, cmd.Stdout, cmd.Stderr = t.TempDir(), &told, &warned
		if err := cmd.Run(); err != nil {
			t.Fatalf("%v: %s", err, &warned)
		}
		var key struct{ Key, Warning string }
		if err := json.Unmarshal(told.Bytes(), &key); err != nil || !strings.HasPrefix(key.Key, "prk_") {
			t.Fatalf("%v: %s", err, &told)
		}
		if lapsed := plan == "free"; strings.Contains(key.Warning, "plan_lapsed") != lapsed ||
			strings.Contains(warned.String(), "plan_lapsed") != lapsed {
			t.Errorf("%s: JSON warning %q, standard error %q", plan, key.Warning, &warned)
		}
	}
}

// An unsupported database is reported before a missing sealing key or blob store.
func TestUnsupportedDatabase(t *testing.T) {
	t.Parallel()
	for _, command := range [][]string{{"serve"}, {"admin", "people", "list"}} {
		if said := fails(t, nil,
			append(command, "--database", "mysql://root@127.0.0.1/press")...); !strings.Contains(said, "sqlite:PATH or postgres://") {
			t.Errorf("%v: %s", command, said)
		}
	}
}

// The health command accepts only a pressroom node, not another service at the URL.
func TestHealthAcceptsOnlyNodes(t *testing.T) {
	t.Parallel()
	for _, answer := range []string{"", "OK", "<html></html>", `{"status":"ok"}`, `[]`} {
		other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(answer)) }))
		if said := fails(t, nil, "health", "--url", other.URL+"/readyz"); !strings.Contains(said, "is not from a node") {
			t.Errorf("%q: %s", answer, said)
		}
		other.Close()
	}
	addr := must.Get(testkit.FreeAddr())(t)
	figures := must.Get(testkit.FreeAddr())(t)
	p := start(t, nil, "serve", "--database", "sqlite:"+filepath.Join(t.TempDir(), "press.db"), "--addr", addr, "--metrics-addr", figures)
	for at, says := range map[string]string{addr: `{"status":"ok"}`, figures: `"database":"ok"`} {
		if status := answers(t, "http://"+at+"/readyz"); status != http.StatusOK {
			t.Fatalf("status %d: %s", status, p.log)
		}
		if said := mustRun(t, nil, "", "health", "--url", "http://"+at+"/readyz"); !strings.Contains(said, says) {
			t.Error(said)
		}
	}
}

// A failed restore leaves no files. A finished restore and an existing lock are kept.
func TestRejectedRestoreRollsBack(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	database, backup := "sqlite:"+filepath.Join(dir, "press.db"), filepath.Join(dir, "backup")
	mustRun(t, nil, "", "admin", "people", "add", "--name", "Ada", "--email", "ada@example.com", "--database", database)
	mustRun(t, nil, "", "admin", "backup", backup, "--database", database)
	restored := filepath.Join(dir, "restored.db")
	fails(t, []string{"PRESSROOM_SEALING_KEY=" + newSealingKey(t)}, "admin", "restore", backup, "--database", "sqlite:"+restored)
	left, err := filepath.Glob(restored + "*")
	if err != nil || len(left) > 0 {
		t.Errorf("%v, %v", left, err)
	}
	key := must.Get(os.ReadFile(filepath.Join(dir, "press.db.sealing-key")))(t)
	mustRun(t, []string{"PRESSROOM_SEALING_KEY=" + strings.TrimSpace(string(key))}, "", "admin", "restore", backup,
		"--database", "sqlite:"+restored)
	fails(t, []string{"PRESSROOM_SEALING_KEY=" + strings.TrimSpace(string(key))}, "admin", "restore", backup,
		"--database", "sqlite:"+restored)
	if _, err := os.Stat(restored + ".lock"); err != nil {
		t.Errorf("lock of the existing database: %v", err)
	}
}

// Resealing fails while a node without the new sealing key is running.
func TestResealTooEarly(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	database, old, next := "sqlite:"+filepath.Join(dir, "press.db"), newSealingKey(t), newSealingKey(t)
	addr := must.Get(testkit.FreeAddr())(t)
	both := []string{"PRESSROOM_SEALING_KEY=" + next + "," + old}
	serve := []string{"serve", "--database", database, "--addr", addr, "--metrics-addr", ""}
	p := start(t, []string{"PRESSROOM_SEALING_KEY=" + old}, serve...)
	if status := answers(t, "http://"+addr+"/readyz"); status != http.StatusOK {
		t.Fatalf("status %d: %s", status, p.log)
	}
	rejected := func() (string, error) {
		cmd := exec.CommandContext(t.Context(), binary(t), "admin", "reseal", "--database", database)
		cmd.Env, cmd.Dir = append(os.Environ(), both...), dir
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	for began := time.Now(); ; <-time.After(100 * time.Millisecond) { // until the node has stored its keys
		said, err := rejected()
		if err != nil && strings.Contains(said, "lack the first key") {
			break
		}
		if time.Since(began) > 10*time.Second {
			t.Fatalf("resealing did not fail: %v %s", err, said)
		}
	}
	mustRun(t, both, "", "admin", "reseal", "--force", "--database", database)
	if status := p.end(); status != 0 {
		t.Errorf("ended with %d: %s", status, p.log)
	}
	if said, err := rejected(); err != nil {
		t.Errorf("after the node has stopped: %s", said)
	}
}

// If serve may not call an account's server, a warning is printed when the account is connected and when serve
// starts. Posts of the account fail with the same reason.
func TestForbiddenServer(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	addr := must.Get(testkit.FreeAddr())(t)
	sandbox := "http://" + addr + "/bluesky"
	box := start(t, nil, "sandbox", "--data", filepath.Join(dir, "sandbox"), "--addr", addr, "--bluesky-account", "shop.test:open-sesame")
	box.line()
	answers(t, "http://"+addr+"/")
	database := "sqlite:" + filepath.Join(dir, "press.db")
	mustRun(t, nil, "", "admin", "people", "add", "--name", "Ada", "--email", "ada@example.com", "--database", database)
	mustRun(t, nil, "", "admin", "teams", "add", "--name", "Harbour", "--owner", "1", "--plan", "team", "--database", database)
	connect := []string{
		"admin", "accounts", "connect", "--team", "1", "--server", sandbox, "--identifier", "shop.test", "--database", database,
	}
	if said := mustRun(t, nil, "open-sesame\n", connect...); !strings.Contains(said, "PRESSROOM_BLUESKY_SERVERS") {
		t.Errorf("no warning when connecting: %s", said)
	}
	allowed := []string{"PRESSROOM_BLUESKY_SERVERS=" + sandbox}
	if said := mustRun(t, allowed, "open-sesame\n", connect...); strings.Contains(said, "PRESSROOM_BLUESKY_SERVERS") {
		t.Errorf("warning about an allowed server: %s", said)
	}
	var key struct {
		Value string `json:"key"`
	}
	must.NoError(t, json.Unmarshal([]byte(mustRun(t, nil, "", "admin", "--json", "keys", "add", "--team", "1", "--level", "full",
		"--database", database)), &key))
	node := must.Get(testkit.FreeAddr())(t)
	figures := must.Get(testkit.FreeAddr())(t)
	serve := []string{"serve", "--database", database, "--addr", node, "--metrics-addr", figures}
	p := start(t, nil, serve...)
	if status := answers(t, "http://"+node+"/readyz"); status != http.StatusOK {
		t.Fatalf("status %d: %s", status, p.log)
	}
	env := []string{"PRESSROOM_KEY=" + key.Value, "PRESSROOM_URL=http://" + node}
	id := strings.TrimSpace(mustRun(t, env, "", "call", "create_post", "--caption", "hello", "--account-ids", "1", "--field", "data.id"))
	publish := exec.CommandContext(t.Context(), binary(t), "call", "publish_post", id, "--wait") // six attempts take half a minute
	publish.Env = append(os.Environ(), env...)
	if said, err := publish.Output(); err == nil || !strings.Contains(string(said), "server_not_allowed") ||
		strings.Contains(string(said), sandbox) {
		t.Errorf("reason of the failed post: %s, %v", said, err)
	}
	if _, ready := get(t, "http://"+figures+"/readyz", ""); ready["network_bluesky"] != "closed" {
		t.Errorf("the network is reported as failing: %v", ready)
	}
	if status := p.end(); status != 0 || !strings.Contains(p.log.String(), "PRESSROOM_BLUESKY_SERVERS") {
		t.Errorf("ended with %d: %s", status, p.log)
	}
}

// A stopping node returns 503 from /readyz before it stops accepting requests, so that load balancers send no more.
func TestNotReadyBeforeShutdown(t *testing.T) {
	t.Parallel()
	addr := must.Get(testkit.FreeAddr())(t)
	serve := []string{"serve", "--database", "sqlite:" + filepath.Join(t.TempDir(), "press.db"), "--addr", addr, "--metrics-addr", ""}
	if said := fails(t, nil, append(serve, "--shutdown-delay", "2m")...); !strings.Contains(said, "PRESSROOM_SHUTDOWN_DELAY") {
		t.Errorf("a too long delay: %s", said)
	}
	p := start(t, []string{"PRESSROOM_SHUTDOWN_DELAY=5s"}, serve...)
	if status := answers(t, "http://"+addr+"/readyz"); status != http.StatusOK {
		t.Fatalf("status %d: %s", status, p.log)
	}
	must.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
	status, ready := get(t, "http://"+addr+"/readyz", "")
	for status == http.StatusOK { // until the signal has arrived
		status, ready = get(t, "http://"+addr+"/readyz", "")
	}
	if status != http.StatusServiceUnavailable || ready["status"] != "unavailable" || len(ready) != 1 {
		t.Errorf("readyz: %d %v", status, ready)
	}
	if status, _ := get(t, "http://"+addr+"/api/v1/me", ""); status != http.StatusUnauthorized {
		t.Errorf("a request during the delay: %d", status)
	}
	if status := p.end(); status != 0 {
		t.Errorf("ended with %d: %s", status, p.log)
	}
}

// A request that outlasts the shutdown is cut off and logged, and the node still exits successfully.
func TestShutdownCutsOffRequests(t *testing.T) {
	t.Parallel()
	addr := must.Get(testkit.FreeAddr())(t)
	p := start(t, nil, "serve", "--database", "sqlite:"+filepath.Join(t.TempDir(), "press.db"), "--addr", addr, "--metrics-addr", "")
	if status := answers(t, "http://"+addr+"/readyz"); status != http.StatusOK {
		t.Fatalf("status %d: %s", status, p.log)
	}
	conn := must.Get(net.Dial("tcp", addr))(t)
	defer conn.Close()
	// The server sends 100 Continue and waits for the body, which is never sent.
	must.Get(io.WriteString(conn,
		"POST /sign-in HTTP/1.1\r\nHost: "+addr+
			"\r\nContent-Type: application/x-www-form-urlencoded\r\nExpect: 100-continue\r\nContent-Length: 100\r\n\r\n"))(t)
	if said, err := bufio.NewReader(conn).ReadString('\n'); err != nil || !strings.Contains(said, "100 Continue") {
		t.Fatalf("response %q, %v", said, err)
	}
	if status := p.end(); status != 0 || !strings.Contains(p.log.String(), "stopped before everything was finished") {
		t.Errorf("ended with %d: %s", status, p.log)
	}
}

// quickstart warns if other machines can reach it.
func TestQuickstartPublicWarning(t *testing.T) {
	t.Parallel()
	for addr, warned := range map[string]bool{"127.0.0.1:0": false, "0.0.0.0:0": true} {
		p := start(t, nil, "quickstart", "--data", filepath.Join(t.TempDir(), "data"), "--addr", addr, "--json")
		p.line()
		if status := p.end(); status != 0 || strings.Contains(p.log.String(), "quickstart is for trials on this machine") != warned {
			t.Errorf("%s: ended with %d: %s", addr, status, p.log)
		}
	}
}
