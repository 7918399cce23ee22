package clients

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pressroom/client"
	"pressroom/internal/calling"
)

// called is what a run of `pressroom call` left.
type called struct {
	status   int
	out, err string
}

func (g greeting) call(t *testing.T, args ...string) called {
	t.Helper()
	return g.callWith(t, "", nil, args...)
}

func (g greeting) callWith(t *testing.T, in string, env []string, args ...string) called {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), binary, append([]string{"call"}, args...)...)
	cmd.Env, cmd.Stdin = g.environment(env...), strings.NewReader(in)
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	err := cmd.Run()
	if _, ended := errors.AsType[*exec.ExitError](err); err != nil && !ended {
		t.Fatal(err)
	}
	for _, key := range []string{g.Keys.Full, "prk_wrong"} {
		if strings.Contains(out.String()+said.String(), key) {
			t.Errorf("%v tells the key", args)
		}
	}
	return called{cmd.ProcessState.ExitCode(), out.String(), said.String()}
}

// at reads one member of an answer.
func at[T any](t *testing.T, c called, path ...string) T {
	t.Helper()
	raw := json.RawMessage(c.out)
	for _, name := range path {
		var list []json.RawMessage
		if name == "0" && json.Unmarshal(raw, &list) == nil {
			raw = list[0]
			continue
		}
		var object map[string]json.RawMessage
		if err := json.Unmarshal(raw, &object); err != nil {
			t.Fatalf("%v in %q (status %d, %s)", err, c.out, c.status, c.err)
		}
		raw = object[name]
	}
	var out T
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatalf("%v of %q (status %d, %s)", err, c.out, c.status, c.err)
	}
	return out
}

// Every operation can be called, and its help tells every argument that it takes.
func TestEveryOperationIsACommand(t *testing.T) {
	t.Parallel()
	g := greeting{}
	g.Keys.Full = "prk_none"
	all := g.call(t).out
	for _, o := range client.Operations() {
		if !strings.Contains(all, "  "+o.Name+" ") {
			t.Errorf("%s is not listed", o.Name)
		}
		help := g.call(t, o.Name, "--help")
		for _, a := range o.Arguments {
			if !strings.Contains(help.out, "--"+strings.ReplaceAll(a.Name, "_", "-")+" ") {
				t.Errorf("%s does not tell of %s", o.Name, a.Name)
			}
		}
		if help.status != 0 {
			t.Errorf("%s --help ends with %d", o.Name, help.status)
		}
	}
}

func TestCalls(t *testing.T) {
	t.Parallel()
	g := quickstart(t)
	post := at[string](t, g.call(t, "create_post", "--caption", "by hand", "--account-ids", "1,2", "--idempotency-key", "hand"), "data", "id")
	again := at[string](t, g.call(t, "create_post", "--idempotency-key", "hand", "--json", `{"caption":"by hand","account_ids":[1,2]}`), "data", "id")
	if post != again {
		t.Error("the same key made two posts")
	}
	if got := at[string](t, g.callWith(t, `{"caption":"changed"}`, nil, "update_post", post, "--json", "-"), "data", "caption"); got != "changed" {
		t.Errorf("the caption is %q", got)
	}
	file := filepath.Join(t.TempDir(), "accounts.json")
	if err := os.WriteFile(file, []byte(`{"account_ids":[1]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := at[[]any](t, g.call(t, "update_post", "--json", "@"+file, "--id", post), "data", "accounts"); len(got) != 1 {
		t.Errorf("the accounts are %v", got)
	}
	if got := at[string](t, g.call(t, "publish_post", post, "--wait"), "data", "state"); got != "succeeded" {
		t.Errorf("the job %s", got)
	}
	if n := g.held(t, "changed"); n != 1 {
		t.Errorf("the networks hold it %d times", n)
	}
	one := at[[]any](t, g.call(t, "list_posts", "--limit", "1"), "data", "posts")
	pages := strings.Split(strings.TrimSpace(g.call(t, "list_posts", "--limit", "1", "--all").out), "\n")
	if len(one) != 1 || len(pages) < 3 {
		t.Errorf("%d posts of one page, %d pages", len(one), len(pages))
	}
	accounts := at[[]any](t, g.call(t, "--url", g.BaseURL, "list_social_accounts", "--active-only=false", "--platform=bluesky"), "data", "social_accounts")
	if len(accounts) != 1 {
		t.Errorf("%d accounts", len(accounts))
	}
	dot := filepath.Join(t.TempDir(), "dot.png")
	if err := os.WriteFile(dot, picture(t, 9, 3), 0o600); err != nil {
		t.Fatal(err)
	}
	files := at[[]map[string]any](t, g.call(t, "upload", dot), "files")
	if len(files) != 1 || files[0]["media_id"] == nil {
		t.Errorf("uploaded: %v", files)
	}
	newest := g.call(t, "list_posts", "--limit", "1", "--field", "data.posts.0.id")
	if strings.TrimSpace(newest.out) != at[string](t, g.call(t, "list_posts", "--limit", "1"), "data", "posts", "0", "id") {
		t.Errorf("the newest post is %q", newest.out)
	}
	if none := g.call(t, "list_posts", "--field", "data.nothing"); none.status != calling.StatusFailed || none.out != "" {
		t.Errorf("a member that there is not: %+v", none)
	}
	keyFile := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(keyFile, []byte(g.Keys.ReadOnly+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if level := at[string](t, g.callWith(t, "", []string{"PRESSROOM_KEY=prk_wrong"}, "get_identity", "--key-file", keyFile), "data", "key", "level"); level != "read_only" {
		t.Errorf("the key of the file is %s", level)
	}
}

// Each kind of failure has a status of its own, and says what it is about.
func TestStatuses(t *testing.T) {
	t.Parallel()
	g := quickstart(t)
	rejected := at[string](t, g.call(t, "create_post", "--caption", "x [sandbox:reject]", "--account-ids", "1"), "data", "id")
	for _, c := range []struct {
		env    []string
		args   []string
		status int
		says   []string
	}{
		{nil, []string{"no_such"}, calling.StatusUsage, []string{"no_such"}},
		{nil, []string{"create_post", "--caption", "x"}, calling.StatusUsage, []string{"--account-ids"}},
		{nil, []string{"create_post", "--caption", "x", "--caption", "y", "--account-ids", "1"}, calling.StatusUsage, []string{"-caption", "twice"}},
		{nil, []string{"list_posts", "--limit", "prk_wrong"}, calling.StatusUsage, []string{"limit", "no integer"}},
		{nil, []string{"list_posts", "--key", "prk_wrong"}, calling.StatusUsage, []string{"no such flag"}},
		{nil, []string{"list_posts", "--wait"}, calling.StatusUsage, []string{"starts no job"}},
		{nil, []string{"get_identity", "--all"}, calling.StatusUsage, []string{"no pages"}},
		{nil, []string{"get_post", "a", "b"}, calling.StatusUsage, []string{"too many"}},
		{nil, []string{"update_post", "a", "--json", "[]"}, calling.StatusUsage, []string{"JSON object"}},
		{nil, []string{"upload"}, calling.StatusUsage, []string{"FILE"}},
		{nil, []string{"upload", "/no/such/file"}, calling.StatusUsage, []string{"no such file"}},
		{nil, []string{"--url", "http://press.example.com", "get_identity"}, calling.StatusUsage, []string{"--plain-http"}},
		{[]string{"PRESSROOM_KEY="}, []string{"get_identity"}, calling.StatusUsage, []string{"PRESSROOM_KEY"}},
		{[]string{"PRESSROOM_KEY=prk_wrong"}, []string{"get_identity"}, calling.StatusRefused, []string{"unauthorized", "401"}},
		{[]string{"PRESSROOM_KEY=" + g.Keys.ReadOnly}, []string{"create_post", "--caption", "x", "--account-ids", "1"}, calling.StatusRefused, []string{"write_not_allowed"}},
		{nil, []string{"get_post", "01a204d0-a906-77ca-b29e-bac35cd41dbd"}, calling.StatusMissing, []string{"not_found", "request"}},
		{nil, []string{"list_posts", "--limit", "99"}, calling.StatusInvalid, []string{"validation_failed", "limit", "out_of_range"}},
		{nil, []string{"publish_post", rejected, "--wait"}, calling.StatusJob, []string{"rejected_content"}},
		{[]string{"PRESSROOM_URL=http://127.0.0.1:1"}, []string{"create_post", "--attempts", "1", "--caption", "x", "--account-ids", "1"}, calling.StatusUnavailable, []string{"no answer", "--idempotency-key"}},
	} {
		got := g.callWith(t, "", c.env, c.args...)
		if got.status != c.status {
			t.Errorf("%v ends with %d in place of %d: %s", c.args, got.status, c.status, got.err)
		}
		for _, word := range c.says {
			if !strings.Contains(got.err, word) {
				t.Errorf("%v does not say %q: %s", c.args, word, got.err)
			}
		}
	}
}

// A command that is interrupted says so by its status, and tells the key by which it can be repeated.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	reached, held := make(chan struct{}, 1), make(chan struct{})
	silent := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		reached <- struct{}{}
		<-held
	}))
	defer silent.Close()
	defer close(held)
	cmd := exec.CommandContext(t.Context(), binary, "call", "create_post", "--caption", "x", "--account-ids", "1", "--idempotency-key", "kept")
	cmd.Env = greeting{AppURL: silent.URL}.environment("PRESSROOM_KEY=prk_none")
	var said bytes.Buffer
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	<-reached
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // the status tells
	if status := cmd.ProcessState.ExitCode(); status != calling.StatusInterrupted || !strings.Contains(said.String(), "--idempotency-key kept") {
		t.Errorf("it ended with %d: %s", status, said.String())
	}
}
