package media

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/platform/blob"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/s3"
)

// upload is one of many concurrent uploads.
type upload struct {
	link    UploadLink
	file    []byte
	cut     bool // the first attempt is cut off
	wrong   bool // the first attempt sends other bytes
	arrived AddResult
	err     error
}

func (u *upload) body() io.Reader {
	switch {
	case u.cut:
		return io.MultiReader(bytes.NewReader(u.file[:len(u.file)/2]), iotest.ErrReader(io.ErrUnexpectedEOF))
	case u.wrong:
		return bytes.NewReader(append(bytes.Clone(u.file[1:]), 0))
	}
	return bytes.NewReader(u.file)
}

// openMany opens links for 64 files. Half are cut off, some differ from their description, and every tenth is described
// twice.
func openMany(t *testing.T, w fixture) []*upload {
	t.Helper()
	out := make([]*upload, 64)
	for n := range out {
		out[n] = &upload{file: film(uint64(n), 10_000+n), cut: n%2 == 0, wrong: n%8 == 1}
		switch n % 10 {
		case 3, 4:
			out[n].file = pngOf(noise(uint64(n), 60, 60+n))
		case 9:
			out[n].file = out[n-2].file
		}
	}
	for half := range 2 {
		var files [][]byte
		for _, u := range out[32*half : 32*half+32] {
			files = append(files, u.file)
		}
		for n, link := range w.open(t, files...).Upload.Uploads {
			out[32*half+n].link = link
		}
	}
	return out
}

// sendAll sends uploads concurrently by two services.
func sendAll(t *testing.T, services []*Service, uploads []*upload) {
	t.Helper()
	var wg sync.WaitGroup
	for n, u := range uploads {
		wg.Go(func() {
			u.arrived, u.err = send(t.Context(), services[n%len(services)], u.link, u.body())
		})
	}
	wg.Wait()
}

// sendOverLimit sends files concurrently, of which only some fit the plan. It then retries the files that were cut off.
func sendOverLimit(t *testing.T, w fixture) {
	t.Helper()
	services := []*Service{w.Service}
	if w.db.Postgres() {
		services = append(services, instance(t, w.url, w.clock, w.Blobs))
	}
	const allowed = 300_000
	uploads := openMany(t, w)
	page := path.Base(w.open(t).PageURL)
	for _, s := range services {
		fixture{Service: s}.setStorageLimit(allowed) // less than when the links were opened
	}
	var others sync.WaitGroup
	slots := make(chan struct{}, maxUploads) // More at once are rejected.
	for n := range 8 {                       // concurrently on the page; one file is also sent by link
		others.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			_, err := w.AddToBatch(t.Context(), w.person, page,
				Incoming{Name: "by hand.mp4", Size: -1, Body: bytes.NewReader(film(uint64(4+n), 10_004))})
			if err != nil && !apierr.Is(err, apierr.PlanLimitReached) {
				t.Errorf("on the page: %v", err)
			}
		})
	}
	sendAll(t, services, uploads)
	others.Wait()
	for n, u := range uploads {
		if u.cut && !errors.Is(u.err, io.ErrUnexpectedEOF) || u.wrong && !apierr.Is(u.err, apierr.ValidationFailed) {
			t.Errorf("upload %d (%+v): %v", n, u.arrived, u.err)
		}
	}
	w.checkConsistent(t)
	var again []*upload
	for _, u := range uploads {
		if u.cut || u.wrong {
			u.cut, u.wrong = false, false
			again = append(again, u)
		}
	}
	sendAll(t, services, again)
	w.checkConsistent(t)
	w.checkUploads(t, uploads, allowed)
}

// checkUploads compares the results of uploads with the library.
func (w fixture) checkUploads(t *testing.T, uploads []*upload, allowed int64) {
	t.Helper()
	used, ids, full := w.usedBytes(t), map[string]int64{}, 0
	for n, u := range uploads {
		switch {
		case u.err == nil:
			if before, twice := ids[u.link.File.SHA256]; twice && before != u.arrived.MediaID {
				t.Errorf("one file was stored as items %d and %d", before, u.arrived.MediaID)
			}
			ids[u.link.File.SHA256] = u.arrived.MediaID
		case !apierr.Is(u.err, apierr.PlanLimitReached):
			t.Errorf("upload %d: %v", n, u.err)
		case u.link.File.SizeBytes <= allowed-used:
			t.Errorf("upload %d of %d bytes was rejected although there is storage left", n, u.link.File.SizeBytes)
		default:
			full++
		}
	}
	if used > allowed || len(ids) == 0 || full == 0 {
		t.Errorf("%d of %d bytes are used; %d files were accepted, %d exceeded the limit", used, allowed, len(ids), full)
	}
	for _, i := range w.items(t) {
		r, err := w.Blobs.Open(t.Context(), i.Blob)
		must(t, err)
		got, err := io.ReadAll(r)
		must(t, errors.Join(err, r.Close()))
		if d := describeFile(got); !bytes.Equal(i.SHA256, unhex(t, d.SHA256)) {
			t.Errorf("the bytes of item %d do not match its digest", i.ID)
		}
	}
}

func TestConcurrentUploads(t *testing.T) {
	forEachDatabase(t, sendOverLimit)
}

func TestConcurrentUploadsToS3(t *testing.T) {
	t.Parallel()
	server := s3.Start(t)
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		store := openBlobs(t, server.Bucket(t), blob.Credentials{ID: server.ID, Secret: server.Secret})
		sendOverLimit(t, newFixture(t, url, store, ""))
	})
}

func TestSameFileByManyLinks(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, w fixture) {
		file := pngOf(noise(1, 50, 50))
		uploads := make([]*upload, 16)
		for n, link := range w.open(t,
			[][]byte{file, file, file, file, file, file, file, file, file, file, file, file, file, file, file, file}...).Upload.Uploads {
			uploads[n] = &upload{link: link, file: file}
		}
		sendAll(t, []*Service{w.Service}, uploads)
		fresh := 0
		for _, u := range uploads {
			must(t, u.err)
			if !u.arrived.AlreadyExists {
				fresh++
			}
		}
		if items := w.items(t); len(items) != 1 || fresh != 1 {
			t.Errorf("%d items, reported as new %d times", len(items), fresh)
		}
		w.checkConsistent(t)
	})
}

func TestSameLinkManyTimes(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, w fixture) {
		file := film(1, 5000)
		link := w.open(t, file, film(2, 10)).Upload.Uploads[0] // the second file keeps the batch open
		uploads := make([]*upload, 16)
		for n := range uploads {
			uploads[n] = &upload{link: link, file: file}
		}
		sendAll(t, []*Service{w.Service}, uploads)
		taken := 0
		for _, u := range uploads {
			if u.err == nil {
				taken++
			} else if !apierr.Is(u.err, apierr.UploadLinkUsed) && !apierr.Is(u.err, apierr.RateLimited) {
				t.Error(u.err)
			}
		}
		if taken != 1 {
			t.Errorf("the link was used %d times", taken)
		}
		w.checkConsistent(t)
	})
}

func TestPageLimit(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, w fixture) {
		page := path.Base(w.open(t).PageURL)
		add := func(file []byte) error {
			_, err := w.AddToBatch(t.Context(), w.person, page, Incoming{Size: -1, Body: bytes.NewReader(file)})
			return err
		}
		for n := range maxPageFiles - 3 {
			wantCode(t, add(fmt.Append(nil, "no picture ", n)), apierr.ValidationFailed)
		}
		var full atomic.Int64
		var wg sync.WaitGroup
		for n := range 12 {
			wg.Go(func() {
				err := add(film(uint64(n), 100))
				for apierr.Is(err, apierr.RateLimited) { // limit of concurrent uploads per person
					runtime.Gosched()
					err = add(film(uint64(n), 100))
				}
				if apierr.Is(err, apierr.PlanLimitReached) {
					full.Add(1)
				} else if err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if b, err := w.Batch(t.Context(), w.person, page); err != nil || len(b.Files) != maxPageFiles || full.Load() != 9 {
			t.Errorf("%d files, %d calls failed because the page is full, %v", len(b.Files), full.Load(), err)
		}
		w.checkConsistent(t)
	})
}

func TestInvalidNames(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, w fixture) {
		page := path.Base(w.open(t).PageURL)
		for n, name := range []string{
			"a\x00b.png", "\xff\xfe.png", "\x00", strings.Repeat("ü", 300) + ".png", "../../etc/passwd", "con\u202egnp.png",
		} {
			arrived, err := w.AddToBatch(t.Context(), w.person, page,
				Incoming{Name: name, Size: -1, Body: bytes.NewReader(pngOf(noise(uint64(n), 9, 9)))})
			if err != nil {
				t.Errorf("%q: %v", name, err)
			}
			if err := w.Describe(t.Context(), w.person, arrived.MediaID, " "+name[:min(len(name), 100)]); err != nil {
				t.Errorf("describing by %q: %v", name, err)
			}
		}
		_, err := w.AddToBatch(t.Context(), w.person, page, Incoming{Name: "junk\x00.png", Size: -1, Body: strings.NewReader("junk")})
		wantCode(t, err, apierr.ValidationFailed)
		b, err := w.Batch(t.Context(), w.person, page)
		must(t, err)
		var kinds []string
		for _, f := range b.Files {
			kinds = append(kinds, string(f.State)+f.Reason)
		}
		if diff := cmp.Diff([]string{"stored", "stored", "stored", "stored", "stored", "stored", "refusedtype_refused"},
			kinds); diff != "" {
			t.Error(diff)
		}
		w.checkConsistent(t)
	})
}
