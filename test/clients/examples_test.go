package clients

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"pressroom.example/pressroom/internal/testkit/must"
)

const examplesDir = "../../examples"

// run runs a program of an example and returns its output.
func (g installation) run(t *testing.T, dir string, env []string, name string, args ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = dir
	cmd.Env = g.environment(append([]string{"PATH=" + filepath.Dir(binary(t)) + ":" + os.Getenv("PATH")}, env...)...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (g installation) must(t *testing.T, dir string, env []string, name string, args ...string) string {
	t.Helper()
	out, err := g.run(t, dir, env, name, args...)
	if err != nil {
		t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
	return out
}

// Each run writes the page. The report is charged once a day.
func TestNightlyReport(t *testing.T) {
	t.Parallel()
	g := quickstart(t)
	program := filepath.Join(t.TempDir(), "nightly-report")
	g.must(t, filepath.Join(examplesDir, "nightly-report"), nil, "go", "build", "-o", program, ".")
	dir := t.TempDir()
	before := balance(t, g.client(t))
	file := strings.TrimSpace(g.must(t, dir, nil, program, "-profile", "night.owl"))
	raw := must.Get(os.ReadFile(filepath.Join(dir, file)))(t)
	for _, want := range []string{"# night.owl on instagram", "Measured ", "Score: ", "- ", g.AppURL} {
		if !strings.Contains(string(raw), want) {
			t.Errorf("the page lacks %q:\n%s", want, raw)
		}
	}
	once := before - balance(t, g.client(t))
	g.must(t, dir, nil, program, "-profile", "night.owl")
	if again := before - balance(t, g.client(t)); once == 0 || again != once {
		t.Errorf("the first run cost %d credits, both %d", once, again)
	}
	if out, err := g.run(t, dir, nil, program, "-profile", "missing.person"); err == nil || !strings.Contains(out, "profile_not_found") {
		t.Errorf("a missing profile: %v\n%s", err, out)
	}
}

// The next run on the same day requests a failed, refunded report again. A run that cannot write its page requests
// no report.
func TestNightlyReportRecovers(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var asked []string
	meta := `"meta":{"request_id":"r","app_url":"https://press.example.com",` +
		`"answered_at":{"team":"2026-03-29T00:30:00+01:00","utc":"2026-03-28T23:30:00Z"}}`
	g := stub(t, map[string]http.HandlerFunc{
		"GET /me": respondWith(http.StatusOK, "application/json", `{"data":{},`+meta+`}`),
		"POST /reports": func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			defer mu.Unlock()
			key := r.Header.Get("Idempotency-Key")
			w.Header().Set("Idempotent-Replayed", strconv.FormatBool(slices.Contains(asked, key)))
			asked = append(asked, key)
			job := "profile_report:1"
			if strings.HasSuffix(key, job) {
				job = "profile_report:2"
			}
			respondWith(http.StatusAccepted, "application/json",
				`{"data":{"job_id":"`+job+`"},"billing":{"credits_charged":5},`+meta+`}`)(w, r)
		},
		"GET /jobs/profile_report:1": respondWith(http.StatusOK, "application/json",
			`{"data":{"job_id":"profile_report:1","state":"failed","finished":true,`+
				`"error":{"code":"source_unavailable","message":"M."}},`+meta+`}`),
		"GET /jobs/profile_report:2": respondWith(http.StatusOK, "application/json",
			`{"data":{"job_id":"profile_report:2","state":"succeeded","finished":true,"result":{"report":{"id":"i"}}},`+meta+`}`),
		"GET /reports/profile/i": respondWith(http.StatusOK, "application/json", `{"data":{"id":"i","subject":"night.owl"},`+meta+`}`),
	})
	program := filepath.Join(t.TempDir(), "nightly-report")
	g.must(t, filepath.Join(examplesDir, "nightly-report"), nil, "go", "build", "-o", program, ".")
	dir := t.TempDir()
	link := "https://www.instagram.com/night.owl/"
	if out, err := g.run(t, dir, nil, program, "-profile", link, "-out", "missing"); err == nil ||
		!strings.Contains(out, "creating the page") {
		t.Errorf("a missing folder: %v\n%s", err, out)
	}
	if out, err := g.run(t, dir, nil, program, "-profile", link); err == nil || !strings.Contains(out, "source_unavailable") {
		t.Errorf("the first run: %v\n%s", err, out)
	}
	for range 2 {
		if out := g.must(t, dir, nil, program, "-profile", link); strings.TrimSpace(out) != "night.owl-2026-03-29.md" {
			t.Errorf("a later run: %s", out)
		}
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 1 {
		t.Errorf("files in the folder: %v: %v", left, err)
	}
	mu.Lock()
	defer mu.Unlock()
	if len(asked) != 5 { // once by the first run, and by later ones with the day's key and the failed job's
		t.Errorf("keys of the requests: %q", asked)
	}
}

// A folder is imported once, even if a run is interrupted before saving its notes.
func TestImportPictures(t *testing.T) {
	t.Parallel()
	needsTypeScript(t)
	g := quickstart(t)
	program := importer(t, g)
	folder := t.TempDir()
	write := func(name string, content []byte) {
		t.Helper()
		must.NoError(t, os.WriteFile(filepath.Join(folder, name), content, 0o600))
	}
	write("harbour.png", picture(t, 21, 12))
	write("harbour.txt", []byte("The harbour at six.\n"))
	write("roastery.png", picture(t, 22, 12))
	write("broken.png", []byte("no picture"))
	write("empty.png", nil)
	write("notes.md", []byte("not for the library"))
	out, err := g.run(t, folder, nil, "node", program, folder, "1", "2")
	if err == nil || !strings.Contains(out, "2 imported, 2 failed") || !strings.Contains(out,
		"broken.png: validation_failed type_refused") || !strings.Contains(out, "empty.png: the file is empty") {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, name := range []string{"broken.png", "empty.png"} {
		must.NoError(t, os.Remove(filepath.Join(folder, name)))
	}
	if out := g.must(t, folder, nil, "node", program, folder, "1", "2"); !strings.Contains(out, "0 imported") {
		t.Errorf("a second run: %s", out)
	}
	must.NoError(t, os.Remove(filepath.Join(folder, "imported.json")))
	if out := g.must(t, folder, nil, "node", program, folder, "1", "2"); !strings.Contains(out, "2 imported, 0 failed") {
		t.Errorf("a run without notes: %s", out)
	}
	posts := g.call(t, "list_posts", "--limit", "50").out
	if n := strings.Count(posts, "The harbour at six."); n != 1 {
		t.Errorf("%d drafts", n)
	}
	for _, account := range []string{"one", "", "0", "-1", "1.5"} {
		if out, err := g.run(t, folder, nil, "node", program, folder, account); err == nil || !strings.Contains(out, "usage") {
			t.Errorf("the account %q: %v\n%s", account, err, out)
		}
	}
	if out, err := g.run(t, folder, []string{"PRESSROOM_KEY="}, "node", program, folder, "1"); err == nil ||
		!strings.Contains(out, "usage") {
		t.Errorf("without a key: %v\n%s", err, out)
	}
	if out, err := g.run(t, folder, nil, "node", program, filepath.Join(folder, "missing"), "1"); err == nil ||
		!strings.Contains(out, "no such file") || strings.Contains(out, "at async") {
		t.Errorf("a missing folder: %v\n%s", err, out)
	}
}

// importer compiles the example.
func importer(t *testing.T, g installation) string {
	t.Helper()
	dir := consumer(t)
	g.must(t, dir, nil, "npm", "run", "build")
	return filepath.Join(dir, "dist/import.js")
}

// consumer returns a copy of the example, installed with separate packages and the built client as in
// docs/clients.md.
func consumer(t *testing.T) string {
	t.Helper()
	source := must.Get(filepath.Abs(filepath.Join(examplesDir, "import-pictures")))(t)
	dir := t.TempDir()
	for _, name := range []string{"import.ts", "package.json", "tsconfig.json"} {
		raw := must.Get(os.ReadFile(filepath.Join(source, name)))(t)
		must.NoError(t, os.WriteFile(filepath.Join(dir, name), raw, 0o600))
	}
	must.NoError(t, os.Symlink(filepath.Join(source, "node_modules"), filepath.Join(dir, "node_modules")))
	return dir
}
