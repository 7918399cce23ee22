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

// openDatabase opens the site's database.
func (s site) openDatabase(tb testing.TB) *db.DB {
	tb.Helper()
	d := must.Get(db.Open(tb.Context(), s.database(), db.Options{}))(tb)
	tb.Cleanup(func() { _ = d.Close() })
	return d
}

func queryTexts(tb testing.TB, d *db.DB, query string) []string {
	tb.Helper()
	out := must.Get(db.All(tb.Context(), d, func(rows *sql.Rows, text *string) error { return rows.Scan(text) }, query))(tb)
	return out
}

func execSQL(tb testing.TB, d *db.DB, statement string, args ...any) {
	tb.Helper()
	must.NoError(tb, d.InTx(tb.Context(), "test", func(ctx context.Context, tx *db.Tx) error {
		_, err := tx.Exec(ctx, statement, args...)
		return err
	}))
}

// storedFiles returns the sorted paths of the site's stored files.
func (s site) storedFiles(tb testing.TB) []string {
	tb.Helper()
	out := []string{}
	must.NoError(tb, fs.WalkDir(os.DirFS(s.files()), ".", func(path string, e fs.DirEntry, err error) error {
		if path == "store" { // The marker of the blob store.
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

// checkFiles checks that each stored file either belongs to an item or will be swept. No item may lack its file.
func (s site) checkFiles(tb testing.TB, d *db.DB) {
	tb.Helper()
	items := queryTexts(tb, d, `SELECT blob FROM media UNION SELECT thumbnail FROM media WHERE thumbnail <> ''`)
	pending := queryTexts(tb, d, `SELECT blob FROM media_pending`)
	stored := s.storedFiles(tb)
	for _, path := range stored {
		if !slices.Contains(items, path) && !slices.Contains(pending, strings.TrimSuffix(path, ".thumb")) {
			tb.Errorf("%s is stored, but belongs to no item", path)
		}
	}
	for _, path := range items {
		if !slices.Contains(stored, path) {
			tb.Errorf("%s belongs to an item, but is not stored", path)
		}
	}
}

// checkSweep makes unused uploads a day older and runs the program until it has deleted them. It then compares the
// remaining files with the items.
func (s site) checkSweep(tb testing.TB, d *db.DB) {
	tb.Helper()
	execSQL(tb, d, `UPDATE media_pending SET created_at = created_at - ?`,
		(media.OrphanGracePeriod + time.Hour).Microseconds())
	p := s.start(tb, "", "")
	p.until(tb, func() bool { return len(queryTexts(tb, d, `SELECT blob FROM media_pending`)) == 0 })
	p.Kill()
	items := queryTexts(tb, d, `SELECT blob FROM media UNION SELECT thumbnail FROM media WHERE thumbnail <> '' ORDER BY 1`)
	if diff := cmp.Diff(items, s.storedFiles(tb)); diff != "" {
		tb.Errorf("after the sweep (-items +files)\n%s", diff)
	}
	if got := queryTexts(tb, d,
		`SELECT team_id FROM storage s WHERE used_bytes <> (SELECT COALESCE(SUM(size_bytes), 0) FROM media m
		WHERE m.team_id = s.team_id)`); len(got) > 0 {
		tb.Errorf("the storage of teams %v is not the sum of their items", got)
	}
}

// stuck is a body that blocks after some bytes until its context ends.
type stuck struct {
	io.Reader

	ctx       context.Context
	remaining int
	onBlock   func()
}

func (s *stuck) Read(p []byte) (int, error) {
	if s.remaining <= 0 {
		s.onBlock()
		<-s.ctx.Done()
		return 0, s.ctx.Err()
	}
	n, err := s.Reader.Read(p[:min(len(p), s.remaining)])
	s.remaining -= n
	return n, err
}

// If the program is killed during uploads, it keeps exactly the files that it accepted, and unused links still work.
func TestKilledDuringUpload(t *testing.T) {
	t.Parallel()
	s := newSite(t, program.Build(t, program.Pressroom, program.CrashPoints))
	d := s.openDatabase(t)
	p := s.start(t, "", "")
	files := make([]file, 12)
	for n := range files {
		files[n] = newVideo(uint64(n), 6<<20)
	}
	b := p.mustOpen(t, files...)
	links := b.Data.Upload.Uploads
	var halfway, uploads sync.WaitGroup
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for n := range 8 {
		halfway.Add(1)
		uploads.Go(func() {
			body := &stuck{Reader: files[n].reader(), ctx: ctx, remaining: 5 << 20, onBlock: sync.OnceFunc(halfway.Done)}
			if status, err := p.put(ctx, links[n], body, files[n].size); err == nil {
				t.Errorf("an interrupted upload got the status %d", status)
			}
		})
	}
	halfway.Wait()
	if status, err := p.put(t.Context(), links[8], files[8].reader(), files[8].size); status != http.StatusCreated {
		t.Fatalf("%d, %v", status, err)
	}
	for n := range 2 { // Two more uploads are almost complete.
		uploads.Go(func() { _, _ = p.put(ctx, links[9+n], files[9+n].reader(), files[9+n].size) })
	}
	p.Kill()
	cancel()
	uploads.Wait()
	s.checkFiles(t, d)
	p = s.start(t, "", "")
	s.checkFiles(t, d)
	for n, l := range links {
		status, err := p.put(t.Context(), l, files[n].reader(), files[n].size)
		accepted := status == http.StatusCreated || n >= 8 && status == http.StatusConflict
		if !accepted || n == 8 && status != http.StatusConflict {
			t.Errorf("uploading file %d again: %d, %v", n, status, err)
		}
	}
	p.Kill()
	s.checkFiles(t, d)
	s.checkSweep(t, d)
	if n := len(s.storedFiles(t)); n != len(files) {
		t.Errorf("%d stored files, want %d", n, len(files))
	}
}

// uploader is a client that uploads an image, an invalid file, a file that at first exceeds the storage, and a
// video. It repeats each request until it gets a response.
type uploader struct {
	site

	db    *db.DB
	files []file
	batch batch
	done  int
}

// steps are the client's uploads and their possible statuses, including statuses of repeats after a kill.
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

// run continues until the process ends. It reports whether all steps are complete.
func (k *uploader) run(t *testing.T, p *process) bool {
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
		execSQL(t, k.db, `UPDATE teams SET plan = ?`, plan)
		status, err := p.put(t.Context(), k.batch.Data.Upload.Uploads[step.file], k.files[step.file].reader(), k.files[step.file].size)
		if err != nil {
			return false
		}
		if !slices.Contains(step.want, status) {
			t.Fatalf("step %d: status %d", k.done, status)
		}
	}
	return true
}

// runSteps runs the steps while the process is killed at a failpoint, and checks the stored files.
func (s site) runSteps(t *testing.T, at, trace string) {
	t.Helper()
	dir := t.TempDir()
	must.NoError(t, os.CopyFS(dir, os.DirFS(s.dir)))
	s.dir = dir
	must.NoError(t, testkit.RemoveLocation(s.database()))
	var picture bytes.Buffer
	must.NoError(t, png.Encode(&picture, image.NewGray(image.Rect(0, 0, 600, 400))))
	k := &uploader{
		site: s, db: s.openDatabase(t), files: []file{newFile(picture.Bytes(), 0), newFile([]byte("no picture"), 0), newVideo(1, 1<<20),
			newVideo(2, 1<<20)},
	}
	p, kills := s.start(t, at, trace), 0
	for ; !k.run(t, p); kills++ {
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
		t.Errorf("job %+v", job)
	}
	p.Kill()
	s.checkFiles(t, k.db)
	s.checkSweep(t, k.db)
	if n := len(s.storedFiles(t)); n != 4 {
		t.Errorf("%d stored files, want 3 and a thumbnail", n)
	}
}

// If the program is killed at any failpoint during uploads, each file is stored once after a restart. Other files
// are deleted after a day.
func TestUploadKilledAtEveryStep(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes half a minute")
	}
	s := newSite(t, program.Build(t, program.Pressroom, program.CrashPoints))
	trace := filepath.Join(t.TempDir(), "trace")
	s.runSteps(t, "", trace)
	for _, point := range points(t, trace) {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			s.runSteps(t, point, "")
		})
	}
}

// points returns the failpoints of the media library in a trace.
func points(t *testing.T, trace string) []string {
	t.Helper()
	raw := must.Get(os.ReadFile(trace))(t)
	seen, out := map[string]int{}, []string{}
	for name := range strings.Lines(string(raw)) {
		name = strings.TrimSpace(name)
		if _, point, _ := strings.Cut(name, " "); !strings.HasPrefix(point, "media") && point != "replay.once" {
			continue
		}
		seen[name]++
		out = append(out, fmt.Sprintf("%s#%d", name, seen[name]))
	}
	for _, needed := range []string{
		"after media.expect#1", "before media put#1", "after media put#1", "before media.add#1", "after media.add#1",
		"after media.reject#1", "after media.doom#1", "before media.forget#1", "after replay.once#1",
	} {
		if !slices.Contains(out, needed) {
			t.Errorf("failpoint %q is missing in %v", needed, out)
		}
	}
	return out
}
