package mediainfo

import (
	"encoding/binary"
	"io"
	"math"
)

// maxBoxes is the maximum number of boxes in a video. A fragment has about eight.
const maxBoxes = 10_000

var (
	errBrokenBox    = newDamageError("the video's structure is broken")
	errIncomplete   = newDamageError("the video is incomplete")
	errTooManyBoxes = newDamageError("the video is in too many parts")
)

// Box is a box in a file (ISO/IEC 14496-12, 4.2).
type Box struct {
	Kind    string // four characters
	Start   int64  // offset of the header
	Content int64  // offset of the content
	End     int64
}

// NextBox returns the box at the offset at in r. end is the end of the file or of the enclosing box. The error matches
// ErrDamaged or is an error from r.
func NextBox(r io.ReaderAt, at, end int64) (Box, error) {
	if end-at < 8 {
		return Box{}, errBrokenBox
	}
	var p [16]byte
	if _, err := r.ReadAt(p[:8], at); err != nil {
		return Box{}, err //nolint:wrapcheck // the caller wraps the error
	}
	kind, size, header := string(p[4:8]), uint64(binary.BigEndian.Uint32(p[:])), int64(8)
	switch size {
	case 0: // the box extends to the end
		size = uint64(end - at) //nolint:gosec // at least 8
	case 1: // a 64-bit size follows the type
		header = 16
		if end-at < header {
			return Box{}, errIncomplete
		}
		if _, err := r.ReadAt(p[8:], at+8); err != nil {
			return Box{}, err //nolint:wrapcheck // as above
		}
		size = binary.BigEndian.Uint64(p[8:])
	}
	if size > math.MaxInt64 || int64(size) < header {
		return Box{}, errBrokenBox
	}
	if int64(size) > end-at {
		return Box{}, errIncomplete
	}
	return Box{Kind: kind, Start: at, Content: at + header, End: at + int64(size)}, nil
}

// boxRange is a box type and the range of its content.
type boxRange struct {
	kind    string
	at, end int64 // range of the content in the file
}

// size returns the size of the content.
func (b boxRange) size() int64 { return b.end - b.at }

// boxes reads boxes. The code determines the nesting depth, so a file cannot cause deep recursion.
type boxes struct {
	*file

	seen int
}

// each calls visit for the boxes between at and end. It ignores trailing bytes that are too short for a header, because
// QuickTime ends some lists with four zero bytes.
func (b *boxes) each(at, end int64, visit func(boxRange) error) error {
	for end-at >= 8 {
		next, err := b.next(at, end)
		if err != nil {
			return err
		}
		if err := visit(next); err != nil {
			return err
		}
		at = next.end
	}
	return nil
}

func (b *boxes) next(at, end int64) (boxRange, error) {
	if b.seen++; b.seen > maxBoxes {
		return boxRange{}, errTooManyBoxes
	}
	next, err := NextBox(b.file, at, end)
	return boxRange{kind: next.Kind, at: next.Content, end: next.End}, err
}

// content returns n bytes of a box's content at off.
func (b *boxes) content(in boxRange, off int64, n int) ([]byte, error) {
	if off+int64(n) > in.size() {
		return nil, errBrokenBox
	}
	return b.peek(in.at+off, n)
}

// fullBox returns the first n bytes of a full box's content, and reports whether its version is 1. In version 1,
// wideFields of its fields have eight bytes instead of four, and fullBox returns 4*wideFields more bytes.
func (b *boxes) fullBox(in boxRange, n, wideFields int) ([]byte, bool, error) {
	p, err := b.content(in, 0, 4)
	if err != nil {
		return nil, false, err
	}
	long := p[0] == 1
	if long {
		n += 4 * wideFields
	}
	p, err = b.content(in, 0, n)
	return p, long, err
}

// table calls visit for each entry of a table that starts at off in a box's content. The table has count entries of
// stride bytes each.
func (b *boxes) table(in boxRange, off int64, count uint32, stride int, visit func([]byte)) error {
	if off+int64(count)*int64(stride) > in.size() {
		return errBrokenBox
	}
	for range count {
		p, err := b.peek(in.at+off, stride)
		if err != nil {
			return err
		}
		visit(p)
		off += int64(stride)
	}
	return nil
}
