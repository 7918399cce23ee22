package stripmeta

import (
	"encoding/binary"
	"slices"

	"pressroom.example/pressroom/internal/platform/mediainfo"
)

var errEncrypted = newDamageError("the video is encrypted")

// descriptions cleans the sample descriptions of a track (ISO/IEC 14496-12, 8.5.2 and 12; QuickTime File Format).
func (v *video) descriptions(b mediainfo.Box) error {
	p, err := v.content(b, 0, 8)
	if err != nil {
		return err
	}
	version, remaining := p[0], binary.BigEndian.Uint32(p[4:])
	return v.walkEach(b, 8, func(entry mediainfo.Box) error {
		if remaining == 0 {
			return errBrokenStructure
		}
		remaining--
		if slices.Contains([]string{"encv", "enca", "drmi", "drms"}, entry.Kind) {
			return errEncrypted
		}
		if err := v.zeroFields(entry, span{0, 6}); err != nil {
			return err
		}
		switch {
		case v.sound:
			return v.soundEntry(entry, version)
		case v.captions:
			return v.keepFirst(entry, 8)
		}
		// Reserved bytes, vendor and qualities. Data size. Compressor name.
		if err := v.zeroFields(entry, span{8, 24}, span{36, 40}, span{42, 74}); err != nil {
			return err
		}
		return v.walkFrom("picture", min(entry.Content+78, entry.End), entry.End)
	})
}

// zeroFields zeroes ranges of a box's content.
func (v *video) zeroFields(b mediainfo.Box, fields ...span) error {
	for _, f := range fields {
		at, end := b.Content+f.at, min(b.Content+f.end, b.End)
		if at >= end {
			return nil
		}
		if err := v.zero(v.source, at, end); err != nil {
			return err
		}
	}
	return nil
}

// soundEntry cleans a sound sample description. In QuickTime files, an stsd of version 0 can contain the longer
// descriptions of versions 1 and 2.
func (v *video) soundEntry(entry mediainfo.Box, version byte) error {
	if err := v.zeroFields(entry, span{10, 16}); err != nil {
		return err
	}
	head := int64(28)
	if p, err := v.content(entry, 8, 2); err == nil && version == 0 {
		head += map[uint16]int64{1: 16, 2: 36}[binary.BigEndian.Uint16(p)]
	}
	return v.walkFrom("sound", min(entry.Content+head, entry.End), entry.End)
}

// cleanColor keeps color information of registered types, and the parts of a color profile that are needed for
// rendering.
func (v *video) cleanColor(b mediainfo.Box) error {
	p, err := v.content(b, 0, 4)
	if err != nil {
		return err
	}
	switch string(p) {
	case "nclx":
		return v.keepFirst(b, 11)
	case "nclc":
		return v.keepFirst(b, 10)
	case "prof", "rICC":
		return v.colorProfile(b)
	}
	return v.blank(b)
}

// colorProfile cleans a color profile in place and fills the remaining bytes with zeros.
func (v *video) colorProfile(b mediainfo.Box) error {
	at := b.Content + 4
	raw, clean, err := v.profile(at, b.End-at)
	if err != nil {
		return err
	}
	if clean == nil {
		return v.blank(b)
	}
	n := int64(len(clean))
	if n > b.End-at {
		return v.blank(b)
	}
	if string(raw[:n]) != string(clean) {
		if err := v.replace(at, at+n, clean); err != nil {
			return err
		}
	}
	return v.zero(v.source, at+n, b.End)
}

// The tags of the descriptors in an esds box (ISO/IEC 14496-1, 7.2.2).
const (
	streamTag, configTag, specificTag, syncTag = 3, 4, 5, 6

	dependsFlag, addressFlag, clockFlag = 0x80, 0x40, 0x20
)

// decoder zeroes all descriptors of an elementary stream except those that configure the decoder.
func (v *video) decoder(b mediainfo.Box) error { return v.descriptors(b.Content+4, b.End, 0) }

// descriptors cleans the descriptors between at and end. parentTag is the tag of the enclosing descriptor.
func (v *video) descriptors(at, end int64, parentTag byte) error {
	for at < end {
		tag, content, next, err := v.descriptor(at, end)
		if err != nil {
			return err
		}
		switch {
		case parentTag == 0 && tag == streamTag:
			if err := v.cleanStream(content, next); err != nil {
				return err
			}
			return v.zero(v.source, next, end)
		case parentTag == streamTag && tag == configTag:
			err = v.descriptors(min(content+13, next), next, tag)
		case parentTag == streamTag && tag == syncTag:
			err = v.zero(v.source, min(content+1, next), next)
		case parentTag == configTag && tag == specificTag:
		default:
			err = v.zero(v.source, content, next)
		}
		if err != nil {
			return err
		}
		at = next
	}
	return nil
}

// descriptor reads the header of the descriptor at the offset at. It returns the descriptor's tag, and the start and
// end of its content.
func (v *video) descriptor(at, end int64) (byte, int64, int64, error) {
	p, err := v.peek(at, int(min(5, end-at)))
	if err != nil {
		return 0, 0, 0, err
	}
	n := int64(0)
	for i := 1; i < len(p); i++ {
		n = n<<7 | int64(p[i]&0x7f)
		if p[i]&0x80 == 0 {
			content := at + int64(i) + 1
			if n > end-content {
				break
			}
			return p[0], content, content + n, nil
		}
	}
	return 0, at, end, nil // not a valid descriptor
}

// cleanStream zeroes the URL in an elementary stream's descriptor.
func (v *video) cleanStream(at, end int64) error {
	if end-at < 3 {
		return errBrokenStructure
	}
	p, err := v.peek(at, 3)
	if err != nil {
		return err
	}
	flags := p[2]
	at += 3
	if flags&dependsFlag != 0 {
		at += 2
	}
	if flags&addressFlag != 0 {
		if p, err = v.peek(at, 1); err != nil {
			return err
		}
		address := min(at+1+int64(p[0]), end)
		if err := v.zero(v.source, at+1, address); err != nil {
			return err
		}
		at = address
	}
	if flags&clockFlag != 0 {
		at += 2
	}
	if at > end {
		return errBrokenStructure
	}
	return v.descriptors(at, end, streamTag)
}

// cleanParameterSets zeroes the bytes after the H.264 parameter sets (ISO/IEC 14496-15, 5.3.3.1).
func (v *video) cleanParameterSets(b mediainfo.Box) error {
	p, err := v.content(b, 0, 6)
	if err != nil {
		return err
	}
	profile := p[1]
	off, err := v.skipUnits(b, 6, int(p[5]&0x1f))
	if err != nil {
		return err
	}
	if p, err = v.content(b, off, 1); err != nil {
		return v.keepFirst(b, off)
	}
	if off, err = v.skipUnits(b, off+1, int(p[0])); err != nil {
		return err
	}
	if p, err = v.content(b, off, 4); err == nil && slices.Contains([]byte{100, 110, 122, 144}, profile) {
		if off, err = v.skipUnits(b, off+4, int(p[3])); err != nil {
			return err
		}
	}
	return v.keepFirst(b, off)
}

// cleanParameterArrays zeroes the bytes after the arrays of H.265 parameter sets (ISO/IEC 14496-15, 8.3.2.1 and 9.4.2).
func (v *video) cleanParameterArrays(b mediainfo.Box) error {
	off := int64(23)
	if b.Kind == "lhvC" {
		off = 6
	}
	p, err := v.content(b, off-1, 1)
	if err != nil {
		return err
	}
	for range p[0] {
		if p, err = v.content(b, off, 3); err != nil {
			return err
		}
		if off, err = v.skipUnits(b, off+3, int(binary.BigEndian.Uint16(p[1:]))); err != nil {
			return err
		}
	}
	return v.keepFirst(b, off)
}

// skipUnits returns the end of the count units that start at off in a box. A length field of two bytes precedes each
// unit.
func (v *video) skipUnits(b mediainfo.Box, off int64, count int) (int64, error) {
	for range count {
		p, err := v.content(b, off, 2)
		if err != nil {
			return 0, err
		}
		off += 2 + int64(binary.BigEndian.Uint16(p))
	}
	if off > b.End-b.Content {
		return 0, errBrokenStructure
	}
	return off, nil
}

// cleanFLAC keeps the block with the stream information and marks it as the last block. It zeroes the other blocks,
// such as comments and pictures.
func (v *video) cleanFLAC(b mediainfo.Box) error {
	const lastFlag, information, size = 0x80, 0, 34
	p, err := v.content(b, 4, 4)
	if err != nil {
		return err
	}
	if p[0]&^lastFlag != information || p[1] != 0 || p[2] != 0 || p[3] != size {
		return errBrokenStructure
	}
	if p[0]&lastFlag == 0 {
		if err := v.replace(b.Content+4, b.Content+5, []byte{lastFlag | information}); err != nil {
			return err
		}
	}
	return v.keepFirst(b, 8+size)
}
