package clients

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/apicli"
	"pressroom.example/pressroom/internal/testkit/must"
)

// called is the result of a run of `pressroom call`.
type called struct {
	status   int
	out, err string
}

func (g installation) call(t *testing.T, args ...string) called {
	t.Helper()
	return g.callWith(t, "", nil, args...)
}

func (g installation) callWith(t *testing.T, in string, env []string, args ...string) called {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), binary(t), append([]string{"call"}, args...)...)
	cmd.Env, cmd.Stdin = g.environment(env...), strings.NewReader(in)
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	err := cmd.Run()
	if _, ended := errors.AsType[*exec.ExitError](err); err != nil && !ended {
		t.Fatal(err)
	}
	for _, key := range []string{g.Keys.Full, "prk_wrong"} {
		if strings.Contains(out.String()+said.String(), key) {
			t.Errorf("%v prints the key", args)
		}
	}
	return called{cmd.ProcessState.ExitCode(), out.String(), said.String()}
}

// at returns the member of the output at a path.
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

func TestCalls(t *testing.T) {
	t.Parallel()
	g := quickstart(t)
	post := at[string](t,
		g.call(t, "create_post", "--caption", "by hand", "--account-ids", "1,2", "--idempotency-key", "hand"), "data", "id")
	again := at[string](t,
		g.call(t, "create_post", "--idempotency-key", "hand", "--json", `{"caption":"by hand","account_ids":[1,2]}`), "data", "id")
	if post != again {
		t.Error("the same key created two posts")
	}
	if got := at[string](t, g.callWith(t, `{"caption":"changed"}`, nil, "update_post", post, "--json", "-"), "data",
		"caption"); got != "changed" {
		t.Errorf("caption = %q", got)
	}
	file := filepath.Join(t.TempDir(), "accounts.json")
	must.NoError(t, os.WriteFile(file, []byte(`{"account_ids":[1]}`), 0o600))
	if got := at[[]any](t, g.call(t, "update_post", "--json", "@"+file, "--id", post), "data", "accounts"); len(got) != 1 {
		t.Errorf("accounts = %v", got)
	}
	if got := at[string](t, g.call(t, "publish_post", post, "--wait"), "data", "state"); got != "succeeded" {
		t.Errorf("job = %s", got)
	}
	if n := g.countPosts(t, "changed"); n != 1 {
		t.Errorf("published %d times, want 1", n)
	}
	one := at[[]any](t, g.call(t, "list_posts", "--limit", "1"), "data", "posts")
	pages := strings.Split(strings.TrimSpace(g.call(t, "list_posts", "--limit", "1", "--all").out), "\n")
	if len(one) != 1 || len(pages) < 3 {
		t.Errorf("%d posts on one page, %d pages", len(one), len(pages))
	}
	accounts := at[[]any](t,
		g.call(t, "--url", g.BaseURL, "list_social_accounts", "--active-only=false", "--platform=bluesky"), "data", "social_accounts")
	if len(accounts) != 1 {
		t.Errorf("%d accounts", len(accounts))
	}
	dot := filepath.Join(t.TempDir(), "dot.png")
	must.NoError(t, os.WriteFile(dot, picture(t, 9, 3), 0o600))
	files := at[[]map[string]any](t, g.call(t, "upload", dot), "files")
	if len(files) != 1 || files[0]["media_id"] == nil {
		t.Errorf("uploaded: %v", files)
	}
	newest := g.call(t, "list_posts", "--limit", "1", "--field", "data.posts.0.id")
	if strings.TrimSpace(newest.out) != at[string](t, g.call(t, "list_posts", "--limit", "1"), "data", "posts", "0", "id") {
		t.Errorf("newest post = %q", newest.out)
	}
	if none := g.call(t, "list_posts", "--field", "data.nothing"); none.status != apicli.StatusFailed || none.out != "" {
		t.Errorf("a missing member: %+v", none)
	}
	keyFile := filepath.Join(t.TempDir(), "key")
	must.NoError(t, os.WriteFile(keyFile, []byte(g.Keys.ReadOnly+"\n"), 0o600))
	if level := at[string](t,
		g.callWith(t, "", []string{"PRESSROOM_KEY=prk_wrong"}, "get_identity", "--key-file", keyFile), "data", "key",
		"level"); level != "read_only" {
		t.Errorf("level of the key from the file = %s", level)
	}
}

// Each kind of failure has its own exit status and a message.
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
		{nil, []string{"no_such"}, apicli.StatusUsage, []string{"no_such"}},
		{nil, []string{"create_post", "--caption", "x"}, apicli.StatusUsage, []string{"--account-ids"}},
		{nil, []string{
			"create_post", "--caption", "x", "--caption", "y", "--account-ids", "1",
		}, apicli.StatusUsage, []string{"-caption", "twice"}},
		{nil, []string{"list_posts", "--limit", "prk_wrong"}, apicli.StatusUsage, []string{"limit", "not an integer"}},
		{nil, []string{"list_posts", "--key", "prk_wrong"}, apicli.StatusUsage, []string{"unknown flag: --key"}},
		{nil, []string{"list_posts", "--wait"}, apicli.StatusUsage, []string{"not start a job"}},
		{nil, []string{"get_identity", "--all"}, apicli.StatusUsage, []string{"not paginated"}},
		{nil, []string{"get_post", "a", "b"}, apicli.StatusUsage, []string{"too many"}},
		{nil, []string{"update_post", "a", "--json", "[]"}, apicli.StatusUsage, []string{"JSON object"}},
		{nil, []string{"upload"}, apicli.StatusUsage, []string{"FILE"}},
		{nil, []string{"upload", "sm\xf8rrebr\xf8d.png"}, apicli.StatusUsage, []string{"UTF-8"}},
		{nil, []string{
			"create_post", "--caption", "sm\xf8rrebr\xf8d", "--account-ids", "1",
		}, apicli.StatusUsage, []string{"caption", "UTF-8"}},
		{nil, []string{
			"create_post", "--json", "{\"caption\":\"sm\xf8rrebr\xf8d\",\"account_ids\":[1]}",
		}, apicli.StatusUsage, []string{"--json", "UTF-8"}},
		{nil, []string{"create_post", "--json", "\ufeff{}"}, apicli.StatusUsage, []string{"byte order mark"}},
		{nil, []string{"get_identity", "--timeout", "0"}, apicli.StatusUsage, []string{"--timeout"}},
		{nil, []string{"get_identity", "--attempts", "0"}, apicli.StatusUsage, []string{"--attempts"}},
		{nil, []string{"upload", "/no/such/file"}, apicli.StatusUsage, []string{"no such file"}},
		{nil, []string{"--url", "http://press.example.com", "get_identity"}, apicli.StatusUsage, []string{"--plain-http"}},
		{[]string{"PRESSROOM_KEY="}, []string{"get_identity"}, apicli.StatusUsage, []string{"PRESSROOM_KEY"}},
		{[]string{"PRESSROOM_KEY=prk_wrong"}, []string{"get_identity"}, apicli.StatusRejected,
			[]string{"unauthorized", "401", "Check PRESSROOM_KEY"}},
		{[]string{"PRESSROOM_KEY=" + g.Keys.ReadOnly}, []string{
			"create_post", "--caption", "x", "--account-ids", "1",
		}, apicli.StatusRejected, []string{"write_not_allowed"}},
		{nil, []string{"get_post", "01a204d0-a906-77ca-b29e-bac35cd41dbd"}, apicli.StatusNotFound, []string{"not_found", "request"}},
		{nil, []string{"list_posts", "--limit", "99"}, apicli.StatusInvalid, []string{"validation_failed", "limit", "out_of_range"}},
		{nil, []string{"publish_post", rejected, "--wait"}, apicli.StatusJob, []string{"rejected_content"}},
		{nil, []string{
			"get_job", "social_post:01a204d0-a906-77ca-b29e-bac35cd41dbd", "--wait",
		}, apicli.StatusNotFound, []string{"not_found"}},
		{[]string{"PRESSROOM_URL=http://127.0.0.1:1"}, []string{
			"create_post", "--attempts", "2", "--caption", "x", "--account-ids", "1",
		}, apicli.StatusUnavailable, []string{"no response in 2 attempts: ", "nothing was done"}},
		{[]string{"PRESSROOM_URL=http://127.0.0.1:1"}, []string{
			"get_identity", "--attempts", "1",
		}, apicli.StatusUnavailable, []string{"no response in 1 attempt: ", "PRESSROOM_URL"}},
		{[]string{"PRESSROOM_URL=127.0.0.1:8080"}, []string{"get_identity"}, apicli.StatusUsage, []string{"must begin with https://"}},
	} {
		got := g.callWith(t, "", c.env, c.args...)
		if got.status != c.status {
			t.Errorf("%v exits with %d, want %d: %s", c.args, got.status, c.status, got.err)
		}
		for _, word := range c.says {
			if !strings.Contains(got.err, word) {
				t.Errorf("%v: the message lacks %q: %s", c.args, word, got.err)
			}
		}
	}
}

// stub returns a service with fixed responses by method and path.
func stub(t *testing.T, answers map[string]http.HandlerFunc) installation {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := answers[r.Method+" "+strings.TrimPrefix(r.URL.Path, "/api/v1")]
		if answer == nil {
			http.NotFound(w, r)
			return
		}
		answer(w, r)
	}))
	t.Cleanup(s.Close)
	g := installation{AppURL: s.URL}
	g.Keys.Full = "prk_none"
	return g
}

func respondWith(status int, kind, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	}
}

// If waiting for a job fails, the job's ID, the idempotency key and the last known state are printed.
func TestUnfinishedJobs(t *testing.T) {
	t.Parallel()
	running := `{"data":{"job_id":"j:1","state":"running","finished":false},"meta":{"request_id":"r"}}`
	started := respondWith(http.StatusAccepted, "application/json", strings.Replace(running, "running", "pending", 1))
	revoked := respondWith(http.StatusUnauthorized, "application/problem+json", `{"code":"unauthorized","detail":"D."}`)
	for name, c := range map[string]struct {
		job   http.HandlerFunc
		state string
	}{
		"never answered": {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, "pending"},
		"still running":  {respondWith(http.StatusOK, "application/json", running), "running"},
		"a revoked key":  {revoked, "pending"},
	} {
		g := stub(t, map[string]http.HandlerFunc{"POST /posts/p/publish": started, "GET /jobs/j:1": c.job})
		got := g.call(t, "publish_post", "p", "--wait", "--timeout", "1s", "--idempotency-key", "kept", "--field", "data.state")
		if got.status != apicli.StatusUnfinished || strings.TrimSpace(got.out) != c.state {
			t.Errorf("%s: %+v", name, got)
		}
		for _, word := range []string{"accepted", "get_job j:1 --wait", "--idempotency-key kept"} {
			if !strings.Contains(got.err, word) {
				t.Errorf("%s: the message lacks %q: %s", name, word, got.err)
			}
		}
		if again := g.call(t, "get_job", "j:1", "--wait", "--timeout",
			"1s"); name == "still running" && (again.status != apicli.StatusUnfinished || !strings.Contains(again.out,
			"running") || !strings.Contains(again.err, "get_job j:1 --wait")) {
			t.Errorf("%s, second wait: %+v", name, again)
		}
	}
}

// The result of a call is printed to standard error if the selected field does not exist or standard output fails.
func TestResultsNotLost(t *testing.T) {
	t.Parallel()
	g := quickstart(t)
	got := g.call(t, "create_post", "--caption", "kept", "--account-ids", "1", "--field", "data.idd", "--idempotency-key", "mine")
	if got.status != apicli.StatusFailed || got.out != "" || !strings.Contains(got.err, "does not contain data.idd") ||
		!strings.Contains(got.err, `"caption":"kept"`) || !strings.Contains(got.err, "--idempotency-key mine") {
		t.Errorf("%+v", got)
	}
	post := at[string](t, g.call(t, "create_post", "--caption", "kept", "--account-ids", "1", "--idempotency-key", "mine"), "data", "id")
	got = g.call(t, "publish_post", post, "--wait", "--field", "data.status")
	if got.status != apicli.StatusFailed || !strings.Contains(got.err, "succeeded") || !strings.Contains(got.err, "--idempotency-key") {
		t.Errorf("%+v", got)
	}
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("/dev/full is not available")
	}
	defer full.Close()
	cmd := exec.CommandContext(t.Context(), binary(t), "call", "create_post", "--caption", "on a full disk", "--account-ids", "1")
	var said bytes.Buffer
	cmd.Env, cmd.Stdout, cmd.Stderr = g.environment(), full, &said
	if err := cmd.Run(); err == nil || !strings.Contains(said.String(), "on a full disk") ||
		!strings.Contains(said.String(), "--idempotency-key") {
		t.Errorf("%v: %s", err, said.String())
	}
	secrets := g.call(t, "create_uploads", "--json", `{"files":[]}`, "--field", "nothing")
	if secrets.status != apicli.StatusFailed || strings.Contains(secrets.err, "upload_page_url") ||
		!strings.Contains(secrets.err, "--idempotency-key") {
		t.Errorf("one-time secrets: %+v", secrets)
	}
}

// The upload command can print a single member. An empty file fails without affecting the others.
func TestUploadCommand(t *testing.T) {
	t.Parallel()
	g := quickstart(t)
	dot, empty := filepath.Join(t.TempDir(), "dot.png"), filepath.Join(t.TempDir(), "empty.png")
	for path, content := range map[string][]byte{dot: picture(t, 9, 3), empty: nil} {
		must.NoError(t, os.WriteFile(path, content, 0o600))
	}
	id := g.call(t, "upload", dot, "--field", "files.0.media_id")
	if _, err := strconv.ParseInt(strings.TrimSpace(id.out), 10, 64); err != nil || id.status != 0 {
		t.Errorf("one member: %+v", id)
	}
	both := g.call(t, "upload", empty, dot, "--field", "files.1.media_id")
	if both.status != apicli.StatusFailed || both.out != id.out || !strings.Contains(both.err, "empty.png: the file is empty") {
		t.Errorf("an empty file together with another file: %+v", both)
	}
}

// A failed command prints the idempotency key only if the write may have taken effect.
func TestCommandPrintsKeys(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		status int
		told   bool
	}{
		"a page in place of the API": {respondWith(http.StatusOK, "text/html", "<h1>Sign in</h1>"), apicli.StatusUnavailable, true},
		"a redirect":                 {respondWith(http.StatusFound, "text/html", ""), apicli.StatusFailed, false},
		"an error of the social network": {
			respondWith(http.StatusBadGateway, "application/problem+json", `{"code":"provider_unavailable","detail":"D."}`),
			apicli.StatusUnavailable, false,
		},
	} {
		g := stub(t, map[string]http.HandlerFunc{"POST /posts/p/publish": c.answer})
		got := g.call(t, "publish_post", "p", "--idempotency-key", "kept")
		if got.status != c.status || strings.Contains(got.err, "kept") != c.told {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// An interrupted command has its own exit status and prints the idempotency key for a repeat.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	reached, held := make(chan struct{}, 1), make(chan struct{})
	silent := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		reached <- struct{}{}
		<-held
	}))
	defer silent.Close()
	defer close(held)
	cmd := exec.CommandContext(t.Context(), binary(t), "call", "create_post", "--caption", "x", "--account-ids", "1",
		"--idempotency-key", "kept")
	cmd.Env = installation{AppURL: silent.URL}.environment("PRESSROOM_KEY=prk_none")
	var said bytes.Buffer
	cmd.Stderr = &said
	must.NoError(t, cmd.Start())
	<-reached
	must.NoError(t, cmd.Process.Signal(os.Interrupt))
	_ = cmd.Wait() // the exit status is checked below
	if status := cmd.ProcessState.ExitCode(); status != apicli.StatusInterrupted || !strings.Contains(said.String(),
		"--idempotency-key kept") {
		t.Errorf("exit status %d: %s", status, said.String())
	}
}
