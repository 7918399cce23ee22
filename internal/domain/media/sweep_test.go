package media

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"pressroom.example/pressroom/internal/platform/blob"
	"pressroom.example/pressroom/internal/platform/db"
)

// pendingUpload is an upload with stored bytes but without an item.
type pendingUpload struct {
	item  Item
	at    time.Time
	swept bool
}

// begin stores a file's bytes like an upload that is interrupted before its item is written.
func (w fixture) begin(t fatal, file []byte) pendingUpload {
	t.Helper()
	staged, err := w.receive(t.Context(), w.team, uploader{},
		Incoming{Size: int64(len(file)), Body: bytes.NewReader(file)}, sizeLimit{int64(len(file)), errTooLarge})
	must(t, err)
	defer staged.Discard()
	e, err := w.inspect(t.Context(), staged)
	must(t, err)
	i, err := w.put(t.Context(), e, placement{owner: Owner{TeamID: w.team}})
	must(t, err)
	return pendingUpload{item: i, at: w.clock.Now()}
}

// end writes the item.
func (w fixture) end(t fatal, a pendingUpload) error {
	t.Helper()
	_, _, err := w.commit(t.Context(), a.item, placement{owner: Owner{TeamID: w.team},
		onAdded: func(context.Context, *db.Tx, Item, bool) error {
			return nil
		}})
	return err
}

func (w fixture) sweep(t fatal) int64 {
	t.Helper()
	n, err := w.Sweep(t.Context())
	must(t, err)
	return n
}

func TestSweepOrphans(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, w fixture) {
		kept := w.add(t, pngOf(noise(1, 20, 20)))
		b := w.open(t, pngOf(noise(2, 20, 20)))
		l := b.Upload.Uploads[0]
		link, err := w.Link(t.Context(), l.URL[len("http://press.example"+LinkPath):],
			strings.TrimPrefix(l.Headers["Authorization"], "Bearer "))
		must(t, err)
		blobs := w.Blobs
		w.Blobs = closingStore{blobs, w.db}
		_, err = w.Receive(t.Context(), link, Incoming{Type: "image/png", Size: -1, Body: bytes.NewReader(pngOf(noise(2, 20, 20)))})
		if err == nil {
			t.Fatal("a file was accepted without a database")
		}
		w.Service = instance(t, w.url, w.clock, blobs)
		if n := len(w.blobs(t)); n != 4 || w.sweep(t) != 0 {
			t.Fatalf("new blobs were swept; %d are stored", n)
		}
		w.clock.Advance(OrphanGracePeriod)
		if w.sweep(t) != 0 {
			t.Error("bytes were swept within the grace period")
		}
		w.clock.Advance(time.Microsecond)
		if w.sweep(t) != 1 || w.sweep(t) != 0 {
			t.Error("bytes were not swept after the grace period")
		}
		if diff := cmp.Diff(blobKeys([]Item{kept}), w.blobs(t)); diff != "" {
			t.Error(diff)
		}
		w.checkConsistent(t)
	})
}

// closingStore is a store that closes the database once a thumbnail is stored.
type closingStore struct {
	blob.Store

	db *db.DB
}

func (c closingStore) Put(ctx context.Context, key string, s *blob.Staged) error {
	err := c.Store.Put(ctx, key, s)
	if strings.HasSuffix(key, thumbnailSuffix) {
		err = errors.Join(err, c.db.Close())
	}
	return err
}

// failingStore is a store that fails for some keys.
type failingStore struct {
	blob.Store

	puts, deletes string // suffixes of keys
}

var errStore = errors.New("the store does not answer")

func (f failingStore) Put(ctx context.Context, key string, s *blob.Staged) error {
	if strings.HasSuffix(key, f.puts) {
		return errStore
	}
	return f.Store.Put(ctx, key, s)
}

func (f failingStore) Delete(ctx context.Context, key string) error {
	if strings.HasSuffix(key, f.deletes) {
		return errStore
	}
	return f.Store.Delete(ctx, key)
}

func TestStoreFails(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, w fixture) {
		whole, file := w.Blobs, pngOf(noise(1, 20, 20))
		link := w.open(t, file).Upload.Uploads[0]
		for n, broken := range []failingStore{{whole, "", "none"}, {whole, thumbnailSuffix, "none"}, {whole, thumbnailSuffix, ""}} {
			w.Blobs = broken
			if _, err := send(t.Context(), w.Service, link, bytes.NewReader(file)); !errors.Is(err, errStore) {
				t.Errorf("%d: %v", n, err)
			}
		}
		w.Blobs = whole
		if n := len(w.blobs(t)); n != 1 || w.sweep(t) != 1 {
			t.Errorf("%d blobs to delete were not swept", n)
		}
		if _, err := send(t.Context(), w.Service, link, bytes.NewReader(file)); err != nil {
			t.Error(err)
		}
		w.checkConsistent(t)
	})
}

func TestSweepSkipsUndeletable(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, w fixture) {
		whole := w.Blobs
		for n := range 5 {
			w.begin(t, pngOf(noise(uint64(n), 20, 20)))
			w.clock.Advance(time.Second)
		}
		w.clock.Advance(OrphanGracePeriod)
		stuck := w.pending(t)[:4]
		w.Blobs = undeletableStore{whole, stuck}
		for range 2 {
			if _, err := w.Sweep(t.Context()); !errors.Is(err, errStore) {
				t.Error(err)
			}
		}
		if left := w.pending(t); len(left) != 4 || slices.ContainsFunc(left, func(key string) bool {
			return !slices.Contains(stuck, key)
		}) {
			t.Errorf("%d blobs remain: %v, want %v", len(left), left, stuck)
		}
		w.Blobs = whole
		w.sweep(t)
		w.checkConsistent(t)
	})
}

// undeletableStore is a store that fails to delete some files.
type undeletableStore struct {
	blob.Store

	keeps []string
}

func (s undeletableStore) Delete(ctx context.Context, key string) error {
	if slices.Contains(s.keeps, key) {
		return errStore
	}
	return s.Store.Delete(ctx, key)
}

// pending returns the recorded bytes without an item, oldest first.
func (w fixture) pending(t *testing.T) []string {
	t.Helper()
	keys, err := db.All(t.Context(), w.db, func(rows *sql.Rows, key *string) error {
		return rows.Scan(key)
	}, `SELECT blob FROM media_pending ORDER BY created_at`)
	must(t, err)
	return keys
}

// TestSweptBytesGetNoItem checks that bytes that are being swept get no item, even if the sweep was interrupted.
func TestSweptBytesGetNoItem(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, w fixture) {
		whole, late := w.Blobs, w.begin(t, pngOf(noise(1, 20, 20)))
		w.clock.Advance(OrphanGracePeriod + time.Second)
		w.Blobs = failingStore{whole, "none", thumbnailSuffix}
		if _, err := w.Sweep(t.Context()); !errors.Is(err, errStore) {
			t.Error(err)
		}
		if w.end(t, late) == nil {
			t.Error("an item was created for deleted bytes")
		}
		w.Blobs = whole
		w.sweep(t)
		w.checkConsistent(t)
	})
}

// TestSweepNeverDeletesUsedBytes interleaves uploads, sweeps and time. Bytes with an item are kept. Bytes without an
// item for a day are deleted.
func TestSweepNeverDeletesUsedBytes(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, w fixture) {
		rapid.Check(t, func(t *rapid.T) {
			m := &arrivals{fixture: w.newTeam(t)}
			t.Repeat(map[string]func(*rapid.T){
				"arrive": m.arrive, "begin": m.begin, "end": m.end, "wait": m.wait, "sweep": m.sweep, "": m.compare,
			})
			m.clock.Advance(OrphanGracePeriod + time.Second)
			m.sweep(t)
			m.checkConsistent(t)
		})
	})
}

// arrivals is the state of the property test: running uploads and the effects of sweeps on them.
type arrivals struct {
	fixture

	under []*pendingUpload
}

func (m *arrivals) file(t *rapid.T) []byte {
	return pngOf(noise(rapid.Uint64Range(1, 4).Draw(t, "file"), 3, 3))
}

func (m *arrivals) arrive(t *rapid.T) {
	_, err := m.Add(t.Context(), Owner{TeamID: m.team}, Incoming{Size: -1, Body: bytes.NewReader(m.file(t))})
	must(t, err)
}

func (m *arrivals) begin(t *rapid.T) {
	a := m.fixture.begin(t, m.file(t))
	m.under = append(m.under, &a)
}

func (m *arrivals) end(t *rapid.T) {
	if len(m.under) == 0 {
		t.Skip("no upload is running")
	}
	n := rapid.IntRange(0, len(m.under)-1).Draw(t, "which")
	a := m.under[n]
	m.under = slices.Delete(m.under, n, n+1)
	_, there, err := findByDigest(t.Context(), m.db, m.team, a.item.SHA256)
	must(t, err)
	if err := m.fixture.end(t, *a); (err != nil) != (a.swept && !there) {
		t.Fatalf("swept: %t, already present: %t, added: %v", a.swept, there, err)
	}
}

func (m *arrivals) wait(t *rapid.T) {
	m.clock.Advance(time.Duration(rapid.IntRange(1, 30).Draw(t, "hours")) * time.Hour)
}

func (m *arrivals) sweep(t *rapid.T) {
	m.fixture.sweep(t)
	for _, a := range m.under {
		a.swept = a.swept || m.clock.Now().Sub(a.at) > OrphanGracePeriod
	}
}

func (m *arrivals) compare(t *rapid.T) {
	want := blobKeys(m.items(t))
	for _, a := range m.under {
		if !a.swept {
			want = append(want, a.item.Blob, a.item.Thumbnail)
		}
	}
	slices.Sort(want)
	if diff := cmp.Diff(want, m.blobs(t)); diff != "" {
		t.Fatalf("(-wanted +stored)\n%s", diff)
	}
}

func TestAuditFindsDamage(t *testing.T) {
	damage := map[string]struct {
		do   func(t *testing.T, w fixture, i Item, bytes string)
		want []Finding
	}{
		"none": {func(*testing.T, fixture, Item, string) {}, []Finding{}},
		"bytes removed": {func(t *testing.T, w fixture, i Item, _ string) {
			must(t, w.Blobs.Delete(t.Context(), i.Blob))
		}, []Finding{{Rule: "no_bytes"}}},
		"thumbnail removed": {func(t *testing.T, w fixture, i Item, _ string) {
			must(t, w.Blobs.Delete(t.Context(), i.Thumbnail))
		}, []Finding{{Rule: "no_bytes"}}},
		"truncated": {func(t *testing.T, _ fixture, i Item, path string) {
			must(t, os.Truncate(path, i.Size-1))
		}, []Finding{{Rule: "other_size"}}},
		"another file":       {func(t *testing.T, _ fixture, _ Item, path string) { write(t, path+".copy") }, []Finding{{Rule: "no_item"}}},
		"another young file": {func(t *testing.T, w fixture, _ Item, path string) { young(t, w, path+".copy") }, []Finding{}},
		"storage": {func(t *testing.T, w fixture, _ Item, _ string) {
			w.exec(t, `UPDATE storage SET used_bytes = used_bytes + 1 WHERE team_id = ?`, w.team)
		}, []Finding{{Rule: "storage"}}},
		"no storage": {func(t *testing.T, w fixture, _ Item, _ string) {
			w.exec(t, `DELETE FROM storage WHERE team_id = ?`, w.team)
		}, []Finding{{Rule: "storage"}}},
		"no item": {func(t *testing.T, w fixture, i Item, _ string) { w.exec(t, `DELETE FROM media WHERE id = ?`, i.ID) },
			[]Finding{{Rule: "no_item"}, {Rule: "no_item"}, {Rule: "storage"}}},
	}
	forEachDatabase(t, func(t *testing.T, w fixture) {
		for name, c := range damage {
			w := w.newTeam(t)
			w.Blobs = openBlobs(t, "file:"+filepath.Join(w.folder, name), blob.Credentials{})
			i := w.add(t, pngOf(noise(1, 20, 20)))
			c.do(t, w, i, filepath.Join(w.folder, name, i.Blob))
			found, err := w.Audit(t.Context())
			must(t, err)
			got := []Finding{}
			for _, f := range found {
				if f.Team == w.team || strings.HasPrefix(f.Blob, i.Blob) {
					got = append(got, Finding{Rule: f.Rule})
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s (-wanted +found)\n%s", name, diff)
			}
			w.exec(t, `DELETE FROM media`) // each case has its own store
			w.exec(t, `DELETE FROM storage`)
		}
	})
}

func write(t *testing.T, path string) {
	t.Helper()
	must(t, os.WriteFile(path, []byte("bytes"), 0o600))
}

func young(t *testing.T, w fixture, path string) {
	t.Helper()
	write(t, path)
	at := w.clock.Now().Add(time.Second - OrphanGracePeriod)
	must(t, os.Chtimes(path, at, at))
}

func TestAuditDuringUploads(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, w fixture) {
		w.add(t, film(1, 10))
		whole := w.Blobs
		w.Blobs = listHookStore{whole, func() { w.add(t, film(2, 10)) }}
		found, err := w.Audit(t.Context())
		if err != nil || len(found) > 0 || len(w.items(t)) != 2 {
			t.Errorf("%+v, %v", found, err)
		}
		r, err := whole.Open(t.Context(), w.items(t)[1].Blob)
		must(t, err)
		if _, err := io.Copy(io.Discard, r); err != nil || r.Close() != nil {
			t.Error(err)
		}
	})
}

// listHookStore is a store that runs a function after listing.
type listHookStore struct {
	blob.Store

	do func()
}

func (m listHookStore) Each(ctx context.Context, prefix string, yield func(blob.Info) error) error {
	err := m.Store.Each(ctx, prefix, yield)
	m.do()
	return err
}
