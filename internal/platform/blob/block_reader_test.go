package blob

import (
	"bytes"
	"testing"
	"testing/iotest"
)

// memory is a blob in memory.
type memory struct{ *bytes.Reader }

func (memory) Close() error { return nil }

func TestBlockReader(t *testing.T) {
	t.Parallel()
	for _, size := range []int{1, blockSize - 1, blockSize, blockSize + 1, 11*blockSize + 5} {
		file := bytes.Repeat([]byte("0123456789abcde"), size/15+1)[:size]
		b := NewBlockReader(memory{bytes.NewReader(file)})
		for _, off := range []int{0, 10 * blockSize, 3, 9*blockSize - 7, blockSize - 1, 2 * blockSize, 5} {
			got, want := make([]byte, 100), file[min(off, size):min(off+100, size)]
			if n, err := b.ReadAt(got, int64(off)); !bytes.Equal(got[:n], want) || (err != nil) != (n < 100) {
				t.Errorf("at %d of %d bytes: %q (%v)", off, size, got[:n], err)
			}
		}
		if err := iotest.TestReader(&sequential{b: b}, file); size < 2*blockSize && err != nil {
			t.Error(err)
		}
		if len(b.cached) > cachedBlocks {
			t.Errorf("%d blocks are cached", len(b.cached))
		}
	}
}

// sequential reads blocks, starting with the first byte.
type sequential struct {
	b  *BlockReader
	at int64
}

func (s *sequential) Read(p []byte) (int, error) {
	n, err := s.b.ReadAt(p, s.at)
	s.at += int64(n)
	return n, err
}
