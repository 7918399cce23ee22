package media

import (
	"bytes"
	"fmt"
	"io"
	"path"
	"slices"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/domain/job"
)

// Limits in the model-based test.
const (
	modelStorage   = 2_500 // bytes
	batchesInModel = 3
	linksInModel   = 7
)

// model is the expected state of a team's batches and library.
type model struct {
	fixture

	files   [][]byte
	batches []*modelBatch
	library map[int]int64 // the items, by file
}

func (m *model) usedStorage() int64 {
	sum := int64(0)
	for which := range m.library {
		sum += int64(len(m.files[which]))
	}
	return sum
}

// openLinks returns the number of open links and their bytes.
func (m *model) openLinks() (int, int64) {
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

// TestBatchesMatchModel applies random operations in random order and compares files, jobs, counts and bytes with the
// model.
func TestBatchesMatchModel(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, w fixture) {
		w.Catalog.Limits.OpenUploadBatches, w.Catalog.Limits.OpenUploadLinks = batchesInModel, linksInModel
		w.setStorageLimit(modelStorage)
		files := modelFiles()
		rapid.Check(t, func(t *rapid.T) {
			m := &model{fixture: w.newTeam(t), files: files, library: map[int]int64{}}
			t.Repeat(map[string]func(*rapid.T){
				"open": m.open, "repeat": m.repeat, "put": m.put, "put more": m.put, "page": m.page, "close": m.close,
				"wait": func(t *rapid.T) {
					m.clock.Advance(time.Duration(rapid.IntRange(1, 35).Draw(t, "minutes")) * time.Minute)
				},
				"work": m.work, "": m.compare,
			})
			m.checkConsistent(t)
		})
	})
}

func (m *model) drawBatch(t *rapid.T) *modelBatch {
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
		in.Files, b.files = append(in.Files, describeFile(m.files[which])), append(b.files, f)
	}
	var old *modelBatch
	if len(m.batches) > 0 && rapid.Bool().Draw(t, "replaces") {
		old = m.drawBatch(t)
		in.ReplacesBatch = old.job
	}
	want, gives := m.expectOpen(b, old)
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

// expectOpen returns the expected error of opening a batch, or "" for no error. It also returns the empty batch that
// would be closed to make space, if any.
func (m *model) expectOpen(b, old *modelBatch) (apierr.Code, *modelBatch) {
	links, bytes := m.openLinks()
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
	left := modelStorage - m.usedStorage() - bytes
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

// repeat repeats the call that opened a batch, which invalidates the earlier links.
func (m *model) repeat(t *rapid.T) {
	b := m.drawBatch(t)
	answer, err := m.recreateUploads(t.Context(), m.call("create_uploads"), UploadsInput{},
		UploadBatch{Job: job.Job{JobID: b.job}})
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

// put sends a file by a link. The file is correct, has other bytes or is cut off, or the secret is no longer valid.
func (m *model) put(t *rapid.T) {
	b := m.drawBatch(t)
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
		defer b.closeIfDone()
	}
	arrived, err := send(t.Context(), m.Service, link, body)
	if want != "" {
		wantCode(t, err, want)
		return
	}
	must(t, err)
	m.recordItem(t, f.which, arrived)
	f.state, f.media = Stored, arrived.MediaID
	b.closeIfDone()
}

// recordItem records an item in the model.
func (m *model) recordItem(t *rapid.T, which int, a AddResult) {
	id, there := m.library[which]
	if there != a.AlreadyExists || there && id != a.MediaID {
		t.Fatalf("file %d became %+v, and item %d before", which, a, id)
	}
	m.library[which] = a.MediaID
}

// page sends a file on the upload page.
func (m *model) page(t *rapid.T) {
	b, which := m.drawBatch(t), rapid.IntRange(0, junk).Draw(t, "file")
	f := modelFile{which: which, state: Stored, byPage: true}
	want := apierr.Code("")
	known := slices.IndexFunc(b.files, func(f modelFile) bool { return f.which == which && (f.state == Waiting || f.byPage) })
	waits := slices.ContainsFunc(b.files, func(f modelFile) bool { return f.which == which && f.state == Waiting })
	_, there := m.library[which]
	left := modelStorage - m.usedStorage()
	if _, bytes := m.openLinks(); !waits {
		left -= bytes
	}
	switch {
	case b.closed || !m.clock.Now().Before(b.expires):
		want = apierr.UploadLinkClosed
	case !there && int64(len(m.files[which])) > left:
		want = apierr.PlanLimitReached // rejected before its first byte
	case which == junk:
		want, f.state, f.reason = apierr.ValidationFailed, Refused, "type_refused"
	}
	file := m.files[which]
	arrived, err := m.AddToBatch(t.Context(), m.person, b.page, Incoming{Size: int64(len(file)), Body: bytes.NewReader(file)})
	if want != "" {
		wantCode(t, err, want)
	} else {
		must(t, err)
		m.recordItem(t, which, arrived)
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
	b.closeIfDone()
}

func (m *model) close(t *rapid.T) {
	b := m.drawBatch(t)
	must(t, m.CloseBatch(t.Context(), m.person, b.page))
	if !b.closed {
		b.why = "upload_closed"
	}
	b.end(Expired)
}

// work runs due jobs, as the worker would.
func (m *model) work(t *rapid.T) {
	for _, b := range m.batches {
		if b.closed {
			continue
		}
		r, err := job.Get(t.Context(), m.db, m.team, b.job)
		must(t, err)
		must(t, m.runImport(t.Context(), job.LeasedJob{Record: r}))
		if !m.clock.Now().Before(b.expires) {
			b.end(Expired)
		}
	}
}

// compare compares the stored state with the model.
func (m *model) compare(t *rapid.T) {
	for n, b := range m.batches {
		stored, err := m.readBatch(t.Context(), m.db, b.job, "")
		must(t, err)
		got := []modelFile{}
		for _, f := range stored.files {
			which := slices.IndexFunc(m.files, func(file []byte) bool { return int64(len(file)) == f.size })
			got = append(got, modelFile{which, f.state, f.media, f.reason, f.addedOnPage})
		}
		if diff := cmp.Diff(append([]modelFile{}, b.files...), got, cmp.AllowUnexported(modelFile{})); diff != "" {
			t.Fatalf("batch %d (-model +stored)\n%s", n, diff)
		}
		r, err := job.Get(t.Context(), m.db, m.team, b.job)
		must(t, err)
		want := job.Record{
			ID: b.job, TeamID: m.team, Type: job.MediaImport, State: job.Pending, Subject: uploadSubject, Total: int64(len(b.files)),
		}
		if b.touched {
			want.State, want.Done = job.Running, want.Total-int64(b.waiting())
		}
		if b.closed {
			want.State, want.ErrorCode = b.outcome()
			want.Done = want.Total
		}
		if diff := cmp.Diff(want, r, cmpopts.IgnoreFields(job.Record{}, "CreatedAt", "FinishedAt")); diff != "" ||
			r.IsFinished() != b.closed || stored.closed != b.closed {
			t.Fatalf("batch %d, closed %t (-model +stored)\n%s", n, b.closed, diff)
		}
	}
	links, bytes := m.openLinks()
	gotLinks, gotBytes, err := openLinks(t.Context(), m.db, m.team)
	must(t, err)
	if got, want := fmt.Sprint(gotLinks, gotBytes, m.usedBytes(t), len(m.items(t))), fmt.Sprint(links, bytes, m.usedStorage(),
		len(m.library)); got != want {
		t.Fatalf("open links, their bytes, bytes used, items: %s instead of %s", got, want)
	}
}
