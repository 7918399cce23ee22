package stripmeta

import (
	"encoding/binary"
	"hash/crc32"
	"math"
	"slices"
)

// pngChunks are the chunks that rendering needs (PNG third edition, 11; mDCv and cLLi are their drafts' names).
var pngChunks = []string{
	"IHDR", "PLTE", "IDAT", "tRNS", "gAMA", "cHRM", "sRGB", "iCCP", "cICP", "mDCV", "mDCv", "cLLI", "cLLi", "sBIT", "bKGD",
	"pHYs", "acTL", "fcTL", "fdAT",
}

// scanPNG walks all chunks of a PNG or APNG.
func scanPNG(s *source, e *Edits) error {
	turned := false // an orientation was kept
	for at := int64(8); ; {
		p, err := s.peek(at, 8)
		if err != nil {
			return err
		}
		length, kind := int64(binary.BigEndian.Uint32(p)), string(p[4:])
		end := at + 12 + length
		switch {
		case length > math.MaxInt32:
			return errStructure
		case end > s.size:
			return errEnds
		case kind == "IEND":
			return e.remove(end, s.size)
		case slices.Contains(pngChunks, kind):
		case kind[0]&0x20 == 0: // critical, and not known: nobody can render it
			return errStructure
		case kind == "eXIf" && !turned:
			turned = true
			err = s.cutPNG(e, at, end)
		default:
			err = e.remove(at, end)
		}
		if err != nil {
			return err
		}
		at = end
	}
}

// cutPNG cuts the eXIf chunk from at to end down to its orientation, and removes it if that is upright.
func (s *source) cutPNG(e *Edits, at, end int64) error {
	turned := s.orientationOnly(at+8, end-at-12)
	if turned == nil {
		return e.remove(at, end)
	}
	want := binary.BigEndian.AppendUint32(nil, uint32(len(turned))) //nolint:gosec // 26
	want = append(append(want, "eXIf"...), turned...)
	want = binary.BigEndian.AppendUint32(want, crc32.ChecksumIEEE(want[4:]))
	same, err := s.has(at, want)
	if err != nil || same && int64(len(want)) == end-at {
		return err
	}
	return e.replace(at, end, want)
}
