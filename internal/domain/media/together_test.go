package media

import (
	"bytes"
	"context"
	"math/rand/v2"
	"path"
	"sync"
	"testing"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/domain/job"
)

// concurrentServices is a set of services that change the same batches concurrently.
type concurrentServices struct {
	fixture

	services []*Service
	files    [][]byte

	mu      sync.Mutex
	batches []UploadBatch
}

func (p *concurrentServices) any(r *rand.Rand) UploadBatch {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.batches) == 0 {
		return UploadBatch{}
	}
	return p.batches[len(p.batches)-1-r.IntN(min(3, len(p.batches)))]
}

// act applies a random operation to one of the latest batches.
func (p *concurrentServices) act(ctx context.Context, s *Service, r *rand.Rand) error {
	b, file := p.any(r), p.files[r.IntN(len(p.files))]
	what := r.IntN(12)
	if b.JobID == "" {
		what = 0
	}
	switch {
	case what < 2:
		in := UploadsInput{ReplacesBatch: b.JobID}
		for range r.IntN(4) {
			in.Files = append(in.Files, describeFile(p.files[r.IntN(len(p.files))]))
		}
		return p.record(s.createUploads(ctx, p.call("create_uploads"), in))
	case what == 2:
		return p.record(s.recreateUploads(ctx, p.call("create_uploads"), UploadsInput{}, b))
	case what == 3:
		return s.CloseBatch(ctx, p.person, path.Base(b.PageURL))
	case what == 4:
		_, err := s.Sweep(ctx)
		return err
	case what < 8:
		_, err := s.AddToBatch(ctx, p.person, path.Base(b.PageURL), Incoming{Size: -1, Body: bytes.NewReader(file)})
		return err
	case len(b.Upload.Uploads) > 0:
		link := b.Upload.Uploads[r.IntN(len(b.Upload.Uploads))]
		if link.URL != "" {
			_, err := send(ctx, s, link, bytes.NewReader(p.fileOf(link)))
			return err
		}
	}
	return nil
}

func (p *concurrentServices) record(a operation.Response[UploadBatch], err error) error {
	if err == nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.batches = append(p.batches, a.Data)
	}
	return err
}

// fileOf returns the file that a link describes.
func (p *concurrentServices) fileOf(link UploadLink) []byte {
	for _, f := range p.files {
		if describeFile(f).SHA256 == link.File.SHA256 {
			return f
		}
	}
	return nil
}

// TestConcurrentChanges checks that concurrent changes of the same batches each succeed or fail without side effects,
// and that the totals add up.
func TestConcurrentChanges(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, w fixture) {
		p := &concurrentServices{fixture: w, services: []*Service{w.Service}, files: modelFiles()}
		if w.db.Postgres() {
			p.services = append(p.services, instance(t, w.url, w.clock, w.Blobs))
		}
		for _, s := range p.services {
			fixture{Service: s}.setStorageLimit(modelStorage)
		}
		var wg sync.WaitGroup
		for n := range 12 {
			wg.Go(func() {
				r, s := rand.New(rand.NewPCG(uint64(n), 7)), p.services[n%len(p.services)]
				for range 60 {
					if err := p.act(t.Context(), s, r); err != nil && apierr.FromError(err).Code == apierr.Internal {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		p.checkTotals(t)
	})
}

func (p *concurrentServices) checkTotals(t *testing.T) {
	t.Helper()
	p.checkConsistent(t)
	if used := p.usedBytes(t); used > modelStorage || len(p.batches) == 0 { // the last act may delete the last file
		t.Errorf("%d bytes are used after %d batches", used, len(p.batches))
	}
	finished := 0
	for _, opened := range p.batches {
		b, err := p.readBatch(t.Context(), p.db, opened.JobID, "")
		must(t, err)
		r, err := job.Get(t.Context(), p.db, p.team, opened.JobID)
		must(t, err)
		links, _ := b.pendingFiles()
		if r.IsFinished() != b.closed || r.Total != int64(len(b.files)) || b.closed && (links > 0 || r.Done != r.Total) {
			t.Errorf("batch of %d files, %d of them pending, closed %t: %+v", len(b.files), links, b.closed, r)
		}
		if state, code := batchOutcome(b.files, r.ErrorCode); b.closed && (r.State != state || r.ErrorCode != code) {
			t.Errorf("the job ended as %s with %q, its files as %s with %q", r.State, r.ErrorCode, state, code)
		}
		if b.closed {
			finished++
		}
	}
	if finished == 0 {
		t.Errorf("none of %d batches ended", len(p.batches))
	}
}
