package stripmeta

import (
	"encoding/binary"

	"pressroom/internal/probe"
)

// samples notes where the samples of a track are, chunk by chunk (ISO/IEC 14496-12, 8.7).
func (v *video) samples(t trackBoxes) error {
	offsets, err := v.table(t.tables["stco"], 4, 4)
	if box, long := t.tables["co64"]; long && err == nil {
		offsets, err = v.table(box, 4, 8)
	}
	if err != nil || offsets == nil {
		return err
	}
	sizes, err := v.sampleSizes(t)
	if err != nil {
		return err
	}
	runs, err := v.chunkRuns(t.tables["stsc"])
	if err != nil {
		return err
	}
	for chunk := uint32(1); ; chunk++ {
		at, more, err := offsets.next()
		if err != nil || !more {
			return err
		}
		count, err := runs.of(chunk)
		if err != nil {
			return err
		}
		n, err := sizes.sum(count)
		if err == nil {
			err = v.hide(at, n)
		}
		if err != nil {
			return err
		}
	}
}

// hide notes samples of a track that goes. A size beyond the file's is the rest of the file.
func (v *video) hide(at, n uint64) error {
	if at >= uint64(v.size) || n == 0 { //nolint:gosec // a size is never negative
		return nil
	}
	begin := int64(at)                              //nolint:gosec // below the size
	end := begin + int64(min(n, uint64(v.size)-at)) //nolint:gosec // as above
	if k := len(v.hidden); k > 0 && v.hidden[k-1].end == begin {
		v.hidden[k-1].end = end
		return nil
	}
	if len(v.hidden) >= maxEdits {
		return errParts
	}
	v.hidden = append(v.hidden, span{begin, end})
	return nil
}

// table is a table of numbers that is read through a window of its own.
type table struct {
	from   *source
	at     int64
	left   uint32
	stride int // bytes a number: 1, 2, 4 or 8
}

// table opens the table whose count is at off of a box and whose entries follow it. It is nil for no box.
func (v *video) table(b probe.Box, off int64, stride int) (*table, error) {
	if b.Kind == "" {
		return nil, nil //nolint:nilnil // a track may have no such table
	}
	p, err := v.content(b, off, 4)
	if err != nil {
		return nil, err
	}
	count := binary.BigEndian.Uint32(p)
	t := &table{from: &source{r: v.r, size: b.End}, at: b.Content + off + 4, left: count, stride: stride}
	if t.at+int64(t.left)*int64(stride) > b.End {
		return nil, errStructure
	}
	return t, nil
}

// next returns the next number, and false behind the last.
func (t *table) next() (uint64, bool, error) {
	if t == nil || t.left == 0 {
		return 0, false, nil
	}
	p, err := t.from.peek(t.at, t.stride)
	if err != nil {
		return 0, false, err
	}
	t.left--
	t.at += int64(t.stride)
	var wide [8]byte
	copy(wide[8-t.stride:], p)
	return binary.BigEndian.Uint64(wide[:]), true, nil
}

// sampleSizes are the sizes of a track's samples: all alike, or each its own.
type sampleSizes struct {
	alike uint64
	each  *table
}

func (v *video) sampleSizes(t trackBoxes) (sampleSizes, error) {
	if b, there := t.tables["stsz"]; there {
		p, err := v.content(b, 4, 4)
		if err != nil {
			return sampleSizes{}, err
		}
		if alike := binary.BigEndian.Uint32(p); alike != 0 {
			return sampleSizes{alike: uint64(alike)}, nil
		}
		each, err := v.table(b, 8, 4)
		return sampleSizes{each: each}, err
	}
	b, there := t.tables["stz2"]
	if !there {
		return sampleSizes{}, errStructure
	}
	p, err := v.content(b, 4, 4)
	if err != nil {
		return sampleSizes{}, err
	}
	if bits := p[3]; bits == 8 || bits == 16 {
		each, err := v.table(b, 8, int(bits/8))
		return sampleSizes{each: each}, err
	}
	return sampleSizes{}, errStructure // half a byte: nobody writes that for samples
}

// sum adds up the sizes of the next count samples.
func (s sampleSizes) sum(count uint32) (uint64, error) {
	if s.alike != 0 {
		return uint64(count) * s.alike, nil
	}
	var total uint64
	for range count {
		n, more, err := s.each.next()
		if err != nil || !more {
			return total, err
		}
		total += n
	}
	return total, nil
}

// chunkRuns says how many samples a chunk has, for chunks in order (stsc).
type chunkRuns struct {
	entries   *table // three numbers each
	now, next uint32 // samples a chunk now, and from the chunk from on
	from      uint32 // 0 for never
}

func (v *video) chunkRuns(b probe.Box) (*chunkRuns, error) {
	p, err := v.content(b, 4, 4)
	if err != nil {
		return nil, err
	}
	count := binary.BigEndian.Uint32(p)
	entries, err := v.table(b, 4, 4)
	if err != nil {
		return nil, err
	}
	if entries.at+12*int64(count) > b.End || count > 1<<30 {
		return nil, errStructure
	}
	entries.left = 3 * count
	r := &chunkRuns{entries: entries}
	return r, r.advance()
}

// of returns how many samples a chunk has; chunks are asked for in order, from 1.
func (r *chunkRuns) of(chunk uint32) (uint32, error) {
	for r.from != 0 && chunk >= r.from {
		r.now = r.next
		if err := r.advance(); err != nil {
			return 0, err
		}
	}
	return r.now, nil
}

func (r *chunkRuns) advance() error {
	var entry [3]uint64
	for i := range entry {
		n, more, err := r.entries.next()
		if err != nil {
			return err
		}
		if !more {
			r.from = 0
			return nil
		}
		entry[i] = n
	}
	r.from, r.next = uint32(entry[0]), uint32(entry[1]) //nolint:gosec // of four bytes each
	return nil
}
