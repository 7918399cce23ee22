package stripmeta

import (
	"encoding/binary"
	"slices"

	"pressroom.example/pressroom/internal/platform/mediainfo"
)

// keepFirst zeroes a box's content beyond its first n bytes.
func (v *video) keepFirst(b mediainfo.Box, n int64) error {
	if n < 0 || n >= b.End-b.Content {
		return nil
	}
	return v.zero(v.source, b.Content+n, b.End)
}

// version returns the version of a full box. It returns 0 for an empty box.
func (v *video) version(b mediainfo.Box) (byte, error) {
	if b.Content == b.End {
		return 0, nil
	}
	p, err := v.peek(b.Content, 1)
	if err != nil {
		return 0, err
	}
	return p[0], nil
}

func (v *video) keepSized(b mediainfo.Box, r rule) error {
	n := r.size
	if r.extraBytes != 0 {
		version, err := v.version(b)
		if err != nil {
			return err
		}
		if version == 1 {
			n += r.extraBytes
		}
	}
	return v.keepFirst(b, n)
}

func (v *video) keepListed(b mediainfo.Box, r rule) error {
	if b.End-b.Content < r.size {
		return v.blank(b)
	}
	version, err := v.version(b)
	if err != nil {
		return err
	}
	entry := r.entry
	if version == 1 {
		entry += r.extraBytes
	}
	p, err := v.content(b, r.size-4, 4)
	if err != nil {
		return err
	}
	return v.keepFirst(b, r.size+entry*int64(binary.BigEndian.Uint32(p)))
}

// headers maps each header box to the ranges of its reserved bytes and to its length, both for version 0.
var headers = map[string]struct {
	reserved []span
	end      int64
}{
	"mvhd": {[]span{{26, 36}, {72, 96}}, 100},
	"tkhd": {[]span{{16, 20}, {24, 32}, {38, 40}}, 84},
	"mdhd": {[]span{{22, 24}}, 24},
}

// cleanHeader zeroes the creation and modification dates and the reserved bytes of a header box. In version 1, the
// dates and the duration have eight bytes each.
func (v *video) cleanHeader(b mediainfo.Box) error {
	version, err := v.version(b)
	if err != nil {
		return err
	}
	dates, late := int64(12), int64(0)
	if version == 1 {
		dates, late = 20, 12
	}
	if b.Content+dates > b.End {
		return errBrokenStructure
	}
	if err := v.zero(v.source, b.Content+4, b.Content+dates); err != nil {
		return err
	}
	h := headers[b.Kind]
	for _, gap := range h.reserved {
		shift := late
		if gap.at < 20 {
			shift = dates - 12
		}
		at, end := b.Content+gap.at+shift, min(b.Content+gap.end+shift, b.End)
		if at < end {
			err = v.zero(v.source, at, end)
		}
		if err != nil {
			return err
		}
	}
	return v.keepFirst(b, h.end+late)
}

// handlerName keeps the handler type of a track, and zeroes its manufacturer and name.
func (v *video) handlerName(b mediainfo.Box) error {
	p, err := v.content(b, 0, 12)
	if err != nil {
		return err
	}
	if kind := string(p[4:8]); kind != "mhlr" && kind != "dhlr" {
		if err := v.zero(v.source, b.Content+4, b.Content+8); err != nil {
			return err
		}
	}
	return v.keepFirst(b, 12)
}

// knownBrands lists the ftyp brands to keep. They identify standards, not manufacturers.
var knownBrands = []string{
	"isom", "iso2", "iso3", "iso4", "iso5", "iso6", "iso7", "iso8", "iso9", "isoa", "isob", "isoc", "avc1", "hvc1",
	"hev1",
	"av01", "mp41", "mp42", "mp71", "qt  ", "M4V ", "M4VH", "M4VP", "f4v ", "dash", "msdh", "msix", "cmfc", "cmf2",
	"3gp4", "3gp5", "3gp6", "3gp7", "3gp8", "3gp9", "3g2a", "3g2b", "3g2c", "mmp4", "dby1",
}

// cleanBrands replaces an unknown major brand with isom. It zeroes unknown compatible brands, and any minor version
// that is not a small number.
func (v *video) cleanBrands(b mediainfo.Box) error {
	for at := b.Content; at < b.End; at += 4 {
		if b.End-at < 4 {
			return v.zero(v.source, at, b.End)
		}
		p, err := v.peek(at, 4)
		if err != nil {
			return err
		}
		switch {
		case at == b.Content+4:
			if binary.BigEndian.Uint16(p) == 0 {
				continue // a small number
			}
			err = v.zero(v.source, at, at+4)
		case slices.Contains(knownBrands, string(p)):
		case at == b.Content:
			err = v.replace(at, at+4, []byte("isom"))
		default:
			err = v.zero(v.source, at, at+4)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

var errExternalData = newDamageError("the video refers to other files")

// cleanDataEntries zeroes the locations in the data references. It returns an error if samples are in another file.
func (v *video) cleanDataEntries(b mediainfo.Box) error {
	if b.End-b.Content < 8 {
		return v.blank(b)
	}
	return v.walkEach(b, 8, func(entry mediainfo.Box) error {
		p, err := v.content(entry, 0, 4)
		if err != nil {
			return err
		}
		isSelfContained := binary.BigEndian.Uint32(p)&1 != 0
		if !isSelfContained { // some files omit both the flag and the location
			isSelfContained, err = v.isFilledWith(0, entry.Content+4, entry.End)
		}
		if err == nil && !isSelfContained {
			err = errExternalData
		}
		if err != nil {
			return err
		}
		return v.keepFirst(entry, 4)
	})
}

// walkEach calls visit for each box of a list that starts at off. It zeroes trailing bytes that are too short for a
// box.
func (v *video) walkEach(in mediainfo.Box, off int64, visit func(mediainfo.Box) error) error {
	at := in.Content + off
	err := v.each(mediainfo.Box{Content: at, End: in.End}, func(b mediainfo.Box) error {
		at = b.End
		return visit(b)
	})
	if err != nil {
		return err
	}
	return v.zero(v.source, at, in.End)
}

// cleanSampleTable keeps the sizes of the samples and zeroes the bytes that follow them.
func (v *video) cleanSampleTable(b mediainfo.Box) error {
	p, err := v.content(b, 0, 12)
	if err != nil {
		return err
	}
	count := int64(binary.BigEndian.Uint32(p[8:]))
	switch {
	case b.Kind == "stz2":
		return v.keepFirst(b, 12+(count*int64(p[7])+7)/8)
	case binary.BigEndian.Uint32(p[4:]) != 0:
		return v.keepFirst(b, 12)
	}
	return v.keepFirst(b, 12+4*count)
}

// groupDescriptionSizes maps the kinds of sample groups that players need for starting and seeking to the size of a
// description in bytes.
var groupDescriptionSizes = map[string]int64{"roll": 2, "prol": 2, "rap ": 1, "sync": 1} //nolint:gocritic // the space is part of the code

// cleanGroups keeps a box that maps samples to groups if players need groups of this kind.
func (v *video) cleanGroups(b mediainfo.Box) error {
	p, err := v.content(b, 0, 12)
	if err != nil {
		return err
	}
	if _, needed := groupDescriptionSizes[string(p[4:8])]; !needed || p[0] > 1 {
		return v.blank(b)
	}
	head := int64(8)
	if p[0] == 1 { // version 1 has a parameter
		head = 12
	}
	if p, err = v.content(b, head, 4); err != nil {
		return err
	}
	return v.keepFirst(b, head+4+8*int64(binary.BigEndian.Uint32(p)))
}

// cleanGroupDescriptions keeps a box of group descriptions if players need groups of this kind.
func (v *video) cleanGroupDescriptions(b mediainfo.Box) error {
	p, err := v.content(b, 0, 12)
	if err != nil {
		return err
	}
	size, needed := groupDescriptionSizes[string(p[4:8])]
	head := int64(8)
	if p[0] != 0 { // other versions have a length or a default before the count
		head = 12
	}
	if !needed || p[0] == 1 && int64(binary.BigEndian.Uint32(p[8:])) != size {
		return v.blank(b)
	}
	if p, err = v.content(b, head, 4); err != nil {
		return err
	}
	return v.keepFirst(b, head+4+size*int64(binary.BigEndian.Uint32(p)))
}
