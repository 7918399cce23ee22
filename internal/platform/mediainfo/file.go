package mediainfo

import (
	"fmt"
	"io"
)

// The bounds of reading: maxReads times window bytes at most, whatever the file says. A fragmented video needs about
// one read for each of its boxes.
const (
	window   = 4096
	maxReads = 12_288
)

var (
	errEnds  = damaged("the file ends too early")
	errSpent = damaged("the file is in too many parts")
)

// file is read through one small window that moves.
type file struct {
	r    io.ReaderAt
	size int64

	buffer [window]byte
	start  int64 // of the window in the file
	held   int64 // bytes in the window
	reads  int
	err    error // the first of r's own; what is made of a file after it is void
}

// peek returns n bytes at off, n at most window. They are good until the next call.
func (f *file) peek(off int64, n int) ([]byte, error) {
	if off < 0 || off > f.size-int64(n) {
		return nil, errEnds
	}
	if off < f.start || off+int64(n) > f.start+f.held {
		if err := f.load(off); err != nil {
			return nil, err
		}
	}
	at := off - f.start
	return f.buffer[at : at+int64(n)], nil
}

// ReadAt implements io.ReaderAt within the bounds of reading; p is at most window bytes.
func (f *file) ReadAt(p []byte, off int64) (int, error) {
	held, err := f.peek(off, len(p))
	return copy(p, held), err
}

func (f *file) load(off int64) error {
	if f.reads++; f.reads > maxReads {
		return errSpent
	}
	want := min(window, f.size-off)
	n, err := f.r.ReadAt(f.buffer[:want], off)
	if int64(n) < want {
		f.err = err
		return fmt.Errorf("reading the file: %w", err)
	}
	f.start, f.held = off, want
	return nil
}
