package stripmeta

import (
	"encoding/binary"
	"math/bits"

	"pressroom.example/pressroom/internal/platform/mediainfo"
)

// fragmentRun tracks the positions of samples in movie fragments (ISO/IEC 14496-12, 8.8).
type fragmentRun struct {
	sizes   map[uint32]uint32 // default sample size by track
	moof    int64             // offset of the fragment's box
	end     uint64            // end of the previous track fragment's data
	isFirst bool              // whether the next track fragment is the first of the movie fragment
}

func (r *fragmentRun) begin(moof int64) {
	r.moof, r.end, r.isFirst = moof, uint64(moof), true //nolint:gosec // an offset is never negative
}

// The flags of tfhd and trun.
const (
	tfhdBase, tfhdDescription, tfhdDuration, tfhdSize, tfhdFlags, tfhdMoof = 1, 2, 8, 0x10, 0x20, 0x20000
	trunOffset, trunFirst, trunSize                                        = 1, 4, 0x200
	trunEach                                                               = 0xf00
)

// fragment records the samples of a track fragment. It keeps the fragment if its track is kept, and blanks it
// otherwise.
func (v *video) fragment(b mediainfo.Box) error {
	t := trackFragment{}
	err := v.each(b, func(in mediainfo.Box) error {
		switch in.Kind {
		case "tfhd":
			return v.fragmentHeader(in, &t)
		case "trun":
			return v.fragmentRun(in, &t)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if !v.shown[t.track] {
		return v.blank(b)
	}
	return v.walk(b)
}

// trackFragment holds the fields of a tfhd box and the offset of the next run.
type trackFragment struct {
	track, size uint32
	base, at    uint64
}

func (v *video) fragmentHeader(b mediainfo.Box, t *trackFragment) error {
	p, err := v.content(b, 0, 8)
	if err != nil {
		return err
	}
	flags := binary.BigEndian.Uint32(p)
	t.track = binary.BigEndian.Uint32(p[4:])
	t.size = v.run.sizes[t.track]
	switch {
	case flags&tfhdBase != 0:
		if p, err = v.content(b, 8, 8); err != nil {
			return err
		}
		t.base = binary.BigEndian.Uint64(p)
	case flags&tfhdMoof != 0 || v.run.isFirst:
		t.base = uint64(v.run.moof) //nolint:gosec // an offset is never negative
	default:
		t.base = v.run.end
	}
	t.at, v.run.isFirst = t.base, false
	if flags&tfhdSize == 0 {
		return nil
	}
	off := 8 + 8*int64(flags&tfhdBase) + 4*int64(bits.OnesCount32(flags&(tfhdDescription|tfhdDuration)))
	if p, err = v.content(b, off, 4); err == nil {
		t.size = binary.BigEndian.Uint32(p)
	}
	return err
}

// fragmentRun adds the sizes of a run of samples, and records the run if its track is kept.
func (v *video) fragmentRun(b mediainfo.Box, t *trackFragment) error {
	p, err := v.content(b, 0, 8)
	if err != nil {
		return err
	}
	flags, count := binary.BigEndian.Uint32(p), binary.BigEndian.Uint32(p[4:])
	off := int64(8)
	if flags&trunOffset != 0 {
		if p, err = v.content(b, off, 4); err != nil {
			return err
		}
		t.at = t.base + uint64(int64(int32(binary.BigEndian.Uint32(p)))) //nolint:gosec // signed, wraps
	}
	off += 4 * int64(bits.OnesCount32(flags&(trunOffset|trunFirst)))
	n := uint64(count) * uint64(t.size)
	if flags&trunSize != 0 {
		if n, err = v.runSizes(b, off, flags, count); err != nil {
			return err
		}
	}
	if v.shown[t.track] {
		err = v.keep(t.at, n)
	}
	t.at += n
	v.run.end = t.at
	return err
}

// runSizes returns the total size of the samples in a run. The run's table is at off.
func (v *video) runSizes(b mediainfo.Box, off int64, flags, count uint32) (uint64, error) {
	stride := int64(4 * bits.OnesCount32(flags&trunEach))
	at := off + 4*int64(bits.OnesCount32(flags&0x100)) // skips the duration
	if b.Content+off+stride*int64(count) > b.End {
		return 0, errBrokenStructure
	}
	var total uint64
	for range count {
		p, err := v.content(b, at, 4)
		if err != nil {
			return 0, err
		}
		total += uint64(binary.BigEndian.Uint32(p))
		at += stride
	}
	return total, nil
}

// defaults records a track's default sample size for fragments (trex). It blanks the box if the track is removed.
func (v *video) defaults(b mediainfo.Box) error {
	p, err := v.content(b, 0, 24)
	if err != nil {
		return err
	}
	id := binary.BigEndian.Uint32(p[4:])
	v.run.sizes[id] = binary.BigEndian.Uint32(p[16:])
	if !v.shown[id] {
		return v.blank(b)
	}
	return v.keepFirst(b, 24)
}

// fragmentHeadFields keeps the fields of a tfhd box that its flags declare.
func (v *video) fragmentHeadFields(b mediainfo.Box) error {
	p, err := v.content(b, 0, 8)
	if err != nil {
		return err
	}
	flags := binary.BigEndian.Uint32(p)
	four := bits.OnesCount32(flags & (tfhdDescription | tfhdDuration | tfhdSize | tfhdFlags))
	return v.keepFirst(b, 8+8*int64(flags&tfhdBase)+4*int64(four))
}

// fragmentDataFields keeps the table of a trun box.
func (v *video) fragmentDataFields(b mediainfo.Box) error {
	p, err := v.content(b, 0, 8)
	if err != nil {
		return err
	}
	flags, count := binary.BigEndian.Uint32(p), int64(binary.BigEndian.Uint32(p[4:]))
	each := 4 * int64(bits.OnesCount32(flags&trunEach))
	return v.keepFirst(b, 8+4*int64(bits.OnesCount32(flags&(trunOffset|trunFirst)))+each*count)
}

// fragmentIndexFields keeps the entries of a sidx box.
func (v *video) fragmentIndexFields(b mediainfo.Box) error {
	head := int64(24)
	p, err := v.content(b, 0, int(head))
	if err != nil {
		return err
	}
	if p[0] == 1 {
		head = 32
	}
	if p, err = v.content(b, head-2, 2); err != nil {
		return err
	}
	return v.keepFirst(b, head+12*int64(binary.BigEndian.Uint16(p)))
}
