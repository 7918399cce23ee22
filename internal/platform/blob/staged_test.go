package blob

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"hash"
	"io"
	"os"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"

	"golang.org/x/sync/errgroup"
	"pgregory.net/rapid"

	"pressroom.example/pressroom/internal/testkit/must"
)

// A staged file has the bytes of all writes of any size, even while it is being written.
func TestStaged(t *testing.T) {
	t.Parallel()
	store := newFolder(t)
	source := noise(2 * bufferSize)
	sizes := rapid.OneOf(rapid.IntRange(0, 100), rapid.IntRange(bufferSize-1, bufferSize+1), rapid.IntRange(0, len(source)))
	rapid.Check(t, func(t *rapid.T) {
		staged := must.Get(store.Stage(t.Context()))(t)
		defer staged.Discard()
		var want []byte
		for _, size := range rapid.SliceOfN(sizes, 0, 5).Draw(t, "sizes") {
			write := staged.Write
			if rapid.Bool().Draw(t, "from a reader") {
				write = func(p []byte) (int, error) {
					n, err := io.Copy(staged, onlyReader{bytes.NewReader(p)})
					return int(n), err
				}
			}
			if n, err := write(source[:size]); n != size || err != nil {
				t.Fatalf("%d of %d bytes were taken: %v", n, size, err)
			}
			want = append(want, source[:size]...)
			if rapid.Bool().Draw(t, "look") {
				compare(t, staged, want)
			}
		}
		compare(t, staged, want)
	})
}

func compare(t *rapid.T, staged *Staged, want []byte) {
	if staged.Size() != int64(len(want)) || staged.Sum() != sha256.Sum256(want) {
		t.Fatalf("%d bytes of %x, want %d of %x", staged.Size(), staged.Sum(), len(want), sha256.Sum256(want))
	}
	got, err := io.ReadAll(io.NewSectionReader(staged, 0, staged.Size()+1))
	if err != nil || !bytes.Equal(got, want) {
		t.Fatalf("the content differs: %d bytes of %d, %v", len(got), len(want), err)
	}
}

// onlyReader hides the WriteTo method of its reader.
type onlyReader struct{ io.Reader }

func TestStagedConcurrentReads(t *testing.T) {
	t.Parallel()
	content := noise(bufferSize + 100)
	staged := stage(t, newFolder(t), content)
	var group errgroup.Group
	for range 8 {
		group.Go(func() error { return iotest.TestReader(io.NewSectionReader(staged, 0, int64(len(content))), content) })
	}
	if err := group.Wait(); err != nil {
		t.Error(err)
	}
}

func TestStagedErrors(t *testing.T) {
	t.Parallel()
	store := newFolder(t)
	staged := stage(t, store, []byte("Ada"))
	broken := errors.New("connection lost")
	if n, err := staged.ReadFrom(io.MultiReader(strings.NewReader("Bea"), iotest.ErrReader(broken))); n != 3 || !errors.Is(err, broken) {
		t.Errorf("it took %d bytes, %v", n, err)
	}
	if _, err := staged.ReadFrom(idle{}); !errors.Is(err, io.ErrNoProgress) {
		t.Errorf("a reader that returns nothing: %v", err)
	}
	staged.file.Close() // now all writes fail, as on a full disk
	if _, err := staged.Write(noise(2 * bufferSize)); !errors.Is(err, os.ErrClosed) {
		t.Errorf("writing: %v", err)
	}
	if err := store.Put(t.Context(), key, staged); !errors.Is(err, os.ErrClosed) {
		t.Errorf("putting: %v", err)
	}
	staged.Discard()
	if _, err := staged.ReadAt(make([]byte, 1), 0); err == nil {
		t.Error("reading after Discard succeeds")
	}
}

type idle struct{}

func (idle) Read([]byte) (int, error) { return 0, nil }

// Abandoned files leak no goroutines. The synctest bubble ends only when all its goroutines have ended.
func TestStagedLeaksNoGoroutine(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := newFolder(t)
		staged := must.Get(store.Stage(t.Context()))(t)
		must.Get(staged.Write(noise(3*bufferSize + 1)))(t)
		must.Get(store.Stage(t.Context()))(t)
		stage(t, store, noise(3*bufferSize+1)).Discard()
	})
}

const benchSize = 256 << 20

// BenchmarkStage compares staging a file with a plain loop that copies and hashes it.
func BenchmarkStage(b *testing.B) {
	store := must.Get(openFolder(b.Context(), b.TempDir(), Options{}))(b)
	source := &repeat{block: noise(1 << 20)}
	b.Run("staged", func(b *testing.B) {
		b.SetBytes(benchSize)
		b.ReportAllocs()
		for b.Loop() {
			s := must.Get(store.Stage(b.Context()))(b)
			must.Get(io.Copy(s, io.LimitReader(source, benchSize)))(b)
			s.Sum()
			s.Discard()
		}
	})
	b.Run("bare loop", func(b *testing.B) {
		b.SetBytes(benchSize)
		buffer := make([]byte, bufferSize)
		for b.Loop() {
			file := must.Get(os.CreateTemp(b.TempDir(), ""))(b)
			must.NoError(b, bareLoop(file, sha256.New(), io.LimitReader(source, benchSize), buffer))
			file.Close()
			os.Remove(file.Name())
		}
	})
}

func bareLoop(file io.Writer, sum hash.Hash, from io.Reader, buffer []byte) error {
	for {
		n, err := from.Read(buffer)
		sum.Write(buffer[:n])
		if _, err := file.Write(buffer[:n]); err != nil {
			return err
		}
		if errors.Is(err, io.EOF) {
			sum.Sum(nil)
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// repeat reads the same block forever.
type repeat struct {
	block []byte
	at    int
}

func (r *repeat) Read(p []byte) (int, error) {
	n := copy(p, r.block[r.at:])
	r.at = (r.at + n) % len(r.block)
	return n, nil
}
