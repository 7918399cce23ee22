package media

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"sync"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/platform/blob"
)

// countingStore is a store that counts how often each blob is opened.
type countingStore struct {
	blob.Store

	mu    *sync.Mutex
	opens map[string]int
}

func newCountingStore(s blob.Store) countingStore {
	return countingStore{s, &sync.Mutex{}, map[string]int{}}
}

func (c countingStore) Open(ctx context.Context, key string) (blob.Reader, error) {
	c.mu.Lock()
	c.opens[key]++
	c.mu.Unlock()
	return c.Store.Open(ctx, key)
}

var smallJPEG = network.FileLimits{Types: []string{"image/jpeg"}, MaxBytes: 50_000, MaxSide: 200}

// bytesOf returns the bytes that a network gets of an item.
func (w fixture) bytesOf(t fatal, i Item, fit network.FileLimits) []byte {
	t.Helper()
	file, err := w.Files(w.team).Open(t.Context(), i.ID, fit)
	must(t, err)
	raw, err := io.ReadAll(file)
	must(t, errors.Join(err, file.Close()))
	if int64(len(raw)) != file.Size || file.Type != "image/jpeg" || file.Width != 200 {
		t.Fatalf("%d bytes of %+v", len(raw), file)
	}
	return raw
}

// TestDeriveOnce checks that an image is resized once for each set of limits.
func TestDeriveOnce(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, w fixture) {
		photo := w.add(t, pngOf(noise(1, 400, 300)))
		store := newCountingStore(w.Blobs)
		w.Blobs = store
		want := w.bytesOf(t, photo, smallJPEG)
		token := path.Base(path.Dir(w.linkTo(photo, smallJPEG, w.clock.Now().Add(time.Hour))))
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() {
				opened, err := w.OpenPublic(t.Context(), token)
				if err != nil {
					t.Error(err)
					return
				}
				got, err := io.ReadAll(opened)
				if err = errors.Join(err, opened.Close()); err != nil || !bytes.Equal(got, want) {
					t.Errorf("the link returned %d bytes, the first call %d (%v)", len(got), len(want), err)
				}
			})
		}
		all.Wait()
		if n := store.opens[photo.Blob]; n != 1 {
			t.Errorf("the image was read %d times for resizing", n)
		}
		if used := w.usedBytes(t); used != photo.Size {
			t.Errorf("%d bytes are counted, the image has %d", used, photo.Size)
		}
	})
}

// TestDeriveShared checks that concurrent callers share the work, and that a canceled caller does not end it.
func TestDeriveShared(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, w fixture) {
		photo := w.add(t, pngOf(noise(1, 400, 300)))
		begun, goOn := make(chan struct{}), make(chan struct{})
		r := transform{"test", func(_ context.Context, _ Item, _ blob.Reader, into io.Writer) (outputInfo, error) {
			close(begun) // a second call would panic
			<-goOn
			_, err := into.Write([]byte("derived"))
			return outputInfo{mime: "text/plain"}, err
		}}
		ctx, leave := context.WithCancel(t.Context())
		left := make(chan error, 1)
		go func() { _, _, err := w.derive(ctx, photo, r); left <- err }()
		<-begun
		leave()
		if err := <-left; !errors.Is(err, context.Canceled) {
			t.Errorf("the caller that gave up got the error %v", err)
		}
		close(goOn)
		d, opened, err := w.derive(t.Context(), photo, r)
		must(t, err)
		if d.size != 7 || opened.Size() != 7 {
			t.Errorf("%+v", d)
		}
		must(t, opened.Close())
	})
}

func TestDeriveOnTwoNodes(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, w fixture) {
		photo := w.add(t, pngOf(noise(1, 400, 300)))
		other := instance(t, w.url, w.clock, w.Blobs)
		first, err := w.makeDerived(t.Context(), photo, w.fitTransform(smallJPEG), "")
		must(t, err)
		second, err := other.makeDerived(t.Context(), photo, other.fitTransform(smallJPEG), "")
		must(t, err)
		if first.blob != second.blob || first.size != second.size {
			t.Errorf("%+v, then %+v", first, second)
		}
		if got, want := w.blobs(t), append(blobKeys([]Item{photo}), first.blob); !slices.Equal(got, sortedCopy(want)) {
			t.Errorf("%v are stored, want %v", got, want)
		}
		w.checkDerived(t, photo)
	})
}

func sortedCopy(in []string) []string {
	out := slices.Clone(in)
	slices.Sort(out)
	return out
}

// checkDerived fails if the audit finds anything or unreferenced bytes remain.
func (w fixture) checkDerived(t fatal, items ...Item) {
	t.Helper()
	if found, err := w.Audit(t.Context()); err != nil || len(found) > 0 {
		t.Fatalf("the audit finds %+v (%v)", found, err)
	}
	n := w.queryInt(t, `SELECT COUNT(*) FROM media_derived WHERE blob <> ''`) + w.queryInt(t, `SELECT COUNT(*) FROM media_pending`)
	if got := len(w.blobs(t)); got != len(blobKeys(items))+int(n) {
		t.Fatalf("%d blobs are stored for %d items with %d derived files", got, len(items), n)
	}
}

// TestDerivedFilesExpire checks that derived files are deleted with their item, by age, and beyond maxDerivedFiles. A
// lost file is recreated.
func TestDerivedFilesExpire(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, w fixture) {
		photo := w.add(t, pngOf(noise(1, 400, 300)))
		raw := w.bytesOf(t, photo, smallJPEG)
		lost, err := findDerived(t.Context(), w.db, photo, w.fitTransform(smallJPEG).variant)
		must(t, err)
		must(t, w.Blobs.Delete(t.Context(), lost.blob))
		if found, err := w.Audit(t.Context()); err != nil || len(found) != 1 || found[0].Rule != "no_bytes" || found[0].Blob != lost.blob {
			t.Errorf("audit findings for a lost file: %+v (%v)", found, err)
		}
		if again := w.bytesOf(t, photo, smallJPEG); !bytes.Equal(again, raw) {
			t.Error("the recreated file differs from the lost one")
		}
		w.checkDerived(t, photo)

		for n := range maxDerivedFiles + 3 {
			w.clock.Advance(time.Second)
			_, opened, err := w.derive(t.Context(), photo,
				transform{fmt.Sprint("test ", n), func(_ context.Context, _ Item, _ blob.Reader,
					into io.Writer) (outputInfo, error) {
					_, err := into.Write([]byte{byte(n)})
					return outputInfo{mime: "text/plain"}, err
				}})
			must(t, err)
			must(t, opened.Close())
		}
		if n := w.queryInt(t, `SELECT COUNT(*) FROM media_derived WHERE media_id = ?`, photo.ID); n != maxDerivedFiles {
			t.Errorf("an item has %d derived files", n)
		}
		w.sweep(t)
		if got, want := len(w.blobs(t)), 2+maxDerivedFiles; got != want {
			t.Errorf("%d blobs are stored, want %d", got, want)
		}
		w.clock.Advance(derivedLifetime - maxDerivedFiles*time.Second) // the oldest ones have expired
		w.sweep(t)
		w.clock.Advance(time.Hour)
		w.sweep(t)
		if got := w.blobs(t); !slices.Equal(got, blobKeys([]Item{photo})) {
			t.Errorf("expired derived files remain: %v", got)
		}
		w.bytesOf(t, photo, smallJPEG)
		must(t, w.Delete(t.Context(), w.callAs(access.Editor), photo.ID))
		w.sweep(t)
		if got := w.blobs(t); len(got) != 0 {
			t.Errorf("derived files of a deleted item remain: %v", got)
		}
		if _, err := w.makeDerived(t.Context(), photo, w.fitTransform(smallJPEG), ""); err == nil {
			t.Error("a file was derived from a deleted item")
		}
		if n := w.queryInt(t, `SELECT COUNT(*) FROM media_derived`); n != 0 {
			t.Errorf("%d derived files remain", n)
		}
	})
}

func TestDeriveUnchanged(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, w fixture) {
		photo, calls := w.add(t, pngOf(noise(1, 40, 30))), 0
		r := transform{"test", func(context.Context, Item, blob.Reader, io.Writer) (outputInfo, error) {
			calls++
			return outputInfo{}, errUnchanged
		}}
		for range 3 {
			d, opened, err := w.derive(t.Context(), photo, r)
			must(t, err)
			if d.mime != photo.Type || d.size != photo.Size || opened.Size() != photo.Size || d.etag() == "" {
				t.Errorf("%+v", d)
			}
			must(t, opened.Close())
		}
		if calls != 1 {
			t.Errorf("the item was inspected %d times", calls)
		}
		w.checkDerived(t, photo)
	})
}

func TestDeriveFails(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, w fixture) {
		photo := w.add(t, pngOf(noise(1, 40, 30)))
		for _, r := range []transform{
			{"error", func(context.Context, Item, blob.Reader, io.Writer) (outputInfo, error) { return outputInfo{}, errStore }},
			{"panic", func(context.Context, Item, blob.Reader, io.Writer) (outputInfo, error) { panic(errStore) }},
		} {
			if _, _, err := w.derive(t.Context(), photo, r); err == nil || apierr.FromError(err).Code != apierr.Internal {
				t.Errorf("%s: %v", r.variant, err)
			}
		}
		w.checkDerived(t, photo)
		if n := w.queryInt(t, `SELECT COUNT(*) FROM media_pending`); n != 0 {
			t.Errorf("%d files are still pending", n)
		}
	})
}
