package upload

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"image"
	"image/png"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pressroom.example/pressroom/internal/domain/media"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/must"
	"pressroom.example/pressroom/internal/testkit/program"
)

// look opens a site's database for the test.
func (s site) look(tb testing.TB) *db.DB {
	tb.Helper()
	d := must.Get(db.Open(tb.Context(), s.database(), db.Options{}))(tb)
	tb.Cleanup(func() { _ = d.Close() })
	return d
}

func texts(tb testing.TB, d *db.DB, query string) []string {
	tb.Helper()
	out := must.Get(db.All(tb.Context(), d, func(rows *sql.Rows, text *string) error { return rows.Scan(text) }, query))(tb)
	return out
}

func write(tb testing.TB, d *db.DB, statement string, args ...any) {
	tb.Helper()
	must.NoError(tb, d.InTx(tb.Context(), "test", func(ctx context.Context, tx *db.Tx) error {
		_, err := tx.Exec(ctx, statement, args...)
		return err
	}))
}

// lying returns the paths of the site's stored files, sorted.
func (s site) lying(tb testing.TB) []string {
	tb.Helper()
	out := []string{}
	must.NoError(tb, fs.WalkDir(os.DirFS(s.files()), ".", func(path string, e fs.DirEntry, err error) error {
		if path == "store" { // what the files belong to
			return fs.SkipDir
		}
		if err == nil && !e.IsDir() {
			out = append(out, path)
		}
		return err
	}))
	slices.Sort(out)
	return out
}

// checkFiles fails if a stored file belongs to no item and is not due for the sweep, or if an item's file is missing.
func (s site) checkFiles(tb testing.TB, d *db.DB) {
	tb.Helper()
	items := texts(tb, d, `SELECT blob FROM media UNION SELECT thumbnail FROM media WHERE thumbnail <> ''`)
	pending := texts(tb, d, `SELECT blob FROM media_pending`)
	lying := s.lying(tb)
	for _, path := range lying {
		if !slices.Contains(items, path) && !slices.Contains(pending, strings.TrimSuffix(path, ".thumb")) {
			tb.Errorf("%s lies there and nobody names it", path)
		}
	}
	for _, path := range items {
		if !slices.Contains(lying, path) {
			tb.Errorf("%s is an item's and does not lie there", path)
		}
	}
}

// swept makes unused uploads a day older, runs the program until they are deleted, and compares the rest with the
// items.
func (s site) swept(tb testing.TB, d *db.DB) {
	tb.Helper()
	write(tb, d, `UPDATE media_pending SET created_at = created_at - ?`, (media.Grace + time.Hour).Microseconds())
	p := s.start(tb, "", "")
	p.until(tb, func() bool { return len(texts(tb, d, `SELECT blob FROM media_pending`)) == 0 })
	p.Kill()
	items := texts(tb, d, `SELECT blob FROM media UNION SELECT thumbnail FROM media WHERE thumbnail <> '' ORDER BY 1`)
	if diff := cmp.Diff(items, s.lying(tb)); diff != "" {
		tb.Errorf("after the sweep (-items +files)\n%s", diff)
	}
	if got := texts(tb, d,
		`SELECT team_id FROM storage s WHERE used_bytes <> (SELECT COALESCE(SUM(size_bytes), 0) FROM media m
		WHERE m.team_id = s.team_id)`); len(got) > 0 {
		tb.Errorf("the storage of teams %v is not the sum of their items", got)
	}
}

// stuck is a body that stops until its context ends, once so much of it was read.
type stuck struct {
	io.Reader

	ctx  context.Context
	left int
	in   func()
}

func (s *stuck) Read(p []byte) (int, error) {
	if s.left <= 0 {
		s.in()
		<-s.ctx.Done()
		return 0, s.ctx.Err()
	}
	n, err := s.Reader.Read(p[:min(len(p), s.left)])
	s.left -= n
	return n, err
}

// Killed during uploads, the program keeps exactly the files that it accepted, and unused links still work.
func TestKilledDuringUpload(t *testing.T) {
	t.Parallel()
	s := newSite(t, program.Build(t, program.Pressroom, program.CrashPoints))
	d := s.look(t)
	p := s.start(t, "", "")
	files := make([]file, 12)
	for n := range files {
		files[n] = film(uint64(n), 6<<20)
	}
	b := p.mustOpen(t, files...)
	links := b.Data.Upload.Uploads
	var halfway, over sync.WaitGroup
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for n := range 8 {
		halfway.Add(1)
		over.Go(func() {
			body := &stuck{Reader: files[n].reader(), ctx: ctx, left: 5 << 20, in: sync.OnceFunc(halfway.Done)}
			if status, err := p.put(ctx, links[n], body, files[n].size); err == nil {
				t.Errorf("an upload that was cut off was answered by %d", status)
			}
		})
	}
	halfway.Wait()
	if status, err := p.put(t.Context(), links[8], files[8].reader(), files[8].size); status != http.StatusCreated {
		t.Fatalf("%d, %v", status, err)
	}
	for n := range 2 { // and two that are almost complete
		over.Go(func() { _, _ = p.put(ctx, links[9+n], files[9+n].reader(), files[9+n].size) })
	}
	p.Kill()
	cancel()
	over.Wait()
	s.checkFiles(t, d)
	p = s.start(t, "", "")
	s.checkFiles(t, d)
	for n, l := range links {
		status, err := p.put(t.Context(), l, files[n].reader(), files[n].size)
		taken := status == http.StatusCreated || n >= 8 && status == http.StatusConflict
		if !taken || n == 8 && status != http.StatusConflict {
			t.Errorf("file %d once more: %d, %v", n, status, err)
		}
	}
	p.Kill()
	s.checkFiles(t, d)
	s.swept(t, d)
	if n := len(s.lying(t)); n != len(files) {
		t.Errorf("%d files lie there instead of %d", n, len(files))
	}
}

// story is a client that uploads four files: an image, an invalid one, one without storage left at first, and a video.
// It repeats each request until it is answered.
type story struct {
	site

	db    *db.DB
	files []file
	batch batch
	done  int
}

// steps are the client's actions with the possible answers, including those to repeats after a kill.
var steps = []struct {
	file int
	full bool
	want []int
}{
	{0, false, []int{http.StatusCreated, http.StatusConflict}},
	{1, false, []int{http.StatusUnprocessableEntity, http.StatusConflict}},
	{2, true, []int{http.StatusForbidden}},
	{2, false, []int{http.StatusCreated, http.StatusConflict}},
	{3, false, []int{http.StatusCreated, http.StatusConflict}},
}

// tell continues until the process dies; it reports true when all steps are done.
func (k *story) tell(t *testing.T, p *process) bool {
	t.Helper()
	if k.batch.Data.JobID == "" {
		b, err := p.open(t.Context(), "the batch", k.files...)
		if err != nil {
			return false
		}
		k.batch = b
	}
	for ; k.done < len(steps); k.done++ {
		step := steps[k.done]
		plan := "team"
		if step.full {
			plan = fullPlan
		}
		write(t, k.db, `UPDATE teams SET plan = ?`, plan)
		status, err := p.put(t.Context(), k.batch.Data.Upload.Uploads[step.file], k.files[step.file].reader(), k.files[step.file].size)
		if err != nil {
			return false
		}
		if !slices.Contains(step.want, status) {
			t.Fatalf("step %d is answered by %d", k.done, status)
		}
	}
	return true
}

// run runs the steps while the process is killed at a point, and checks the stored files.
func (s site) run(t *testing.T, at, trace string) {
	t.Helper()
	dir := t.TempDir()
	must.NoError(t, os.CopyFS(dir, os.DirFS(s.dir)))
	s.dir = dir
	must.NoError(t, testkit.RemovePlace(s.database()))
	var picture bytes.Buffer
	must.NoError(t, png.Encode(&picture, image.NewGray(image.Rect(0, 0, 600, 400))))
	k := &story{
		site: s, db: s.look(t), files: []file{fileOf(picture.Bytes(), 0), fileOf([]byte("no picture"), 0), film(1, 1<<20), film(2, 1<<20)},
	}
	p, kills := s.start(t, at, trace), 0
	for ; !k.tell(t, p); kills++ {
		<-p.Ended
		s.checkFiles(t, k.db)
		p = s.start(t, "", "")
	}
	if (kills == 1) != (at != "") {
		t.Errorf("the program was killed %d times", kills)
	}
	var job struct {
		Data struct {
			State string `json:"state"`
			Error string `json:"error_code"`
		} `json:"data"`
	}
	if _, err := p.call(t.Context(), http.MethodGet, "/jobs/"+url.PathEscape(k.batch.Data.JobID), nil, nil,
		&job); err == nil && job.Data.State != "partially_succeeded" {
		t.Errorf("the job is %+v", job)
	}
	p.Kill()
	s.checkFiles(t, k.db)
	s.swept(t, k.db)
	if n := len(s.lying(t)); n != 4 {
		t.Errorf("%d files lie there instead of 4: three and a thumbnail", n)
	}
}

// However often the program is killed during uploads, after a restart each file is stored once, and after a day no
// other bytes are.
func TestUploadKilledAtEveryStep(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes half a minute")
	}
	s := newSite(t, program.Build(t, program.Pressroom, program.CrashPoints))
	trace := filepath.Join(t.TempDir(), "trace")
	s.run(t, "", trace)
	for _, point := range points(t, trace) {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			s.run(t, point, "")
		})
	}
}

// points lists the steps of the library in a run.
func points(t *testing.T, trace string) []string {
	t.Helper()
	raw := must.Get(os.ReadFile(trace))(t)
	seen, out := map[string]int{}, []string{}
	for name := range strings.Lines(string(raw)) {
		name = strings.TrimSpace(name)
		if _, what, _ := strings.Cut(name, " "); !strings.HasPrefix(what, "media") && what != "replay.once" {
			continue
		}
		seen[name]++
		out = append(out, fmt.Sprintf("%s#%d", name, seen[name]))
	}
	for _, needed := range []string{
		"after media.expect#1", "before media put#1", "after media put#1", "before media.add#1", "after media.add#1",
		"after media.refuse#1", "after media.doom#1", "before media.forget#1", "after replay.once#1",
	} {
		if !slices.Contains(out, needed) {
			t.Errorf("the step %q is not among those seen: %v", needed, out)
		}
	}
	return out
}
