package stripmeta

import (
	"cmp"
	"io"
	"slices"
)

// maxEdits is the maximum number of edits. An edit needs about 50 bytes of memory.
const maxEdits = 1 << 18

// Edits are the changes that remove the metadata from a file.
type Edits struct {
	inputSize int64 // size of the file in bytes
	list      []edit
}

// edit replaces the bytes from at to end.
type edit struct {
	at, end     int64
	zeros       bool   // whether to replace the bytes with zeros
	replacement []byte // used if zeros is false
}

func (e edit) size() int64 {
	if e.zeros {
		return e.end - e.at
	}
	return int64(len(e.replacement))
}

// Empty reports whether the file has no metadata.
func (e *Edits) Empty() bool { return len(e.list) == 0 }

// Apply returns a reader for the file r, which was scanned, without its metadata.
func (e *Edits) Apply(r io.ReaderAt) *io.SectionReader {
	v := &view{r: r}
	at := int64(0)
	for _, change := range e.list {
		v.add(piece{sourceOffset: at, size: change.at - at})
		v.add(piece{zeros: change.zeros, replacement: change.replacement, size: change.size()})
		at = change.end
	}
	v.add(piece{sourceOffset: at, size: e.inputSize - at})
	return io.NewSectionReader(v, 0, v.size)
}

// replace replaces the bytes from at to end, or removes them if with is empty.
func (e *Edits) replace(at, end int64, with []byte) error {
	return e.add(edit{at: at, end: end, replacement: with})
}

// remove removes the bytes from at to end.
func (e *Edits) remove(at, end int64) error { return e.replace(at, end, nil) }

// zero overwrites the bytes of s from at to end with zeros, unless they are already zeros.
func (e *Edits) zero(s *source, at, end int64) error {
	zeros, err := s.isFilledWith(0, at, end)
	if err != nil || zeros {
		return err
	}
	return e.add(edit{at: at, end: end, zeros: true})
}

// add adds an edit. If the edit is adjacent to the previous one and both remove bytes or both zero bytes, it extends
// the previous edit instead.
func (e *Edits) add(next edit) error {
	if next.at == next.end && len(next.replacement) == 0 {
		return nil
	}
	if n := len(e.list); n > 0 {
		last := &e.list[n-1]
		if last.end == next.at && last.zeros == next.zeros && len(last.replacement)+len(next.replacement) == 0 {
			last.end = next.end
			return nil
		}
	}
	if len(e.list) >= maxEdits {
		return errTooManyParts
	}
	e.list = append(e.list, next)
	return nil
}

// finish sorts the edits by offset. It merges overlapping zeroed ranges.
func (e *Edits) finish() error {
	slices.SortFunc(e.list, func(a, b edit) int { return cmp.Compare(a.at, b.at) })
	out := e.list[:0]
	for _, next := range e.list {
		if n := len(out); n > 0 && next.at < out[n-1].end {
			if !next.zeros || !out[n-1].zeros {
				return errBrokenStructure
			}
			out[n-1].end = max(out[n-1].end, next.end)
			continue
		}
		out = append(out, next)
	}
	e.list = out
	return nil
}

// view reads a file through edits.
type view struct {
	r      io.ReaderAt
	pieces []piece
	size   int64
}

// piece is a part of the edited file: bytes from the original file, zeros, or the replacement bytes of an edit.
type piece struct {
	at, size     int64 // range in the edited file
	sourceOffset int64 // offset in the original file
	zeros        bool
	replacement  []byte
}

func (v *view) add(p piece) {
	if p.size > 0 {
		p.at = v.size
		v.pieces = append(v.pieces, p)
		v.size += p.size
	}
}

// ReadAt implements io.ReaderAt.
func (v *view) ReadAt(p []byte, off int64) (int, error) {
	n, found := slices.BinarySearchFunc(v.pieces, off, func(p piece, off int64) int { return cmp.Compare(p.at, off) })
	if !found {
		n--
	}
	read := 0
	for ; read < len(p) && n >= 0 && n < len(v.pieces); n++ {
		some, err := v.pieces[n].read(v.r, p[read:], off+int64(read)-v.pieces[n].at)
		read += some
		if err != nil {
			return read, err
		}
	}
	if read < len(p) {
		return read, io.EOF
	}
	return read, nil
}

// read fills p with the bytes of the piece that start at off, up to the end of the piece.
func (c piece) read(r io.ReaderAt, p []byte, off int64) (int, error) {
	p = p[:max(min(int64(len(p)), c.size-off), 0)]
	switch {
	case c.zeros:
		clear(p)
		return len(p), nil
	case c.replacement != nil:
		return copy(p, c.replacement[off:]), nil
	}
	n, err := r.ReadAt(p, c.sourceOffset+off)
	if n == len(p) {
		return n, nil
	}
	if err == nil || err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}
