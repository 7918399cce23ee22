package media

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/plan"
	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/platform/disk"
	"pressroom.example/pressroom/internal/platform/mediainfo"
	"pressroom.example/pressroom/internal/platform/thumbnail"
)

// uploadMethods returns the ways to upload a body whose size is known only from its sender.
func (w fixture) uploadMethods(t fatal) map[string]func(Incoming) error {
	t.Helper()
	page := path.Base(w.open(t).PageURL)
	return map[string]func(Incoming) error{
		"the upload page": func(f Incoming) error { _, err := w.AddToBatch(t.Context(), w.person, page, f); return err },
		"a form": func(f Incoming) error {
			_, err := w.Add(t.Context(), Owner{TeamID: w.team, PersonID: w.person}, f)
			return err
		},
	}
}

// checkIdle fails if ended uploads are still counted.
func (w fixture) checkIdle(t fatal) {
	t.Helper()
	w.uploadLimiter.mu.Lock()
	defer w.uploadLimiter.mu.Unlock()
	if len(w.uploadLimiter.uploads)+len(w.uploadLimiter.files)+len(w.uploadLimiter.bytes) != 0 {
		t.Fatalf("still counted: %v, %v, %v", w.uploadLimiter.uploads, w.uploadLimiter.files, w.uploadLimiter.bytes)
	}
}

// TestPlanLimitCheckedBeforeUpload checks that a file that exceeds the plan is rejected before its first byte. If its
// size is unknown, it is rejected at the limit.
func TestPlanLimitCheckedBeforeUpload(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, w fixture) {
		w.setStorageLimit(1 << 30)
		w.exec(t,
			`INSERT INTO storage (team_id, used_bytes) VALUES (?, ?) ON CONFLICT (team_id) DO UPDATE
		SET used_bytes = 924 * 1048576`, w.team, 924*mib)
		begun := 0
		for name, send := range w.uploadMethods(t) {
			w.Blobs = limitedStore{w.Blobs, &begun}
			body := &generatedBody{head: film(1, 0), size: 300 * mib}
			wantCode(t, send(Incoming{Name: "x.mp4", Size: body.size, Body: body}), apierr.PlanLimitReached)
			if body.read != 0 || begun != 0 {
				t.Errorf("%s: %d bytes were read, %d files staged", name, body.read, begun)
			}
			body = &generatedBody{head: film(1, 0), size: 300 * mib}
			wantCode(t, send(Incoming{Name: "x.mp4", Size: -1, Body: body}), apierr.PlanLimitReached)
			if body.read > 101*mib {
				t.Errorf("%s: without a size %d bytes were read", name, body.read)
			}
			begun = 0
		}
		w.checkIdle(t)
	})
}

// TestFileWithoutNewStorage checks that a file of the size of an existing item or of a promised file is not rejected
// in advance.
func TestFileWithoutNewStorage(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, w fixture) {
		there, promised := film(1, 5000), film(2, 7000)
		w.add(t, there)
		b := w.open(t, promised)
		w.setStorageLimit(w.usedBytes(t) + int64(len(promised)))
		for name, send := range map[string]func(Incoming) error{"add": func(f Incoming) error {
			_, err := w.Add(t.Context(), Owner{TeamID: w.team, PersonID: w.person}, f)
			return err
		}, "page": func(f Incoming) error {
			_, err := w.AddToBatch(t.Context(), w.person, path.Base(b.PageURL), f)
			return err
		}} {
			if err := send(Incoming{Size: int64(len(there)), Body: bytes.NewReader(there)}); err != nil {
				t.Errorf("%s, an existing file: %v", name, err)
			}
		}
		if _, err := w.AddToBatch(t.Context(), w.person, path.Base(b.PageURL),
			Incoming{Size: int64(len(promised)), Body: bytes.NewReader(promised)}); err != nil {
			t.Errorf("a file with an open link: %v", err)
		}
		w.checkConsistent(t)
	})
}

// TestUnsupportedTypeRejectedEarly checks that files of unsupported types and oversized images are rejected after
// 64 KiB.
func TestUnsupportedTypeRejectedEarly(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, w fixture) {
		noise := make([]byte, 1<<10)
		rand.NewChaCha8([32]byte{}).Read(noise)
		ways := w.uploadMethods(t)
		ways["a link"] = func(f Incoming) error {
			d := describeFile(noise)
			d.SizeBytes = 300 * mib
			answer, err := w.createUploads(t.Context(), w.call("create_uploads"), UploadsInput{Files: []UploadFile{d}})
			must(t, err)
			_, err = send(t.Context(), w.Service, answer.Data.Upload.Uploads[0], f.Body)
			return err
		}
		for name, send := range ways {
			garbage := &generatedBody{head: noise, size: 300 * mib}
			wantCode(t, send(Incoming{Name: "x.mp4", Size: garbage.size, Body: garbage}), apierr.ValidationFailed)
			if garbage.read > sniffBytes {
				t.Errorf("%s: %d bytes of garbage were read", name, garbage.read)
			}
			image := &generatedBody{head: []byte("\xff\xd8\xff\xe0"), size: 300 * mib}
			wantCode(t, send(Incoming{Name: "x.jpg", Size: image.size, Body: image}), apierr.UploadTooLarge)
			if image.read > sniffBytes {
				t.Errorf("%s: %d bytes of an image were read", name, image.read)
			}
		}
		image := &generatedBody{head: []byte("\xff\xd8\xff\xe0"), size: 300 * mib}
		wantCode(t, ways["a form"](Incoming{Size: -1, Body: image}), apierr.UploadTooLarge)
		if most := w.Catalog.Limits.MaxImageBytes; image.read > most+mib {
			t.Errorf("without a size %d bytes of an image were read", image.read)
		}
		w.checkIdle(t)
	})
}

// TestManyScansRejected checks that JPEG images with very many scans are rejected with advice, both when added and
// when stored earlier.
func TestManyScansRejected(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, w fixture) {
		plain, err := os.ReadFile("../../platform/mediainfo/testdata/progressive.jpg")
		must(t, err)
		first := bytes.Index(plain, []byte("\xff\xda"))
		end := first + 2
		for plain[end] != 0xff || plain[end+1] == 0 {
			end++
		}
		many := slices.Concat(plain[:first], bytes.Repeat(plain[first:end], 100), plain[end:])
		ways := w.uploadMethods(t)
		ways["a link"] = func(f Incoming) error {
			_, err := send(t.Context(), w.Service, w.open(t, many).Upload.Uploads[0], f.Body)
			return err
		}
		for name, send := range ways {
			err := send(Incoming{Name: "x.jpg", Size: int64(len(many)), Body: bytes.NewReader(many)})
			if told := apierr.FromError(err); told.Code != apierr.ValidationFailed || !strings.Contains(told.Detail,
				"save it again as a baseline") {
				t.Errorf("%s: %v", name, err)
			}
		}
		if items := w.items(t); len(items) != 0 {
			t.Errorf("%d items were kept", len(items))
		}
		stored, fit := w.replaceBytes(t, w.add(t, plain), many), network.FileLimits{Types: []string{"image/png"}}
		var rejected *network.Error
		if _, err := w.Files(w.team).
			Open(t.Context(), stored.ID, fit); !errors.As(err, &rejected) || rejected.Class != network.RejectedMedia {
			t.Errorf("for a network: %v", err)
		}
		if _, err := w.openFitted(t.Context(), stored, fit); apierr.FromError(err).Context["state"] != "damaged" {
			t.Errorf("at a link: %v", err)
		}
		w.checkIdle(t)
	})
}

func TestMetadataSearchEnds(t *testing.T) {
	t.Parallel()
	file := pngOf(noise(1, 900, 700))
	info, err := mediainfo.Read(bytes.NewReader(file), int64(len(file)))
	must(t, err)
	synctest.Test(t, func(t *testing.T) {
		slow := readerAtFunc(func(p []byte, off int64) (int, error) {
			<-time.After(imageScanTimeout / 4)
			return bytes.NewReader(file).ReadAt(p, off)
		})
		began := time.Now()
		_, err := findMetadataEdits(t.Context(), slow, int64(len(file)), info)
		if took := time.Since(began); !errors.Is(err, thumbnail.ErrSlow) || took > 2*imageScanTimeout {
			t.Errorf("%v after %v, want ErrSlow after %v", err, took, imageScanTimeout)
		}
		gone, leave := context.WithCancel(t.Context())
		leave()
		if _, err := findMetadataEdits(gone, slow, int64(len(file)), info); !errors.Is(err, context.Canceled) {
			t.Errorf("%v, want context.Canceled", err)
		}
		if edits, err := findMetadataEdits(t.Context(), bytes.NewReader(file), int64(len(file)), info); err != nil || !edits.Empty() {
			t.Errorf("a file that is read immediately: %v", err)
		}
	})
}

// TestDiskReserve checks that uploads are rejected when free disk space is below the reserve. Running uploads are cut
// off.
func TestDiskReserve(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, w fixture) {
		volume := disk.Volume{Name: "files", Dir: t.TempDir()}
		full := disk.NewReserve(1<<60, volume)
		ways := w.uploadMethods(t)
		file := film(1, 100)
		link := w.open(t, file).Upload.Uploads[0]
		ways["a link"] = func(f Incoming) error { _, err := send(t.Context(), w.Service, link, f.Body); return err }
		w.Disk = full
		for name, send := range ways {
			body := bytes.NewReader(file)
			err := send(Incoming{Size: int64(len(file)), Body: body})
			if f := apierr.FromError(err); f.Code != apierr.Unavailable || f.Context["reason"] != "disk_full" ||
				f.RetryAfter == 0 || body.Len() != len(file) {
				t.Errorf("%s: %v with %d bytes left", name, err, body.Len())
			}
		}
		_, err := w.importFile(t.Context(), w.call("import_media"), ImportInput{URL: "https://www.example.com/a.jpg"})
		wantCode(t, err, apierr.Unavailable)
		if _, err := w.beginForJob(t.Context(), w.team); !isPermanent(err) || rejectionReason(err) != "storage_full" {
			t.Errorf("a job: %v", err)
		}
		w.Disk = nil
		body := &diskFillingBody{
			generatedBody: generatedBody{head: film(1, 0), size: 300 * mib}, at: 20 * mib, fill: func() { w.Disk = full },
		}
		if err := ways["a form"](Incoming{Size: -1, Body: body}); apierr.FromError(err).Context["reason"] != "disk_full" ||
			body.read > 20*mib+2*checkStep {
			t.Errorf("during the upload: %v after %d bytes", err, body.read)
		}
		w.Disk = disk.NewReserve(1, volume)
		must(t, ways["a link"](Incoming{Body: bytes.NewReader(file)}))
		w.checkIdle(t)
	})
}

// TestFormsRejectedByLength checks that forms are rejected by the plan, by the largest file size, and while the
// disk is full.
func TestFormsRejectedByLength(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, w fixture) {
		page := path.Base(w.open(t).PageURL)
		check := func(length int64) map[string]error {
			return map[string]error{
				"the page": w.CheckBatchForm(t.Context(), w.person, page, length),
				"a post":   w.CheckForm(t.Context(), w.team, length),
			}
		}
		wants := func(length int64, code apierr.Code) {
			t.Helper()
			for way, err := range check(length) {
				if err == nil && code != "" || err != nil && apierr.FromError(err).Code != code {
					t.Errorf("%d bytes to %s: %v, want %q", length, way, err, code)
				}
			}
		}
		largest := MaxFormFiles * w.Catalog.Limits.MaxVideoBytes
		wants(-1, "")
		w.setStorageLimit(plan.Unlimited)
		wants(largest, "")
		wants(largest+maxFormOverhead+1, apierr.UploadTooLarge)
		w.setStorageLimit(w.usedBytes(t) + 10)
		wants(maxFormOverhead, "")
		wants(maxFormOverhead+10, "")
		wants(maxFormOverhead+11, apierr.PlanLimitReached)
		w.Disk = disk.NewReserve(1<<60, disk.Volume{Name: "files", Dir: t.TempDir()})
		wants(100, apierr.Unavailable)
	})
}

func TestConcurrentUploadsOfTeam(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, w fixture) {
		w.TeamUploads = 4
		for n := range int64(4) {
			must(t, w.enterUpload(t, uploader{person: n + 1}))
		}
		wantCode(t, w.enterUpload(t, uploader{link: "another"}), apierr.RateLimited)
		must(t, w.newTeam(t).enterUpload(t, uploader{person: 9}))
	})
}

// enterUpload begins a file that ends with the test.
func (w fixture) enterUpload(t *testing.T, by uploader) error {
	t.Helper()
	a, err := w.Service.begin(t.Context(), w.team, by, 100, sizeLimit{100, errTooLarge})
	if err == nil {
		t.Cleanup(a.Discard)
	}
	return err
}

// TestConcurrentUploadsOfPerson checks that a person has at most three concurrent uploads, and that the end of an
// upload frees a slot.
func TestConcurrentUploadsOfPerson(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, w fixture) {
		add := func(person int64, body io.Reader) error {
			_, err := w.Add(t.Context(), Owner{TeamID: w.team, PersonID: person}, Incoming{Size: -1, Body: body})
			return err
		}
		var all sync.WaitGroup
		slow := []blockingBody{newBlockingBody(), newBlockingBody(), newBlockingBody()}
		for _, d := range slow {
			all.Go(func() { wantCode(t, add(w.person, d), apierr.ValidationFailed) })
			<-d.begun
		}
		err := add(w.person, bytes.NewReader(film(2, 10)))
		if f := apierr.FromError(err); f.Code != apierr.RateLimited || f.Context["scope"] != "uploads_under_way" || f.RetryAfter == 0 {
			t.Errorf("a fourth upload: %v", err)
		}
		must(t, add(w.person+1, bytes.NewReader(film(3, 10))))
		slow[0].end <- io.ErrUnexpectedEOF // the sender disconnects
		for err = errTooManyUploads; apierr.Is(err, apierr.RateLimited); {
			err = add(w.person, bytes.NewReader(film(4, 10)))
		}
		must(t, err)
		slow[1].end <- io.ErrUnexpectedEOF
		slow[2].end <- io.ErrUnexpectedEOF
		all.Wait()
		w.checkIdle(t)
	})
}

// TestStagedBytesOfTeam checks that a team's staged bytes are limited, including declared bytes.
func TestStagedBytesOfTeam(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, w fixture) {
		w.setStorageLimit(1 << 50)
		most := w.Catalog.Limits.MaxVideoBytes
		var held []*incomingFile
		for person := range int64(2) {
			a, err := w.Service.begin(t.Context(), w.team, uploader{person: person + 1}, most, sizeLimit{most, errTooLarge})
			must(t, err)
			held = append(held, a)
		}
		_, err := w.Service.begin(t.Context(), w.team, uploader{person: 9}, 1, sizeLimit{most, errTooLarge})
		wantCode(t, err, apierr.RateLimited)
		a, err := w.Service.begin(t.Context(), w.team, uploader{person: 9}, -1, sizeLimit{most, errTooLarge})
		must(t, err)
		_, err = a.Write([]byte("x"))
		wantCode(t, err, apierr.RateLimited)
		a.Discard()
		other, err := w.Service.begin(t.Context(), w.team+1, uploader{person: 9}, most, sizeLimit{most, errTooLarge})
		must(t, err)
		for _, a := range append(held, other) {
			a.Discard()
			a.Discard()
		}
		w.checkIdle(t)
	})
}
