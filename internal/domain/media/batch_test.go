package media

import (
	"bytes"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"pressroom/internal/apierr"
	"pressroom/internal/domain/job"
)

// The bounds under which batches are tried.
const (
	roomInModel    = 2_500 // bytes
	batchesInModel = 3
	linksInModel   = 7
)

// modelFiles are what is sent: each is of another size, and the last is nothing that the library takes.
func modelFiles() [][]byte {
	return [][]byte{film(1, 0), film(2, 10), film(3, 300), film(4, 600), pngOf(noise(5, 12, 12)), []byte("no picture")}
}

const junk = 5

// model is what a team's batches and library are to be.
type model struct {
	world

	files   [][]byte
	batches []*modelBatch
	library map[int]int64 // the items, by file
}

type modelBatch struct {
	job, page   string
	expires     time.Time
	closed      bool
	why         string // the code of what it ended for
	touched     bool   // something arrived
	files       []modelFile
	links, past []UploadLink // by file; those of before the last repeat
}

type modelFile struct {
	which  int
	state  State
	media  int64
	reason string
	byPage bool
}

func (b *modelBatch) waiting() int {
	n := 0
	for _, f := range b.files {
		if f.state == Waiting {
			n++
		}
	}
	return n
}

// end makes what waits something else, and closes.
func (b *modelBatch) end(of State) {
	for n := range b.files {
		if b.files[n].state == Waiting {
			b.files[n].state = of
		}
	}
	b.closed = true
}

// settle closes a batch that was told its files beforehand once it has them.
func (b *modelBatch) settle() {
	b.touched = true
	described := slices.ContainsFunc(b.files, func(f modelFile) bool { return !f.byPage })
	b.closed = b.closed || described && b.waiting() == 0
}

func (m *model) used() int64 {
	sum := int64(0)
	for which := range m.library {
		sum += int64(len(m.files[which]))
	}
	return sum
}

// promised is how many links are open, and their bytes.
func (m *model) promised() (int, int64) {
	links, sum := 0, int64(0)
	for _, b := range m.batches {
		for _, f := range b.files {
			if f.state == Waiting {
				links, sum = links+1, sum+int64(len(m.files[f.which]))
			}
		}
	}
	return links, sum
}

// Whatever is done to batches in whatever order, they are what the model says: files, jobs, counts and bytes.
func TestBatchesAreTheModels(t *testing.T) {
	each(t, func(t *testing.T, w world) {
		w.Terms.Limits.OpenUploadBatches, w.Terms.Limits.OpenUploadLinks = batchesInModel, linksInModel
		w.allow(roomInModel)
		files := modelFiles()
		rapid.Check(t, func(t *rapid.T) {
			m := &model{world: w.newTeam(t), files: files, library: map[int]int64{}}
			t.Repeat(map[string]func(*rapid.T){
				"open": m.open, "repeat": m.repeat, "put": m.put, "put more": m.put, "page": m.page, "close": m.close,
				"wait": func(t *rapid.T) {
					m.clock.Advance(time.Duration(rapid.IntRange(1, 35).Draw(t, "minutes")) * time.Minute)
				},
				"work": m.work, "": m.agrees,
			})
			m.sound(t)
		})
	})
}

func (m *model) any(t *rapid.T) *modelBatch {
	if len(m.batches) == 0 {
		t.Skip("no batch yet")
	}
	recent := m.batches[max(0, len(m.batches)-4):]
	return recent[rapid.IntRange(0, len(recent)-1).Draw(t, "batch")]
}

func (m *model) open(t *rapid.T) {
	in, b := UploadsInput{}, &modelBatch{}
	for _, which := range rapid.SliceOfN(rapid.IntRange(0, junk), 0, 4).Draw(t, "files") {
		f := modelFile{which: which, state: Waiting}
		if id, there := m.library[which]; there {
			f.state, f.media = Stored, id
		}
		in.Files, b.files = append(in.Files, described(m.files[which])), append(b.files, f)
	}
	var old *modelBatch
	if len(m.batches) > 0 && rapid.Bool().Draw(t, "replaces") {
		old = m.any(t)
		in.ReplacesBatch = old.job
	}
	want, gives := m.mayOpen(b, old)
	answer, err := m.createUploads(t.Context(), m.call("create_uploads"), in)
	if want != "" {
		wantCode(t, err, want)
		return
	}
	must(t, err)
	if old != nil && !old.closed && !old.touched {
		old.why = "upload_replaced"
		old.end(Replaced)
	}
	if gives != nil {
		gives.why = "upload_replaced"
		gives.end(Replaced)
	}
	b.job, b.page, b.links = answer.Data.JobID, path.Base(answer.Data.PageURL), answer.Data.Upload.Uploads
	b.past, b.expires = slices.Clone(b.links), m.clock.Now().Add(time.Hour)
	b.closed = len(b.files) > 0 && b.waiting() == 0
	m.batches = append(m.batches, b)
}

// mayOpen is why a batch is refused that may replace another, empty where it is not; and the batch without files that
// gives way to it, nil if there is room for both.
func (m *model) mayOpen(b, old *modelBatch) (apierr.Code, *modelBatch) {
	links, bytes := m.promised()
	batches := 0
	var gives *modelBatch
	for _, b := range m.batches {
		replaced := b == old && !b.touched
		if !b.closed && !replaced {
			batches++
			if gives == nil && len(b.files) == 0 {
				gives = b
			}
		}
		for _, f := range b.files {
			if f.state == Waiting && replaced {
				links, bytes = links-1, bytes-int64(len(m.files[f.which]))
			}
		}
	}
	links += b.waiting()
	wanted := int64(0)
	for _, f := range b.files {
		if f.state == Waiting {
			wanted += int64(len(m.files[f.which]))
		}
	}
	left := roomInModel - m.used() - bytes
	if batches < batchesInModel {
		gives = nil
	}
	switch {
	case len(b.files) > 0 && b.waiting() == 0:
		return "", nil
	case batches >= batchesInModel && gives == nil || links > linksInModel:
		return apierr.RateLimited, nil
	case wanted > left || left <= 0:
		return apierr.PlanLimitReached, nil
	}
	return "", gives
}

// repeat asks for the links once more: those of before stop working.
func (m *model) repeat(t *rapid.T) {
	b := m.any(t)
	answer, err := m.uploadsAgain(t.Context(), m.call("create_uploads"), UploadsInput{}, UploadBatch{Job: job.Job{JobID: b.job}})
	must(t, err)
	b.past = slices.Clone(b.links)
	for n, link := range answer.Data.Upload.Uploads {
		if (link.URL != "") != (b.files[n].state == Waiting) {
			t.Fatalf("file %d is %s and has the link %q", n, b.files[n].state, link.URL)
		}
		if n < len(b.links) && link.URL != "" {
			b.links[n] = link
		}
	}
}

// put sends a file by a link: as it should be, another one, half of it, or with a secret of before.
func (m *model) put(t *rapid.T) {
	b := m.any(t)
	if len(b.links) == 0 {
		t.Skip("a batch without links")
	}
	n := rapid.IntRange(0, len(b.links)-1).Draw(t, "file")
	f, link := &b.files[n], b.links[n]
	if link.URL == "" {
		t.Skip("a file that was there")
	}
	how := rapid.SampledFrom([]string{"right", "right", "right", "wrong", "cut", "stale"}).Draw(t, "how")
	file := m.files[f.which]
	var body io.Reader = bytes.NewReader(file)
	want := apierr.Code("")
	switch how {
	case "wrong":
		body, want = bytes.NewReader(append(bytes.Clone(file[1:]), 0)), apierr.ValidationFailed
	case "cut":
		body, want = io.MultiReader(bytes.NewReader(file[1:]), iotest.ErrReader(io.ErrUnexpectedEOF)), apierr.ValidationFailed
	case "stale":
		link = b.past[n]
	}
	switch stale := link.Headers["Authorization"] != b.links[n].Headers["Authorization"]; {
	case f.state == Replaced || f.state == Expired || f.state == Waiting && !m.clock.Now().Before(b.expires):
		want = apierr.UploadLinkClosed
	case stale:
		want = apierr.Unauthorized
	case f.state != Waiting:
		want = apierr.UploadLinkUsed
	case want == "" && f.which == junk:
		want, f.state, f.reason = apierr.ValidationFailed, Refused, "type_refused"
		defer b.settle()
	}
	arrived, err := send(t.Context(), m.Service, link, body)
	if want != "" {
		wantCode(t, err, want)
		return
	}
	must(t, err)
	m.stored(t, f.which, arrived)
	f.state, f.media = Stored, arrived.MediaID
	b.settle()
}

// stored takes note of an item.
func (m *model) stored(t *rapid.T, which int, a Arrived) {
	id, there := m.library[which]
	if there != a.Already || there && id != a.MediaID {
		t.Fatalf("file %d became %+v, and item %d before", which, a, id)
	}
	m.library[which] = a.MediaID
}

// page sends a file by the page.
func (m *model) page(t *rapid.T) {
	b, which := m.any(t), rapid.IntRange(0, junk).Draw(t, "file")
	f := modelFile{which: which, state: Stored, byPage: true}
	want := apierr.Code("")
	known := slices.IndexFunc(b.files, func(f modelFile) bool { return f.which == which && (f.state == Waiting || f.byPage) })
	waits := slices.ContainsFunc(b.files, func(f modelFile) bool { return f.which == which && f.state == Waiting })
	_, there := m.library[which]
	left := roomInModel - m.used()
	if _, bytes := m.promised(); !waits {
		left -= bytes
	}
	switch {
	case b.closed || !m.clock.Now().Before(b.expires):
		want = apierr.UploadLinkClosed
	case !there && int64(len(m.files[which])) > left:
		want = apierr.PlanLimitReached // before its first byte, so nothing is known of it
	case which == junk:
		want, f.state, f.reason = apierr.ValidationFailed, Refused, "type_refused"
	}
	file := m.files[which]
	arrived, err := m.AddToBatch(t.Context(), m.person, b.page, Incoming{Size: int64(len(file)), Body: bytes.NewReader(file)})
	if want != "" {
		wantCode(t, err, want)
	} else {
		must(t, err)
		m.stored(t, which, arrived)
		f.media = arrived.MediaID
	}
	if want == apierr.UploadLinkClosed || want == apierr.PlanLimitReached {
		return
	}
	if known >= 0 {
		f.byPage = b.files[known].byPage
		b.files[known] = f
	} else {
		b.files = append(b.files, f)
	}
	b.settle()
}

func (m *model) close(t *rapid.T) {
	b := m.any(t)
	must(t, m.CloseBatch(t.Context(), m.person, b.page))
	if !b.closed {
		b.why = "upload_closed"
	}
	b.end(Expired)
}

// work does what is due, as the worker would.
func (m *model) work(t *rapid.T) {
	for _, b := range m.batches {
		if b.closed {
			continue
		}
		r, err := job.Get(t.Context(), m.db, m.team, b.job)
		must(t, err)
		must(t, m.doImport(t.Context(), job.LeasedJob{Record: r}))
		if !m.clock.Now().Before(b.expires) {
			b.end(Expired)
		}
	}
}

// agrees holds what is stored against the model.
func (m *model) agrees(t *rapid.T) {
	for n, b := range m.batches {
		stored, err := m.readBatch(t.Context(), m.db, b.job, "")
		must(t, err)
		got := []modelFile{}
		for _, f := range stored.files {
			which := slices.IndexFunc(m.files, func(file []byte) bool { return int64(len(file)) == f.size })
			got = append(got, modelFile{which, f.state, f.media, f.reason, f.byPage})
		}
		if diff := cmp.Diff(append([]modelFile{}, b.files...), got, cmp.AllowUnexported(modelFile{})); diff != "" {
			t.Fatalf("batch %d (-model +stored)\n%s", n, diff)
		}
		r, err := job.Get(t.Context(), m.db, m.team, b.job)
		must(t, err)
		want := job.Record{
			ID: b.job, TeamID: m.team, Type: job.MediaImport, State: job.Pending, Subject: uploadWork, Total: int64(len(b.files)),
		}
		if b.touched {
			want.State, want.Done = job.Running, want.Total-int64(b.waiting())
		}
		if b.closed {
			want.State, want.ErrorCode = b.outcome()
			want.Done = want.Total
		}
		if diff := cmp.Diff(want, r, cmpopts.IgnoreFields(job.Record{}, "CreatedAt", "FinishedAt")); diff != "" ||
			r.Finished() != b.closed || stored.closed != b.closed {
			t.Fatalf("batch %d, closed %t (-model +stored)\n%s", n, b.closed, diff)
		}
	}
	links, bytes := m.promised()
	gotLinks, gotBytes, err := waiting(t.Context(), m.db, m.team)
	must(t, err)
	if got, want := fmt.Sprint(gotLinks, gotBytes, m.usedBytes(t), len(m.items(t))), fmt.Sprint(links, bytes, m.used(),
		len(m.library)); got != want {
		t.Fatalf("open links, their bytes, bytes used, items: %s instead of %s", got, want)
	}
}

func orElse(text, other string) string {
	if text != "" {
		return text
	}
	return other
}

// outcome is how the job ends: by what became of the first file that did not arrive.
func (b *modelBatch) outcome() (job.State, string) {
	var lost []string
	for _, f := range b.files {
		switch f.state {
		case Refused:
			lost = append(lost, f.reason)
		case Replaced, Expired:
			lost = append(lost, orElse(b.why, "upload_"+strings.ToLower(string(f.state))))
		case Waiting, Stored:
		}
	}
	switch {
	case len(b.files) == 0:
		return job.Failed, orElse(b.why, "upload_expired")
	case len(lost) == 0:
		return job.Succeeded, ""
	case len(lost) < len(b.files):
		return job.PartiallySucceeded, lost[0]
	}
	return job.Failed, lost[0]
}
