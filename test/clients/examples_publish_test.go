package clients

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"pressroom.example/pressroom/internal/testkit/must"
)

// workflow has the steps of a GitHub workflow.
type workflow struct {
	Jobs map[string]struct {
		Steps []struct {
			Run string
			Env map[string]string
		}
	}
}

// poster is a Git repository of posts and the record of published posts.
type poster struct {
	installation

	dir, record string
}

func newPoster(t *testing.T) poster {
	t.Helper()
	p := poster{quickstart(t), t.TempDir(), filepath.Join(t.TempDir(), "published")}
	must.NoError(t, os.CopyFS(p.dir, os.DirFS(filepath.Join(examplesDir, "publish-from-repository"))))
	must.NoError(t, os.Chmod(filepath.Join(p.dir, "publish.sh"), 0o700))
	p.must(t, p.dir, nil, "git", "init", "-q")
	p.commit(t)
	return p
}

// write writes a file in posts/ and commits it.
func (p poster) write(t *testing.T, name, caption string) {
	t.Helper()
	text := fmt.Sprintf(`{"caption":%q,"account_ids":[1]}`, caption)
	must.NoError(t, os.WriteFile(filepath.Join(p.dir, "posts", name), []byte(text), 0o600))
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

// wantPosts checks how many posts on the networks contain the text.
func (p poster) wantPosts(t *testing.T, text string, times int) {
	t.Helper()
	if n := p.countPosts(t, text); n != times {
		t.Errorf("%q was published %d times, want %d", text, n, times)
	}
}

// rewrite edits the record of published posts.
func (p poster) rewrite(t *testing.T, change func(string) string) {
	t.Helper()
	raw := must.Get(os.ReadFile(p.record))(t)
	must.NoError(t, os.WriteFile(p.record, []byte(change(string(raw))), 0o600))
}

// The workflow publishes posts that are not in the record. Each post is published once, even if the workflow runs
// again.
func TestPublishFromRepository(t *testing.T) {
	t.Parallel()
	p := newPoster(t)
	if out, err := p.steps(t); err == nil || !strings.Contains(out, "does not exist") {
		t.Fatalf("without a record: %v\n%s", err, out)
	}
	p.wantPosts(t, "Autumn hours", 0)
	must.NoError(t, os.WriteFile(p.record, nil, 0o600))
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
		t.Errorf("after the correction: %v\n%s", err, out)
	}
	if out, err := p.steps(t); err != nil || !strings.Contains(out, "no new posts") {
		t.Errorf("without new posts: %v\n%s", err, out)
	}
	for _, text := range []string{"Autumn hours", "with a space", "rather this"} {
		p.wantPosts(t, text, 1)
	}
}

// A post is published once, even with another API key, with another file name, and after its idempotency key has
// expired.
func TestPublishOnceAfterRestart(t *testing.T) {
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
	if out, err := p.script(t); err != nil || !strings.Contains(out, "no new posts") {
		t.Errorf("with another API key: %v\n%s", err, out)
	}
	p.Keys.Full = full
	p.write(t, "old.json", "out before the record began, corrected")
	if out, err := p.script(t); err == nil || !strings.Contains(out, "posts/old.json::changed after") {
		t.Errorf("changed after it was published: %v\n%s", err, out)
	}
	p.wantPosts(t, "a new one", 1)
	p.wantPosts(t, "out before", 0)
}

// After an interruption, the next run continues from the record. If a result is unknown, a person must decide.
func TestPublishingContinues(t *testing.T) {
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
		t.Errorf("interrupted before the publication was recorded: %v\n%s", err, out)
	}
	p.rewrite(t, upTo("drafted"))
	if out, err := p.script(t); err != nil {
		t.Errorf("interrupted before the draft was recorded: %v\n%s", err, out)
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
			t.Errorf("requested %s: %v\n%s", name, err, out)
		}
	}
	p.wantPosts(t, "cut off twice", 1)
	p.write(t, "cut.json", "another text") // a file whose draft is recorded
	if out, err := p.script(t); err != nil {
		t.Errorf("corrected while it was unknown whether a draft exists: %v\n%s", err, out)
	}
	p.wantPosts(t, "another text", 1)
}

// If the record's last line is incomplete, posts are still published once.
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
	whole := must.Get(os.ReadFile(p.record))(t)
	lines := strings.SplitAfter(strings.TrimSuffix(string(whole), "\n"), "\n")
	// The hash is cut in the middle, and other fields at their ends and at every third byte.
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
	p.wantPosts(t, "torn off", 1)
	p.write(t, "under.json", "gone over too") // comes after the failed file
	asked := lines[len(lines)-3]
	p.rewrite(t, func(string) string {
		return strings.Join(lines[:len(lines)-3], "") + strings.Join(strings.SplitAfterN(asked, "\t", 4)[:3], "") + "1x\tposts/torn.json\n"
	})
	if out, err := p.script(t); err == nil || !strings.Contains(out, "torn.json::the line") || strings.Contains(out, "no new posts") {
		t.Errorf("a request without a time: %v\n%s", err, out)
	}
	p.rewrite(t, func(record string) string { return record + strings.Replace(asked, "\tasked\t", "\tposted\t", 1) })
	if out, err := p.script(t); err == nil || !strings.Contains(out, "torn.json::the record has an unknown step") {
		t.Errorf("an unknown step: %v\n%s", err, out)
	}
	p.wantPosts(t, "torn off", 1)
	p.wantPosts(t, "gone over too", 1)
}

// A record is created completely or not at all. Files are identified by their exact names.
func TestPublishingOddFiles(t *testing.T) {
	t.Parallel()
	p := newPoster(t)
	lost := filepath.Join(p.dir, "posts", "lost.json")
	if err := os.Symlink("nowhere", lost); err != nil { // listed and committed, but unreadable
		t.Fatal(err)
	}
	p.commit(t)
	if out, err := p.script(t, "--begin"); err == nil || !strings.Contains(out, "lost.json cannot be read") {
		t.Errorf("a file that cannot be read: %v\n%s", err, out)
	}
	if left, err := os.ReadDir(filepath.Dir(p.record)); err != nil || len(left) != 0 {
		t.Errorf("remaining record: %v, %v", left, err)
	}
	must.NoError(t, os.Remove(lost))
	name := `back\nslash.json`
	p.write(t, name, "with a backslash")
	if out, err := p.script(t, "--begin"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	p.write(t, name, "changed after it went out")
	if out, err := p.script(t); err == nil || !strings.Contains(out, name+"::changed after") {
		t.Errorf("changed after it was published: %v\n%s", err, out)
	}
	p.wantPosts(t, "changed after", 0)
}

// Posts that cannot be published are reported, regardless of the working directory, and can be published later.
func TestPublishErrors(t *testing.T) {
	t.Parallel()
	p := newPoster(t)
	if out, err := p.script(t, "--begin"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	p.write(t, "bad.json", "") // rejected, so it can be requested again
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
		"an unknown argument":     {p.dir, "usage", []string{"HEAD~1", "HEAD"}},
		"a second beginning":      {p.dir, "already", []string{"--begin"}},
		"outside of a repository": {t.TempDir(), "not in a Git repository", nil},
	} {
		if out, err := p.run(t, c.dir, []string{"PRESSROOM_RECORD=" + p.record}, filepath.Join(p.dir, "publish.sh"),
			c.args...); err == nil || !strings.Contains(out, c.says) {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
	must.NoError(t, os.WriteFile(filepath.Join(p.dir, "posts", "bad.json"), []byte("{}"), 0o600))
	if out, err := p.script(t); err == nil || !strings.Contains(out, "not committed") {
		t.Errorf("a change that is not committed: %v\n%s", err, out)
	}
}

// steps runs the steps of the workflow.
func (p poster) steps(t *testing.T) (string, error) {
	t.Helper()
	raw := must.Get(os.ReadFile(filepath.Join(p.dir, "publish.yml")))(t)
	var w workflow
	must.NoError(t, yaml.Unmarshal(raw, &w))
	said, steps := "", 0
	for _, step := range w.Jobs["publish"].Steps {
		if step.Run == "" {
			continue
		}
		steps++
		env := []string{}
		for name, value := range step.Env {
			if value == "${{ vars.PRESSROOM_RECORD }}" { // the rest is in the test's environment
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
