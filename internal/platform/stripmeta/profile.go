package stripmeta

import (
	"encoding/binary"
	"slices"
)

// maxProfile is the maximum length of a color profile in bytes. Profiles for printing presses have about 3 MB.
const maxProfile = 4 << 20

const (
	profileHeader  = 128
	profileEntry   = 12
	maxProfileTags = 100
)

// profileTags lists the tags of a color profile that are needed for rendering (ICC.1:2022, 9.2). Other tags contain,
// for example, the device, its serial number or the author of the profile.
var profileTags = []string{
	"rXYZ", "gXYZ", "bXYZ", "rTRC", "gTRC", "bTRC", "kTRC", "wtpt", "bkpt", "chad", "cicp", "A2B0", "A2B1", "A2B2",
	"B2A0",
	"B2A1", "B2A2", "D2B0", "D2B1", "D2B2", "D2B3", "B2D0", "B2D1", "B2D2", "B2D3", "gamt", "aarg", "aagg", "aabg",
}

// profile reads the color profile of n bytes at the offset at. It returns the original and the cleaned profile. The
// cleaned profile is nil if the original is invalid.
func (s *source) profile(at, n int64) ([]byte, []byte, error) {
	if n < profileHeader+4 || n > maxProfile {
		return nil, nil, nil
	}
	raw, err := s.read(nil, at, n)
	if err != nil {
		return nil, nil, err
	}
	return raw, cleanProfile(raw), nil
}

// cleanProfile returns a color profile with only the parts that are needed for rendering, or nil if raw does not begin
// with a profile. If the profile has no other parts, cleanProfile returns it unchanged.
func cleanProfile(raw []byte) []byte {
	if len(raw) < profileHeader+4 || string(raw[36:40]) != "acsp" ||
		!slices.Contains([]string{"scnr", "mntr", "prtr", "spac"}, string(raw[12:16])) ||
		!slices.Contains([]string{"RGB ", "GRAY", "CMYK", "Lab "}, string(raw[16:20])) ||
		!slices.Contains([]string{"XYZ ", "Lab "}, string(raw[20:24])) {
		return nil
	}
	size, count := binary.BigEndian.Uint32(raw), binary.BigEndian.Uint32(raw[profileHeader:])
	table := profileHeader + 4 + profileEntry*int64(count)
	if count > maxProfileTags || table > int64(size) || int64(size) > int64(len(raw)) {
		return nil
	}
	c := profileCopy{raw: raw[:size], offsetByPlace: map[[8]byte]uint32{}}
	for at := int64(profileHeader + 4); at < table; at += profileEntry {
		if !c.add(raw[at : at+profileEntry]) {
			return nil
		}
	}
	return c.bytes()
}

// profileCopy is a color profile that is being rebuilt.
type profileCopy struct {
	raw           []byte
	names         []string
	values        [][8]byte          // for each tag, the offset of its value in data, and the length of its value
	offsetByPlace map[[8]byte]uint32 // offset in data by original offset and length; tags may share their data
	data          []byte
}

// add adds the tag of an entry if it is needed for rendering. It reports whether the entry is valid.
func (c *profileCopy) add(entry []byte) bool {
	name, place := string(entry[:4]), [8]byte(entry[4:])
	at, n := uint64(binary.BigEndian.Uint32(place[:])), uint64(binary.BigEndian.Uint32(place[4:]))
	if at+n > uint64(len(c.raw)) {
		return false
	}
	if slices.Contains(c.names, name) {
		return true
	}
	value := neutralText(name, c.raw[8])
	needed := slices.Contains(profileTags, name)
	if needed {
		value = cleanTag(c.raw[at : at+n])
	}
	if value == nil {
		return true
	}
	offset, isPlaced := c.offsetByPlace[place]
	if !needed { // leave out the original value
		isPlaced, place = false, [8]byte{}
	}
	if !isPlaced {
		offset = uint32(len(c.data)) //nolint:gosec // at most twice maxProfile
		c.offsetByPlace[place] = offset
		c.data = append(c.data, value...)
		c.data = append(c.data, make([]byte, -len(c.data)&3)...)
	}
	c.names = append(c.names, name)
	binary.BigEndian.PutUint32(place[:], offset)
	binary.BigEndian.PutUint32(place[4:], uint32(len(value))) //nolint:gosec // at most maxProfile
	c.values = append(c.values, place)
	return len(c.data) <= 2*maxProfile // overlapping entries could otherwise need too much memory
}

// bytes returns the complete profile. It keeps only the version, class, color spaces and rendering intent from the
// original header.
func (c *profileCopy) bytes() []byte {
	header := make([]byte, profileHeader)
	copy(header[8:10], c.raw[8:10])
	copy(header[12:24], c.raw[12:24])
	header[24], header[25], header[27], header[29] = 2000>>8, 2000&0xff, 1, 1 // January 1, 2000
	copy(header[36:], "acsp")
	header[67] = c.raw[67] & 3
	copy(header[68:80], "\x00\x00\xf6\xd6\x00\x01\x00\x00\x00\x00\xd3\x2d") // D50, the only allowed illuminant
	table := binary.BigEndian.AppendUint32(nil, uint32(len(c.names)))       //nolint:gosec // at most maxProfileTags
	start := uint32(profileHeader + 4 + profileEntry*len(c.names))          //nolint:gosec // as above
	for i, name := range c.names {
		table = append(table, name...)
		table = binary.BigEndian.AppendUint32(table, start+binary.BigEndian.Uint32(c.values[i][:]))
		table = append(table, c.values[i][4:]...)
	}
	out := slices.Concat(header, table, c.data)
	binary.BigEndian.PutUint32(out, uint32(len(out))) //nolint:gosec // at most three times maxProfile
	return out
}

// neutralText returns a value with the text "c" for the tags with a profile's name and copyright, which are required.
// It returns nil for other tags.
func neutralText(name string, version byte) []byte {
	switch {
	case name != "desc" && name != "cprt":
		return nil
	case version >= 4:
		return []byte("mluc\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x0cenUS\x00\x00\x00\x02\x00\x00\x00\x1c\x00c")
	case name == "cprt":
		return []byte("text\x00\x00\x00\x00c\x00")
	}
	return append([]byte("desc\x00\x00\x00\x00\x00\x00\x00\x02c\x00"), make([]byte, 4+4+2+1+67)...)
}

// cleanTag returns the value of a tag, cut to the length that its type implies. It returns nil if the type is unknown
// or the value is too short.
func cleanTag(value []byte) []byte {
	if len(value) < 12 {
		return nil
	}
	n := tagSize(value)
	if n < 12 || n > uint64(len(value)) {
		return nil
	}
	value = slices.Clone(value[:n])
	clear(value[4:8]) // reserved
	return value
}

// tagSize returns the length of a tag's value according to its type (ICC.1:2022, 10). It returns 0 if the type is
// unknown.
func tagSize(value []byte) uint64 {
	switch string(value[:4]) {
	case "XYZ ":
		return 20
	case "cicp":
		return 12
	case "sf32":
		return 8 + 9*4
	case "curv":
		return 12 + 2*uint64(binary.BigEndian.Uint32(value[8:]))
	case "para":
		kind := binary.BigEndian.Uint16(value[8:])
		if kind > 4 {
			return 0
		}
		return 12 + 4*[]uint64{1, 3, 4, 5, 7}[kind]
	case "mft1", "mft2":
		return tableSize(value)
	case "mAB ", "mBA ", "mpet":
		return uint64(len(value))
	}
	return 0
}

// tableSize returns the length of a lookup table's value.
func tableSize(value []byte) uint64 {
	in, out, grid := uint64(value[8]), uint64(value[9]), uint64(value[10])
	points := out
	for range in {
		if points *= grid; points > maxProfile {
			return 0
		}
	}
	if string(value[:4]) == "mft1" {
		return 48 + 256*in + points + 256*out
	}
	if len(value) < 52 {
		return 0
	}
	ins, outs := uint64(binary.BigEndian.Uint16(value[48:])), uint64(binary.BigEndian.Uint16(value[50:]))
	return 52 + 2*(in*ins+points+out*outs)
}
