package mediainfo

import (
	"encoding/binary"
	"math/bits"
)

func (m *movie) track(id uint32) *track {
	for _, t := range m.tracks {
		if t.id == id {
			return t
		}
	}
	return nil
}

// mvex reads the defaults for the fragments (ISO/IEC 14496-12, 8.8).
func (m *movie) mvex(b boxRange) error {
	switch b.kind {
	case "mehd":
		p, long, err := m.fullBox(b, 8, 1)
		if err != nil {
			return err
		}
		length := uint64(binary.BigEndian.Uint32(p[4:]))
		if long {
			length = binary.BigEndian.Uint64(p[4:])
		}
		m.length = max(m.length, length)
	case "trex":
		p, err := m.content(b, 0, 16)
		if err != nil {
			return err
		}
		id, each := binary.BigEndian.Uint32(p[4:]), binary.BigEndian.Uint32(p[12:])
		if t := m.track(id); t != nil {
			t.defaultLength = each
		}
	}
	return nil
}

func (m *movie) moof(b boxRange) error {
	if b.kind != "traf" {
		return nil
	}
	var t *track
	var defaultLength uint32
	return m.each(b.at, b.end, func(b boxRange) error {
		var err error
		switch {
		case b.kind == "tfhd":
			t, defaultLength, err = m.tfhd(b)
		case b.kind == "trun" && t != nil:
			err = m.trun(b, t, defaultLength)
		}
		return err
	})
}

// tfhd returns a fragment's track and the default length of its samples (ISO/IEC 14496-12, 8.8.7).
func (m *movie) tfhd(b boxRange) (*track, uint32, error) {
	p, err := m.content(b, 0, 8)
	if err != nil {
		return nil, 0, err
	}
	flags := binary.BigEndian.Uint32(p)
	t := m.track(binary.BigEndian.Uint32(p[4:]))
	if t == nil {
		return nil, 0, nil
	}
	if flags&8 == 0 {
		return t, t.defaultLength, nil
	}
	off := int64(8)
	if flags&1 != 0 {
		off += 8 // skip the base data offset
	}
	if flags&2 != 0 {
		off += 4 // skip the sample description index
	}
	if p, err = m.content(b, off, 4); err != nil {
		return nil, 0, err
	}
	return t, binary.BigEndian.Uint32(p), nil
}

// trun adds the durations of a run of samples (ISO/IEC 14496-12, 8.8.8).
func (m *movie) trun(b boxRange, t *track, defaultLength uint32) error {
	p, err := m.content(b, 0, 8)
	if err != nil {
		return err
	}
	flags, count := binary.BigEndian.Uint32(p), binary.BigEndian.Uint32(p[4:])
	if flags&0x100 == 0 { // all samples have the default length
		t.fragmentSamples.add(count, defaultLength)
		return nil
	}
	off := int64(8 + 4*bits.OnesCount32(flags&5)) // skip the optional data offset and first sample flags
	stride := 4 * bits.OnesCount32(flags&0xf00)   // optional duration, size, flags and composition offset of each sample
	return m.table(b, off, count, stride, func(p []byte) { t.fragmentSamples.add(1, binary.BigEndian.Uint32(p)) })
}

// sidx adds the durations in an index of fragments (ISO/IEC 14496-12, 8.16.3). It skips references to nested indexes,
// which are in separate sidx boxes.
func (m *movie) sidx(b boxRange) error {
	p, long, err := m.fullBox(b, 24, 2)
	if err != nil {
		return err
	}
	t := m.track(binary.BigEndian.Uint32(p[4:]))
	if t == nil {
		return nil
	}
	t.indexScale = binary.BigEndian.Uint32(p[8:])
	count, off := binary.BigEndian.Uint16(p[len(p)-2:]), int64(24)
	if long {
		off = 32
	}
	return m.table(b, off, uint32(count), 12, func(p []byte) {
		if p[0]&0x80 == 0 {
			t.index = saturatingAdd(t.index, uint64(binary.BigEndian.Uint32(p[4:])))
		}
	})
}
