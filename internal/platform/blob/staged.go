package blob

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"sync"
)

// bufferSize is how much is hashed, and at the same time written, at once: little enough to stay in a core's cache,
// enough for the goroutine not to count.
const bufferSize = 256 << 10

var buffers = sync.Pool{New: func() any { return new([bufferSize]byte) }}

// errUsedUp says that a file was put or discarded already.
var errUsedUp = errors.New("the staged file was used up")

// Staged is a file being received, on disk and without a name wherever the system can do that, so that the system takes
// it away however the process ends. It holds two buffers of 256 KiB at most. Writing is for one goroutine; what was
// written may be read by several.
type Staged struct {
	mu     sync.Mutex
	file   *os.File
	name   string       // in the store's folder, empty where it has none
	remove func() error // takes the name away
	size   int64        // with what is in the buffer
	filled int          // bytes of the buffer in use
	err    error        // the first one, for all that comes after it

	buffer, other *[bufferSize]byte // the one being filled, and the one being hashed; nil until needed
	sum           hash.Hash
	hashing       chan struct{} // full while the other buffer is being hashed
}

func newStaged(file *os.File) *Staged {
	return &Staged{file: file, sum: sha256.New(), hashing: make(chan struct{}, 1)}
}

// Write adds to the file.
func (s *Staged) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	taken := 0
	for taken < len(p) {
		room, err := s.room()
		if err != nil {
			return taken, err
		}
		n := copy(room, p[taken:])
		taken += n
		s.took(n)
	}
	return taken, s.err
}

// ReadFrom adds everything that a reader gives, without copying it once more.
func (s *Staged) ReadFrom(r io.Reader) (int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	taken := int64(0)
	for idle := 0; idle < 100; {
		room, err := s.room()
		if err != nil {
			return taken, err
		}
		n, err := r.Read(room)
		idle++
		if n > 0 {
			idle = 0
		}
		taken += int64(n)
		s.took(n)
		if errors.Is(err, io.EOF) {
			return taken, s.err
		}
		if err != nil {
			return taken, err //nolint:wrapcheck // the reader is the caller's
		}
	}
	return taken, io.ErrNoProgress
}

// Size is how much was written, in bytes.
func (s *Staged) Size() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.size
}

// Sum is the SHA-256 of what was written.
func (s *Staged) Sum() [sha256.Size]byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.flush() // an error stays, for Put
	s.hashed()
	return [sha256.Size]byte(s.sum.Sum(nil))
}

// ReadAt reads what was written.
func (s *Staged) ReadAt(p []byte, off int64) (int, error) {
	s.mu.Lock()
	s.flush()
	file, err := s.file, s.err
	s.mu.Unlock()
	if err != nil {
		return 0, err
	}
	return file.ReadAt(p, off) //nolint:wrapcheck // io.EOF has to stay itself, and the rest names the file
}

// Discard ends the file, if it was not put. It may be called again, and after Put.
func (s *Staged) Discard() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file == nil {
		return
	}
	s.hashed()
	for _, b := range []*[bufferSize]byte{s.buffer, s.other} {
		if b != nil {
			buffers.Put(b)
		}
	}
	s.filled = 0
	s.buffer, s.other = nil, nil
	_ = s.file.Close() // nothing of it is wanted; what was put was synced before
	if s.remove != nil {
		_ = s.remove() // Open takes away what stays
	}
	s.file = nil
	if s.err == nil {
		s.err = errUsedUp
	}
}

// room is where the next bytes go, never empty.
func (s *Staged) room() ([]byte, error) {
	if s.err != nil {
		return nil, s.err
	}
	if s.buffer == nil {
		s.buffer = buffers.Get().(*[bufferSize]byte) //nolint:forcetypeassert // the pool holds nothing else
	}
	return s.buffer[s.filled:], nil
}

// took counts what was put into the room, and passes a full buffer on.
func (s *Staged) took(n int) {
	s.filled += n
	s.size += int64(n)
	if s.filled == bufferSize {
		s.flush()
	}
}

// flush hashes and writes the buffer, both at once. The goroutine ends with its buffer, so that a file nobody goes on
// with holds none.
func (s *Staged) flush() {
	if s.err != nil || s.filled == 0 {
		return
	}
	s.hashed()
	full := s.buffer[:s.filled]
	s.buffer, s.other, s.filled = s.other, s.buffer, 0
	s.hashing <- struct{}{}
	go func() {
		s.sum.Write(full)
		<-s.hashing
	}()
	if _, err := s.file.Write(full); err != nil {
		s.err = fmt.Errorf("writing the staged file: %w", err)
	}
}

// hashed waits until no buffer is being hashed.
func (s *Staged) hashed() {
	s.hashing <- struct{}{}
	<-s.hashing
}

// finish writes what is left and gives the file to be put.
func (s *Staged) finish() (*os.File, int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.flush()
	return s.file, s.size, s.err
}
