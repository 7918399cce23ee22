package clients

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"pressroom.example/pressroom/internal/testkit/must"
	"pressroom.example/pressroom/internal/testkit/require"
)

const actionDir = "../../integrations/github-action"

// action runs the GitHub action as a runner does.
type action struct {
	installation

	dir    string // the workspace
	github string // URL of a server that says when the run began
	began  time.Time
	run    string // ID of the run
}

func newAction(t *testing.T) *action {
	t.Helper()
	require.NodePackage(t, typescriptDir, "typescript") // also requires Node.js
	a := &action{installation: quickstart(t), dir: t.TempDir(), began: time.Now(), run: "77"}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/repos/harbour/posts/actions/runs/77" || r.Header.Get("Authorization") != "Bearer token" {
			w.WriteHeader(http.StatusForbidden)
		}
		fmt.Fprintf(w, `{"created_at":%q}`, a.began.UTC().Format(time.RFC3339))
	}))
	t.Cleanup(server.Close)
	a.github = server.URL
	return a
}

var output = regexp.MustCompile(`(?ms)^(\w+)<<(\S+)\n(.*?)\n(\S+)$`)

// step runs the action with inputs in an attempt of a step. It returns its outputs and its log.
func (a *action) step(t *testing.T, name string, attempt int, inputs map[string]string) (map[string]string, string, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "output")
	cmd := exec.CommandContext(t.Context(), "node", must.Get(filepath.Abs(filepath.Join(actionDir, "main.mjs")))(t))
	cmd.Dir = a.dir
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "GITHUB_OUTPUT=" + file, "GITHUB_RUN_ID=" + a.run, fmt.Sprintf("GITHUB_RUN_ATTEMPT=%d", attempt),
		"GITHUB_ACTION=" + name, "GITHUB_JOB=publish", "GITHUB_REPOSITORY=harbour/posts", "GITHUB_API_URL=" + a.github,
		"INPUT_API_URL=" + a.AppURL, "INPUT_API_KEY=" + a.Keys.Full, "INPUT_ACCOUNT_IDS=1", "INPUT_GITHUB_TOKEN=token",
	}
	for input, value := range inputs {
		cmd.Env = append(cmd.Env, "INPUT_"+strings.ToUpper(input)+"="+value)
	}
	log, err := cmd.CombinedOutput()
	outputs := map[string]string{}
	raw, _ := os.ReadFile(file) // absent if the action failed before
	for _, found := range output.FindAllStringSubmatch(string(raw), -1) {
		outputs[found[1]] = found[3]
	}
	return outputs, string(log), err
}

func (a *action) must(t *testing.T, name string, attempt int, inputs map[string]string) map[string]string {
	t.Helper()
	outputs, log, err := a.step(t, name, attempt, inputs)
	if err != nil {
		t.Fatalf("%s: %v\n%s", name, err, log)
	}
	return outputs
}

func TestGitHubAction(t *testing.T) {
	t.Parallel()
	a := newAction(t)
	a.checkModes(t)
	a.checkLostResponses(t)
	a.checkErrors(t)
	a.checkOldRuns(t)
}

// checkModes checks that the action drafts, schedules and publishes posts, and that repeating a step in a re-run has
// no further effect.
func (a *action) checkModes(t *testing.T) {
	t.Helper()
	must.NoError(t, os.WriteFile(filepath.Join(a.dir, "a picture.png"), picture(t, 31, 12), 0o600))
	must.NoError(t, os.WriteFile(filepath.Join(a.dir, "another.png"), picture(t, 32, 12), 0o600))
	for name, c := range map[string]struct {
		inputs map[string]string
		status string
		posts  int
	}{
		"draft":   {map[string]string{"caption": "for review", "media": "a picture.png\n\nanother.png"}, "draft", 0},
		"plan":    {map[string]string{"caption": "planned", "scheduled_at": "2031-01-02T10:00"}, "draft", 0},
		"time":    {map[string]string{"caption": "timed", "mode": "schedule", "scheduled_at": "2031-01-02T10:00"}, "scheduled", 0},
		"publish": {map[string]string{"caption": "at the quay\nnow: 100%", "mode": "publish", "media": "another.png"}, "published", 1},
	} {
		first := a.must(t, name, 1, c.inputs)
		again := a.must(t, name, 2, c.inputs)
		if first["status"] != c.status || again["status"] != c.status || first["post_id"] != again["post_id"] {
			t.Errorf("%s: %v, in a re-run %v", name, first, again)
		}
		if !strings.HasPrefix(first["url"], a.AppURL) || (first["permalinks"] != "") != (c.posts > 0) {
			t.Errorf("%s: %v", name, first)
		}
		caption, _, _ := strings.Cut(c.inputs["caption"], "\n")
		if n := a.countPosts(t, caption); n != c.posts {
			t.Errorf("%s: published %d times, want %d", name, n, c.posts)
		}
	}
	one := a.must(t, "matrix", 1, map[string]string{"caption": "a matrix", "job_index": "0"})
	other := a.must(t, "matrix", 1, map[string]string{"caption": "a matrix", "job_index": "1"})
	if one["post_id"] == other["post_id"] {
		t.Error("two jobs of a matrix have one post")
	}
}

// checkLostResponses checks that the action repeats calls whose responses are lost.
func (a *action) checkLostResponses(t *testing.T) {
	t.Helper()
	target := must.Get(url.Parse(a.AppURL))(t)
	proxy := httptest.NewServer(&httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }, Transport: &lossy{lost: map[string]bool{}},
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	})
	t.Cleanup(proxy.Close)
	got := a.must(t, "lost", 1, map[string]string{"api_url": proxy.URL + "/", "caption": "in a storm", "mode": "publish"})
	if n := a.countPosts(t, "in a storm"); n != 1 || got["status"] != "published" {
		t.Errorf("published %d times: %v", n, got)
	}
}

// checkErrors checks that error messages say what to do.
func (a *action) checkErrors(t *testing.T) {
	t.Helper()
	for name, c := range map[string]struct {
		inputs map[string]string
		says   []string
	}{
		"no secret":    {map[string]string{"api_key": ""}, []string{"api_key is missing", "this workflow can read it"}},
		"wrong secret": {map[string]string{"api_key": "prk_wrong"}, []string{"unauthorized", "Check the secret"}},
		"level":        {map[string]string{"api_key": a.Keys.Drafts, "mode": "publish"}, []string{"publish_not_allowed", "level full"}},
		"unencrypted":  {map[string]string{"api_url": "http://pressroom.example"}, []string{"address with https"}},
		"account":      {map[string]string{"account_ids": "1, bluesky"}, []string{`"bluesky"`, "numbers"}},
		"team":         {map[string]string{"account_ids": "1,999"}, []string{"not_found", "belong to the team"}},
		"mode":         {map[string]string{"mode": "now"}, []string{"draft, schedule or publish"}},
		"no time":      {map[string]string{"mode": "schedule"}, []string{"needs the input scheduled_at"}},
		"time":         {map[string]string{"mode": "publish", "scheduled_at": "2031-01-02"}, []string{"Remove scheduled_at"}},
		"no file":      {map[string]string{"media": "missing.png"}, []string{`"missing.png"`, "actions/checkout"}},
		"empty":        {map[string]string{"caption": ""}, []string{"both empty"}},
		"too long": {
			map[string]string{"caption": strings.Repeat("long ", 100), "mode": "publish"},
			[]string{"preflight_blocked", "The draft is kept"},
		},
		"network": {
			map[string]string{"caption": "no [sandbox:reject@bluesky]", "mode": "publish"},
			[]string{"::error::bluesky @", "A re-run does not send it again"},
		},
	} {
		inputs := map[string]string{"caption": "x"}
		maps.Copy(inputs, c.inputs)
		_, log, err := a.step(t, name, 1, inputs)
		for _, want := range c.says {
			if err == nil || !strings.Contains(log, want) {
				t.Errorf("%s: %v, want %q in\n%s", name, err, want, log)
			}
		}
	}
}

// checkOldRuns checks that an old run is not repeated, because pressroom forgets idempotency keys.
func (a *action) checkOldRuns(t *testing.T) {
	t.Helper()
	old := map[string]string{"caption": "too late", "mode": "publish"}
	a.began = time.Now().Add(-21 * time.Hour)
	if _, log, err := a.step(t, "old", 2, old); err == nil || !strings.Contains(log, "start a new run instead") {
		t.Errorf("re-run after a day: %v\n%s", err, log)
	}
	old["github_token"] = "another"
	if _, log, err := a.step(t, "old", 2, old); err == nil || !strings.Contains(log, "permissions: actions: read") {
		t.Errorf("re-run without permission: %v\n%s", err, log)
	}
	if n := a.countPosts(t, "too late"); n != 0 {
		t.Errorf("%d posts after a day", n)
	}
}

// flaky responds like pressroom, but loses the first upload and rejects the first post for a moment.
type flaky struct {
	t   *testing.T
	url string

	mu   sync.Mutex
	keys []string // of the calls
	lost bool
	busy time.Time // when the first post was rejected
}

func (f *flaky) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.keys = append(f.keys, r.Header.Get("Idempotency-Key"))
	switch {
	case r.URL.Path == "/api/v1/uploads":
		fmt.Fprintf(w, `{"data":{"upload":{"uploads":[{"url":"%s/put/%d","headers":{}}]}}}`, f.url, len(f.keys))
	case r.Method == http.MethodPut && !f.lost:
		f.lost = true
		panic(http.ErrAbortHandler)
	case r.Method == http.MethodPut:
		fmt.Fprint(w, `{"data":{"media_id":5}}`)
	case r.URL.Path == "/api/v1/posts" && f.busy.IsZero():
		f.busy = time.Now()
		w.Header().Set("Retry-After", "Wed, 21 Oct 2026 07:28:00 GMT")
		w.WriteHeader(http.StatusServiceUnavailable)
	case r.Method == http.MethodPost && time.Since(f.busy) < 900*time.Millisecond:
		f.t.Errorf("repeated after %s", time.Since(f.busy))
	default:
		fmt.Fprint(w, `{"data":{"id":"p1","status":"draft","accounts":[]},"meta":{"app_url":"https://press.example/p1"}}`)
	}
}

// The action repeats a lost upload with a new link and pauses before repeating a call. Two runs with one idempotency
// key have separate links, because links expire.
func TestGitHubActionRetries(t *testing.T) {
	t.Parallel()
	require.NodePackage(t, typescriptDir, "typescript") // also requires Node.js
	a := &action{dir: t.TempDir()}
	must.NoError(t, os.WriteFile(filepath.Join(a.dir, "a.png"), []byte("a"), 0o600))
	f := &flaky{t: t}
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	f.url = server.URL
	for _, a.run = range []string{"77", "78"} {
		f.keys = nil
		a.must(t, "step", 1, map[string]string{
			"api_url": server.URL, "api_key": "key", "caption": "x", "media": "a.png", "idempotency_key": "v1",
		})
		f.mu.Lock()
		keys := strings.Join(f.keys, " ")
		f.mu.Unlock()
		upload := "v1-upload-" + a.run + "-1"
		for _, want := range []string{upload, "v1-draft"} {
			if !strings.Contains(keys, want) {
				t.Errorf("run %s: keys %s, want %s", a.run, keys, want)
			}
		}
		if n := strings.Count(keys, upload); a.run == "77" && n != 2 {
			t.Errorf("%d batches of links after an upload was lost: %s", n, keys)
		}
	}
}

// The action's metadata follows GitHub's schema, and the script reads each input and sets each output.
func TestGitHubActionMetadata(t *testing.T) {
	t.Parallel()
	require.NodePackage(t, "../tools", "@actions/workflow-parser")
	file := must.Get(filepath.Abs(filepath.Join(actionDir, "action.yml")))(t)
	cmd := exec.CommandContext(t.Context(), "node", "validate-action.mjs", file)
	cmd.Dir = "../tools"
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	var metadata struct{ Inputs, Outputs map[string]any }
	must.NoError(t, yaml.Unmarshal(must.Get(os.ReadFile(file))(t), &metadata))
	script := string(must.Get(os.ReadFile(filepath.Join(actionDir, "main.mjs")))(t))
	read := map[string]bool{}
	for _, found := range regexp.MustCompile(`(?:input|required)\("(\w+)"\)`).FindAllStringSubmatch(script, -1) {
		read[found[1]] = true
		if metadata.Inputs[found[1]] == nil {
			t.Errorf("%s is not an input", found[1])
		}
	}
	readme := string(must.Get(os.ReadFile(filepath.Join(actionDir, "README.md")))(t))
	for name := range metadata.Inputs {
		if !read[name] || !strings.Contains(readme, "`"+name+"`") {
			t.Errorf("the input %s is not read or not documented", name)
		}
	}
	set := map[string]bool{}
	for _, call := range regexp.MustCompile(`setOutputs\(\{(.*?)\}\)`).FindAllStringSubmatch(script, -1) {
		for _, member := range regexp.MustCompile(`(\w+):`).FindAllStringSubmatch(call[1], -1) {
			set[member[1]] = true
		}
	}
	if len(set) != len(metadata.Outputs) {
		t.Errorf("the script sets %v", set)
	}
	for name := range metadata.Outputs {
		if !set[name] || !strings.Contains(readme, "`"+name+"`") {
			t.Errorf("the output %s is not set or not documented", name)
		}
	}
}
