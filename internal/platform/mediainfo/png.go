package mediainfo

import (
	"encoding/binary"
	"slices"
)

// maxChunks is the maximum number of chunks before the first pixels. Most files have about a dozen.
const maxChunks = 4096

// depths maps each color type to its possible bit depths (PNG third edition, table 12).
var depths = map[byte][]byte{0: {1, 2, 4, 8, 16}, 2: {8, 16}, 3: {1, 2, 4, 8}, 4: {8, 16}, 6: {8, 16}}

func readPNG(f *file) (Info, error) {
	p, err := f.peek(8, 25)
	if err != nil {
		return Info{}, err
	}
	depth, color, interlaced := p[16], p[17], p[20]
	if binary.BigEndian.Uint32(p) != 13 || string(p[4:8]) != "IHDR" || !slices.Contains(depths[color], depth) ||
		interlaced > 1 {
		return Info{}, newDamageError("the image's header is broken")
	}
	info, err := imageInfo(PNG, int64(binary.BigEndian.Uint32(p[8:])), int64(binary.BigEndian.Uint32(p[12:])), 1)
	if err != nil {
		return Info{}, err
	}
	bytesPerPixel := int64(4)
	if depth == 16 {
		bytesPerPixel = 8
	}
	// The passes of an interlaced image need memory in addition to the image.
	info.DecodeBytes = int64(info.Width) * int64(info.Height) * bytesPerPixel * int64(1+interlaced)
	info.Animated, err = animatedPNG(f)
	return info, err
}

// animatedPNG reports whether a chunk before the first pixels declares several frames.
func animatedPNG(f *file) (bool, error) {
	var animated bool
	at := int64(8)
	for range maxChunks {
		p, err := f.peek(at, 8)
		if err != nil {
			return false, err
		}
		length, kind := int64(binary.BigEndian.Uint32(p)), string(p[4:])
		switch kind {
		case "IDAT":
			return animated, nil
		case "acTL":
			if p, err = f.peek(at+8, 4); err != nil {
				return false, err
			}
			animated = binary.BigEndian.Uint32(p) > 1
		}
		at += 12 + length
	}
	return false, errTooManyReads
}
