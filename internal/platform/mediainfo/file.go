package mediainfo

import (
	"fmt"
	"io"
)

// A file reads at most maxReads windows, 48 MiB in total. A fragmented video needs about one read per box.
const (
	window   = 4096
	maxReads = 12_288
)

var (
	errTruncated    = newDamageError("the file ends too early")
	errTooManyReads = newDamageError("the file is in too many parts")
)

// file reads a file through one small window.
type file struct {
	r    io.ReaderAt
	size int64

	buffer   [window]byte
	start    int64 // offset of the window
	buffered int64 // number of bytes in the window
	reads    int
	err      error // the first error from r
}

// peek returns the n bytes at off. n must be at most window. The bytes are valid until the next call.
func (f *file) peek(off int64, n int) ([]byte, error) {
	if off < 0 || off > f.size-int64(n) {
		return nil, errTruncated
	}
	if off < f.start || off+int64(n) > f.start+f.buffered {
		if err := f.load(off); err != nil {
			return nil, err
		}
	}
	at := off - f.start
	return f.buffer[at : at+int64(n)], nil
}

// ReadAt implements io.ReaderAt for at most window bytes.
func (f *file) ReadAt(p []byte, off int64) (int, error) {
	held, err := f.peek(off, len(p))
	return copy(p, held), err
}

func (f *file) load(off int64) error {
	if f.reads++; f.reads > maxReads {
		return errTooManyReads
	}
	want := min(window, f.size-off)
	n, err := f.r.ReadAt(f.buffer[:want], off)
	if int64(n) < want {
		f.err = err
		return fmt.Errorf("reading the file: %w", err)
	}
	f.start, f.buffered = off, want
	return nil
}
