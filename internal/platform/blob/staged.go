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

// bufferSize is the number of bytes that are hashed and written at a time. It fits into the cache of a CPU core, and is
// large enough to justify a goroutine for hashing.
const bufferSize = 256 << 10

var buffers = sync.Pool{New: func() any { return new([bufferSize]byte) }}

// errConsumed means that a staged file can no longer be used, because it was put or discarded.
var errConsumed = errors.New("the staged file was already put or discarded")

// Staged is a file that is being received. The file is on disk. If the system supports unnamed files, the file has no
// name, and the system removes it even if the process is killed. A Staged uses at most two buffers of 256 KiB. Only one
// goroutine may write to it, but several may read.
type Staged struct {
	mu     sync.Mutex
	file   *os.File
	name   string       // path in the store's folder; empty for an unnamed file
	remove func() error // removes the name of the file
	size   int64        // bytes written, including those in the buffer
	filled int          // bytes of the buffer in use
	err    error        // the first error, which all later calls return

	buffer, other *[bufferSize]byte // the buffer that is being filled and the one being hashed; nil until needed
	sum           hash.Hash
	hashing       chan struct{} // full while a goroutine hashes the other buffer
}

func newStaged(file *os.File) *Staged {
	return &Staged{file: file, sum: sha256.New(), hashing: make(chan struct{}, 1)}
}

// Write appends p to the file.
func (s *Staged) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	written := 0
	for written < len(p) {
		space, err := s.freeSpace()
		if err != nil {
			return written, err
		}
		n := copy(space, p[written:])
		written += n
		s.advance(n)
	}
	return written, s.err
}

// ReadFrom appends all bytes from r to the file. It reads directly into the buffer.
func (s *Staged) ReadFrom(r io.Reader) (int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	total := int64(0)
	for emptyReads := 0; emptyReads < 100; {
		space, err := s.freeSpace()
		if err != nil {
			return total, err
		}
		n, err := r.Read(space)
		emptyReads++
		if n > 0 {
			emptyReads = 0
		}
		total += int64(n)
		s.advance(n)
		if errors.Is(err, io.EOF) {
			return total, s.err
		}
		if err != nil {
			return total, err //nolint:wrapcheck // the caller provides the reader
		}
	}
	return total, io.ErrNoProgress
}

// Size returns the number of bytes written.
func (s *Staged) Size() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.size
}

// Sum returns the SHA-256 of the bytes written.
func (s *Staged) Sum() [sha256.Size]byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.flush() // Put returns the error
	s.waitForHash()
	return [sha256.Size]byte(s.sum.Sum(nil))
}

// ReadAt reads bytes that were written to the file.
func (s *Staged) ReadAt(p []byte, off int64) (int, error) {
	s.mu.Lock()
	s.flush()
	file, err := s.file, s.err
	s.mu.Unlock()
	if err != nil {
		return 0, err
	}
	return file.ReadAt(p, off) //nolint:wrapcheck // io.EOF must not be wrapped
}

// Discard removes the file unless it was put. It may be called more than once, and after Put.
func (s *Staged) Discard() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file == nil {
		return
	}
	s.waitForHash()
	for _, b := range []*[bufferSize]byte{s.buffer, s.other} {
		if b != nil {
			buffers.Put(b)
		}
	}
	s.filled = 0
	s.buffer, s.other = nil, nil
	_ = s.file.Close() // Put has already synced the file
	if s.remove != nil {
		_ = s.remove() // prepare removes remaining files
	}
	s.file = nil
	if s.err == nil {
		s.err = errConsumed
	}
}

// freeSpace returns the unused part of the buffer. The part has at least one byte.
func (s *Staged) freeSpace() ([]byte, error) {
	if s.err != nil {
		return nil, s.err
	}
	if s.buffer == nil {
		s.buffer = buffers.Get().(*[bufferSize]byte) //nolint:forcetypeassert // the pool holds nothing else
	}
	return s.buffer[s.filled:], nil
}

// advance counts n bytes that were added to the buffer, and flushes a full buffer.
func (s *Staged) advance(n int) {
	s.filled += n
	s.size += int64(n)
	if s.filled == bufferSize {
		s.flush()
	}
}

// flush writes the buffer and hashes it at the same time. A new goroutine hashes each buffer and then ends, so an
// abandoned file does not leak a goroutine.
func (s *Staged) flush() {
	if s.err != nil || s.filled == 0 {
		return
	}
	s.waitForHash()
	data := s.buffer[:s.filled]
	s.buffer, s.other, s.filled = s.other, s.buffer, 0
	s.hashing <- struct{}{}
	go func() {
		s.sum.Write(data)
		<-s.hashing
	}()
	if _, err := s.file.Write(data); err != nil {
		s.err = fmt.Errorf("writing the staged file: %w", err)
	}
}

// waitForHash waits until no buffer is being hashed.
func (s *Staged) waitForHash() {
	s.hashing <- struct{}{}
	<-s.hashing
}

// finish writes the remaining buffer and returns the file and its size.
func (s *Staged) finish() (*os.File, int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.flush()
	return s.file, s.size, s.err
}
