package stripmeta

import (
	"bytes"
	"io"
)

// window is the size in bytes of the part of a file that is kept in memory.
const window = 16 << 10

// source is a file that is read through one small window.
type source struct {
	r    io.ReaderAt
	size int64

	buffer          [window]byte
	start, buffered int64 // offset of the window in the file, and number of bytes in the window
	err             error // the last read error from r; errors about a damaged file are not stored
}

// peek returns the n bytes at off. n must be at most window. The bytes are valid until the next call.
func (s *source) peek(off int64, n int) ([]byte, error) {
	if off < 0 || off > s.size-int64(n) {
		return nil, errTruncated
	}
	if off < s.start || off+int64(n) > s.start+s.buffered {
		if err := s.load(off); err != nil {
			return nil, err
		}
	}
	return s.buffer[off-s.start:][:n], nil
}

// rest returns the bytes from off to the end of the window. If necessary, it loads another window, so that it returns
// at least one byte. The bytes are valid until the next call.
func (s *source) rest(off int64) ([]byte, error) {
	if _, err := s.peek(off, 1); err != nil {
		return nil, err
	}
	return s.buffer[off-s.start : s.buffered], nil
}

func (s *source) load(off int64) error {
	want := min(window, s.size-off)
	n, err := s.r.ReadAt(s.buffer[:want], off)
	if int64(n) < want {
		s.start, s.buffered, s.err = 0, 0, err
		return err //nolint:wrapcheck // Scan wraps the error
	}
	s.start, s.buffered = off, want
	return nil
}

// read appends n bytes of the file at off to p.
func (s *source) read(p []byte, off, n int64) ([]byte, error) {
	for end := off + n; off < end; {
		chunk, err := s.rest(off)
		if err != nil {
			return nil, err
		}
		chunk = chunk[:min(int64(len(chunk)), end-off)]
		p = append(p, chunk...)
		off += int64(len(chunk))
	}
	return p, nil
}

// ReadAt implements io.ReaderAt for at most window bytes.
func (s *source) ReadAt(p []byte, off int64) (int, error) {
	held, err := s.peek(off, len(p))
	return copy(p, held), err
}

// has reports whether the file contains want at off.
func (s *source) has(off int64, want []byte) (bool, error) {
	if off+int64(len(want)) > s.size {
		return false, nil
	}
	p, err := s.peek(off, len(want))
	return bytes.Equal(p, want), err
}

// isFilledWith reports whether every byte from at to end equals value.
func (s *source) isFilledWith(value byte, at, end int64) (bool, error) {
	for at < end {
		p, err := s.rest(at)
		if err != nil {
			return false, err
		}
		p = p[:min(int64(len(p)), end-at)]
		if bytes.Count(p, []byte{value}) != len(p) {
			return false, nil
		}
		at += int64(len(p))
	}
	return true, nil
}
