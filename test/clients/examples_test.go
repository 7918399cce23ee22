package clients

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"
)

const examplesDir = "../../examples"

// run runs a program of an example and gives all that it said.
func (g greeting) run(t *testing.T, dir string, env []string, name string, args ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = dir
	cmd.Env = g.environment(append([]string{"PATH=" + filepath.Dir(binary) + ":" + os.Getenv("PATH")}, env...)...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (g greeting) must(t *testing.T, dir string, env []string, name string, args ...string) string {
	t.Helper()
	out, err := g.run(t, dir, env, name, args...)
	if err != nil {
		t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
	return out
}

// The page is written each time, and paid for once a day.
func TestNightlyReport(t *testing.T) {
	t.Parallel()
	g := quickstart(t)
	program := filepath.Join(t.TempDir(), "nightly-report")
	g.must(t, filepath.Join(examplesDir, "nightly-report"), nil, "go", "build", "-o", program, ".")
	dir := t.TempDir()
	before := balance(t, g.client(t))
	file := strings.TrimSpace(g.must(t, dir, nil, program, "-profile", "night.owl"))
	raw, err := os.ReadFile(filepath.Join(dir, file))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"# night.owl on instagram", "Measured ", "Score: ", "- ", g.AppURL} {
		if !strings.Contains(string(raw), want) {
			t.Errorf("the page does not tell %q:\n%s", want, raw)
		}
	}
	once := before - balance(t, g.client(t))
	g.must(t, dir, nil, program, "-profile", "night.owl")
	if again := before - balance(t, g.client(t)); once == 0 || again != once {
		t.Errorf("the first run cost %d credits, both %d", once, again)
	}
	if out, err := g.run(t, dir, nil, program, "-profile", "missing.person"); err == nil || !strings.Contains(out, "profile_not_found") {
		t.Errorf("a profile that there is not: %v\n%s", err, out)
	}
}

// What failed and was refunded is asked for anew by the next run of the day; a run that cannot write its page asks for
// nothing.
func TestNightlyReportRecovers(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var asked []string
	meta := `"meta":{"request_id":"r","app_url":"https://press.example.com","answered_at":{"team":"2026-03-29T00:30:00+01:00","utc":"2026-03-28T23:30:00Z"}}`
	g := stub(t, map[string]http.HandlerFunc{
		"GET /me": says(http.StatusOK, "application/json", `{"data":{},`+meta+`}`),
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
			says(http.StatusAccepted, "application/json", `{"data":{"job_id":"`+job+`"},"billing":{"credits_charged":5},`+meta+`}`)(w, r)
		},
		"GET /jobs/profile_report:1": says(http.StatusOK, "application/json",
			`{"data":{"job_id":"profile_report:1","state":"failed","finished":true,"error":{"code":"source_unavailable","message":"M."}},`+meta+`}`),
		"GET /jobs/profile_report:2": says(http.StatusOK, "application/json",
			`{"data":{"job_id":"profile_report:2","state":"succeeded","finished":true,"result":{"report":{"id":"i"}}},`+meta+`}`),
		"GET /reports/profile/i": says(http.StatusOK, "application/json", `{"data":{"id":"i","subject":"night.owl"},`+meta+`}`),
	})
	program := filepath.Join(t.TempDir(), "nightly-report")
	g.must(t, filepath.Join(examplesDir, "nightly-report"), nil, "go", "build", "-o", program, ".")
	dir := t.TempDir()
	link := "https://www.instagram.com/night.owl/"
	if out, err := g.run(t, dir, nil, program, "-profile", link, "-out", "missing"); err == nil ||
		!strings.Contains(out, "creating the page") {
		t.Errorf("a folder that there is not: %v\n%s", err, out)
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
		t.Errorf("the folder holds %v: %v", left, err)
	}
	mu.Lock()
	defer mu.Unlock()
	if len(asked) != 5 { // once by the first run, and by each later one with the day's key and with that of the failed job
		t.Errorf("the report was asked for with %q", asked)
	}
}

// workflow is as much of a workflow as is run here: the commands of its steps.
type workflow struct {
	Jobs map[string]struct {
		Steps []struct {
			Run string
			Env map[string]string
		}
	}
}

// poster is a repository of posts, with the record of what went out beside it.
type poster struct {
	greeting

	dir, record string
}

func newPoster(t *testing.T) poster {
	t.Helper()
	p := poster{quickstart(t), t.TempDir(), filepath.Join(t.TempDir(), "published")}
	if err := os.CopyFS(p.dir, os.DirFS(filepath.Join(examplesDir, "publish-from-repository"))); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(p.dir, "publish.sh"), 0o700); err != nil {
		t.Fatal(err)
	}
	p.must(t, p.dir, nil, "git", "init", "-q")
	p.commit(t)
	return p
}

// write changes a file of posts/ and commits it.
func (p poster) write(t *testing.T, name, caption string) {
	t.Helper()
	text := fmt.Sprintf(`{"caption":%q,"account_ids":[1]}`, caption)
	if err := os.WriteFile(filepath.Join(p.dir, "posts", name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	p.commit(t)
}

func (p poster) commit(t *testing.T) {
	t.Helper()
	p.must(t, p.dir, nil, "git", "add", "-A")
	p.must(t, p.dir, nil, "git", "-c", "user.name=Ada", "-c", "user.email=ada@harbour.example", "commit", "-q", "-m", "Posts")
}

func (p poster) script(t *testing.T, args ...string) (string, error) {
	t.Helper()
	return p.run(t, p.dir, []string{"PRESSROOM_RECORD=" + p.record}, "./publish.sh", args...)
}

// holds fails where the networks do not hold a text that often.
func (p poster) holds(t *testing.T, text string, times int) {
	t.Helper()
	if n := p.held(t, text); n != times {
		t.Errorf("the networks hold %q %d times in place of %d", text, n, times)
	}
}

// rewrite changes the record by hand.
func (p poster) rewrite(t *testing.T, change func(string) string) {
	t.Helper()
	raw, err := os.ReadFile(p.record)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(p.record, []byte(change(string(raw))), 0o600); err != nil {
		t.Fatal(err)
	}
}

// The workflow's own commands publish what the record does not know, once, however often they run.
func TestPublishFromRepository(t *testing.T) {
	t.Parallel()
	p := newPoster(t)
	if out, err := p.steps(t); err == nil || !strings.Contains(out, "there is no record") {
		t.Fatalf("without a record: %v\n%s", err, out)
	}
	p.holds(t, "Autumn hours", 0)
	if err := os.WriteFile(p.record, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := p.steps(t); err != nil || !strings.Contains(out, "succeeded") {
		t.Fatalf("the first push: %v\n%s", err, out)
	}
	p.write(t, "README.md", "not a post")
	p.write(t, "one two.json", "with a space in its name")
	p.write(t, "worse.json", "not this [sandbox:reject@bluesky]")
	for range 2 {
		if out, err := p.steps(t); err == nil || !strings.Contains(out, "worse.json::") || strings.Contains(out, "two.json::") {
			t.Errorf("one of two is rejected: %v\n%s", err, out)
		}
	}
	p.write(t, "worse.json", "rather this")
	if out, err := p.steps(t); err != nil {
		t.Errorf("what was corrected: %v\n%s", err, out)
	}
	if out, err := p.steps(t); err != nil || !strings.Contains(out, "nothing new") {
		t.Errorf("nothing new: %v\n%s", err, out)
	}
	for _, text := range []string{"Autumn hours", "with a space", "rather this"} {
		p.holds(t, text, 1)
	}
}

// A post goes out once also with another API key, under another name, and after the service has forgotten the keys of
// its calls.
func TestPublishedOnceForGood(t *testing.T) {
	t.Parallel()
	p := newPoster(t)
	p.write(t, "old.json", "out before the record began")
	if out, err := p.script(t, "--begin"); err != nil || !strings.Contains(out, "2 posts") {
		t.Fatalf("%v\n%s", err, out)
	}
	p.write(t, "new.json", "a new one")
	if out, err := p.script(t); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	full := p.Keys.Full
	p.Keys.Full = p.Keys.Drafts // another API key of the team
	p.must(t, p.dir, nil, "git", "mv", "posts/new.json", "posts/renamed.json")
	p.commit(t)
	if out, err := p.script(t); err != nil || !strings.Contains(out, "nothing new") {
		t.Errorf("with another API key: %v\n%s", err, out)
	}
	p.Keys.Full = full
	p.write(t, "old.json", "out before the record began, corrected")
	if out, err := p.script(t); err == nil || !strings.Contains(out, "posts/old.json::changed after") {
		t.Errorf("changed after it went out: %v\n%s", err, out)
	}
	p.holds(t, "a new one", 1)
	p.holds(t, "out before", 0)
}

// Where a run was cut off, the next goes on with what it noted, and asks a person where nobody can tell what was done.
func TestPublishingGoesOn(t *testing.T) {
	t.Parallel()
	p := newPoster(t)
	if out, err := p.script(t, "--begin"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	p.write(t, "cut.json", "cut off twice")
	if out, err := p.script(t); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	upTo := func(step string) func(string) string {
		return func(record string) string {
			before, _, _ := strings.Cut(record, "\t"+step+"\t")
			return before[:strings.LastIndex(before, "\n")+1]
		}
	}
	p.rewrite(t, upTo("published"))
	if out, err := p.script(t); err != nil {
		t.Errorf("cut off before it noted that it was published: %v\n%s", err, out)
	}
	p.rewrite(t, upTo("drafted"))
	if out, err := p.script(t); err != nil {
		t.Errorf("cut off before it noted the draft: %v\n%s", err, out)
	}
	for name, age := range map[string]time.Duration{"days ago": 48 * time.Hour, "in the future": -time.Hour} {
		p.rewrite(t, upTo("drafted"))
		p.rewrite(t, func(record string) string {
			lines := strings.Split(strings.TrimSpace(record), "\n")
			fields := strings.Split(lines[len(lines)-1], "\t")
			fields[3] = strconv.FormatInt(time.Now().Add(-age).Unix(), 10)
			lines[len(lines)-1] = strings.Join(fields, "\t")
			return strings.Join(lines, "\n") + "\n"
		})
		if out, err := p.script(t); err == nil || !strings.Contains(out, "too long ago") {
			t.Errorf("asked %s: %v\n%s", name, err, out)
		}
	}
	p.holds(t, "cut off twice", 1)
	p.write(t, "cut.json", "another text") // of which the draft is known
	if out, err := p.script(t); err != nil {
		t.Errorf("corrected before it was known whether there is a draft: %v\n%s", err, out)
	}
	p.holds(t, "another text", 1)
}

// A line that the disk took a part of counts for nothing, whichever part it is: the post goes out once all the same.
func TestPublishingAfterTornLines(t *testing.T) {
	t.Parallel()
	p := newPoster(t)
	if out, err := p.script(t, "--begin"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	p.write(t, "torn.json", "torn off")
	if out, err := p.script(t); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	whole, err := os.ReadFile(p.record)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(strings.TrimSuffix(string(whole), "\n"), "\n")
	// the hash is cut in its midst, every other field at its edges and at each third byte
	for n, step := range []string{"published", "drafted", "asked"} {
		last := lines[len(lines)-1-n]
		before := strings.Join(lines[:len(lines)-1-n], "")
		from, _, _ := strings.Cut(last, "\t"+step+"\t")
		for cut := len(from) / 2; cut < len(last); cut = max(cut+1, len(from)-1) {
			if edge := last[cut-1] == '\t' || last[cut] == '\t' || cut == len(last)-1; !edge && cut%3 != 0 {
				continue
			}
			p.rewrite(t, func(string) string { return before + last[:cut] })
			if out, err := p.script(t); err != nil || strings.Contains(out, "::error") {
				t.Fatalf("after %q: %v\n%s", last[:cut], err, out)
			}
		}
	}
	p.holds(t, "torn off", 1)
	p.write(t, "under.json", "gone over too") // it comes after the one that is in trouble
	asked := lines[len(lines)-3]
	p.rewrite(t, func(string) string {
		return strings.Join(lines[:len(lines)-3], "") + strings.Join(strings.SplitAfterN(asked, "\t", 4)[:3], "") + "1x\tposts/torn.json\n"
	})
	if out, err := p.script(t); err == nil || !strings.Contains(out, "torn.json::the line") || strings.Contains(out, "nothing new") {
		t.Errorf("asked at no second: %v\n%s", err, out)
	}
	p.rewrite(t, func(record string) string { return record + strings.Replace(asked, "\tasked\t", "\tposted\t", 1) })
	if out, err := p.script(t); err == nil || !strings.Contains(out, "torn.json::the record tells a step") {
		t.Errorf("a step that there is not: %v\n%s", err, out)
	}
	p.holds(t, "torn off", 1)
	p.holds(t, "gone over too", 1)
}

// A record begins wholly or not at all, and a file is known by its name as it is written.
func TestPublishingOddFiles(t *testing.T) {
	t.Parallel()
	p := newPoster(t)
	lost := filepath.Join(p.dir, "posts", "lost.json")
	if err := os.Symlink("nowhere", lost); err != nil { // listed and committed, and not to be read
		t.Fatal(err)
	}
	p.commit(t)
	if out, err := p.script(t, "--begin"); err == nil || !strings.Contains(out, "lost.json cannot be read") {
		t.Errorf("a file that cannot be read: %v\n%s", err, out)
	}
	if left, err := os.ReadDir(filepath.Dir(p.record)); err != nil || len(left) != 0 {
		t.Errorf("what is left of the record: %v, %v", left, err)
	}
	if err := os.Remove(lost); err != nil {
		t.Fatal(err)
	}
	name := `back\nslash.json`
	p.write(t, name, "with a backslash")
	if out, err := p.script(t, "--begin"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	p.write(t, name, "changed after it went out")
	if out, err := p.script(t); err == nil || !strings.Contains(out, name+"::changed after") {
		t.Errorf("changed after it went out: %v\n%s", err, out)
	}
	p.holds(t, "changed after", 0)
}

// What cannot be published is told wherever the script is run, and nothing of it is lost.
func TestPublishingTellsWhy(t *testing.T) {
	t.Parallel()
	p := newPoster(t)
	if out, err := p.script(t, "--begin"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	p.write(t, "bad.json", "") // refused, so that it may be asked for again
	for range 2 {
		if out, err := p.run(t, filepath.Join(p.dir, "posts"), []string{"PRESSROOM_RECORD=" + p.record},
			"../publish.sh"); err == nil || !strings.Contains(out, "caption") {
			t.Errorf("in the folder of the posts: %v\n%s", err, out)
		}
	}
	for name, c := range map[string]struct {
		dir, says string
		args      []string
	}{
		"an argument that is none": {p.dir, "usage", []string{"HEAD~1", "HEAD"}},
		"a second beginning":       {p.dir, "already", []string{"--begin"}},
		"outside of a repository":  {t.TempDir(), "no git repository", nil},
	} {
		if out, err := p.run(t, c.dir, []string{"PRESSROOM_RECORD=" + p.record}, filepath.Join(p.dir, "publish.sh"),
			c.args...); err == nil || !strings.Contains(out, c.says) {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
	if err := os.WriteFile(filepath.Join(p.dir, "posts", "bad.json"), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := p.script(t); err == nil || !strings.Contains(out, "not committed") {
		t.Errorf("a change that is not committed: %v\n%s", err, out)
	}
}

// steps runs those of the workflow.
func (p poster) steps(t *testing.T) (string, error) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(p.dir, "publish.yml"))
	if err != nil {
		t.Fatal(err)
	}
	var w workflow
	if err := yaml.Unmarshal(raw, &w); err != nil {
		t.Fatal(err)
	}
	said, steps := "", 0
	for _, step := range w.Jobs["publish"].Steps {
		if step.Run == "" {
			continue
		}
		steps++
		env := []string{}
		for name, value := range step.Env {
			if value == "${{ vars.PRESSROOM_RECORD }}" { // the rest the test's own environment has
				env = append(env, name+"="+p.record)
			}
		}
		out, err := p.run(t, p.dir, env, "bash", "-e", "-c", step.Run)
		said += out
		if err != nil {
			return said, err
		}
	}
	if steps == 0 {
		t.Fatal("the workflow has no commands")
	}
	return said, nil
}

// A folder is imported once, also where a run was cut off before it took its notes.
func TestImportPictures(t *testing.T) {
	t.Parallel()
	needsTypeScript(t)
	g := quickstart(t)
	program := importer(t, g)
	folder := t.TempDir()
	write := func(name string, content []byte) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("harbour.png", picture(t, 21, 12))
	write("harbour.txt", []byte("The harbour at six.\n"))
	write("roastery.png", picture(t, 22, 12))
	write("broken.png", []byte("no picture"))
	write("empty.png", nil)
	write("notes.md", []byte("not for the library"))
	out, err := g.run(t, folder, nil, "node", program, folder, "1", "2")
	if err == nil || !strings.Contains(out, "2 new, 2 failed") || !strings.Contains(out,
		"broken.png: validation_failed type_refused") || !strings.Contains(out, "empty.png: the file is empty") {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, name := range []string{"broken.png", "empty.png"} {
		if err := os.Remove(filepath.Join(folder, name)); err != nil {
			t.Fatal(err)
		}
	}
	if out := g.must(t, folder, nil, "node", program, folder, "1", "2"); !strings.Contains(out, "0 new") {
		t.Errorf("a second run: %s", out)
	}
	if err := os.Remove(filepath.Join(folder, "imported.json")); err != nil {
		t.Fatal(err)
	}
	if out := g.must(t, folder, nil, "node", program, folder, "1", "2"); !strings.Contains(out, "2 new, 0 failed") {
		t.Errorf("a run without notes: %s", out)
	}
	posts := g.call(t, "list_posts", "--limit", "50").out
	if n := strings.Count(posts, "The harbour at six."); n != 1 {
		t.Errorf("there are %d drafts", n)
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
		t.Errorf("a folder that there is not: %v\n%s", err, out)
	}
}

// importer compiles the example.
func importer(t *testing.T, g greeting) string {
	t.Helper()
	dir := consumer(t)
	g.must(t, dir, nil, "npm", "run", "build")
	return filepath.Join(dir, "dist/import.js")
}

// consumer is a copy of the example as docs/clients.md has it installed: with packages of its own and the client built.
func consumer(t *testing.T) string {
	t.Helper()
	source, err := filepath.Abs(filepath.Join(examplesDir, "import-pictures"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, name := range []string{"import.ts", "package.json", "tsconfig.json"} {
		raw, err := os.ReadFile(filepath.Join(source, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), raw, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(source, "node_modules"), filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	return dir
}
