package mediainfo

import "encoding/binary"

// JPEG markers (ITU-T T.81, table B.1).
const (
	sof0, sof2, sof15 = 0xc0, 0xc2, 0xcf
	dht, jpg, dac     = 0xc4, 0xc8, 0xcc // not SOF markers, although they are between sof0 and sof15
	rst0, rst7        = 0xd0, 0xd7
	eoi, sos          = 0xd9, 0xda
	app1, app14       = 0xe1, 0xee
)

// Limits for the part of a file before the first scan. Depth maps and other embedded images need a few hundred
// segments.
const (
	maxSegments = 4096
	maxJunk     = 65_536 // bytes between two segments
)

var errBrokenSegments = newDamageError("the image's segments are broken")

// jpegImage holds the content of the segments before the first scan.
type jpegImage struct {
	width, height int64
	progressive   bool
	components    []component
	rgb           bool // whether the Adobe segment declares RGB colors
	exif          bool // whether an EXIF segment was found
	orientation   int
}

type component struct {
	id   byte
	h, v int64 // sampling factors, 1 to 4
}

func readJPEG(f *file) (Info, error) {
	j := &jpegImage{orientation: 1}
	at := int64(2)
	for range maxSegments {
		marker, body, err := nextMarker(f, at)
		if err != nil {
			return Info{}, err
		}
		if marker == sos || marker == eoi {
			return j.info()
		}
		if marker >= rst0 && marker <= rst7 {
			at = body
			continue
		}
		p, err := f.peek(body, 2)
		if err != nil {
			return Info{}, err
		}
		length := int64(binary.BigEndian.Uint16(p)) // includes these two bytes
		if length < 2 {
			return Info{}, errBrokenSegments
		}
		at = body + length
		if err := j.segment(f, marker, body+2, length-2); err != nil {
			return Info{}, err
		}
	}
	return Info{}, errBrokenSegments
}

// nextMarker returns the next marker at or after the offset at, and the offset of the marker's content. Like Go's
// decoder and libjpeg, it skips fill bytes and stray data.
func nextMarker(f *file, at int64) (byte, int64, error) {
	var last byte
	for range maxJunk {
		p, err := f.peek(at, 1)
		if err != nil {
			return 0, 0, err
		}
		at++
		if last == 0xff && p[0] != 0xff && p[0] != 0 {
			return p[0], at, nil
		}
		last = p[0]
	}
	return 0, 0, errBrokenSegments
}

func (j *jpegImage) segment(f *file, marker byte, at, n int64) error {
	switch {
	case marker == app1 && n > 6 && !j.exif:
		if p, err := f.peek(at, 6); err == nil && string(p) == "Exif\x00\x00" {
			j.exif = true
			j.orientation = readOrientation(f, at+6, n-6)
		}
	case marker == app14 && n >= 12:
		p, err := f.peek(at, 12)
		if err != nil {
			return err
		}
		j.rgb = string(p[:5]) == "Adobe" && p[11] == 0
	case isFrame(marker):
		j.progressive = marker == sof2
		return j.frame(f, at, n)
	}
	return nil
}

func isFrame(marker byte) bool {
	return marker >= sof0 && marker <= sof15 && marker != dht && marker != jpg && marker != dac
}

// frame reads a frame header (T.81, B.2.2).
func (j *jpegImage) frame(f *file, at, n int64) error {
	if j.components != nil || n < 6 || n > 6+3*4 {
		return errBrokenSegments
	}
	p, err := f.peek(at, int(n))
	if err != nil {
		return err
	}
	if len(p) != 6+3*int(p[5]) || p[5] == 0 {
		return errBrokenSegments
	}
	j.height = int64(binary.BigEndian.Uint16(p[1:]))
	j.width = int64(binary.BigEndian.Uint16(p[3:]))
	for p = p[6:]; len(p) > 0; p = p[3:] {
		c := component{id: p[0], h: int64(p[1] >> 4), v: int64(p[1] & 15)}
		if c.h < 1 || c.h > 4 || c.v < 1 || c.v > 4 {
			return errBrokenSegments
		}
		j.components = append(j.components, c)
	}
	return nil
}

func (j *jpegImage) info() (Info, error) {
	if j.components == nil {
		return Info{}, newDamageError("the image has no frame header")
	}
	info, err := imageInfo(JPEG, j.width, j.height, j.orientation)
	info.DecodeBytes = j.decodeBytes()
	return info, err
}

// decodeBytes returns the number of bytes of memory that decoding needs, excluding tables. Decoding needs one byte per
// sample of whole MCUs, four more bytes per coefficient of a progressive image, and a copy of the pixels if the colors
// are not YCbCr.
func (j *jpegImage) decodeBytes() int64 {
	first := j.components[0]
	if len(j.components) == 1 {
		first.h, first.v = 1, 1 // T.81 A.2.2: a single component is never interleaved
		j.components[0] = first
	}
	units := (j.width + 8*first.h - 1) / (8 * first.h) * ((j.height + 8*first.v - 1) / (8 * first.v))
	var total int64
	for _, c := range j.components {
		total += 64 * units * c.h * c.v
	}
	if j.progressive {
		total *= 5
	}
	if len(j.components) == 4 || j.isRGB() {
		total += 4 * j.width * j.height
	}
	return total
}

func (j *jpegImage) isRGB() bool {
	if len(j.components) != 3 {
		return false
	}
	return j.rgb || j.components[0].id == 'R' && j.components[1].id == 'G' && j.components[2].id == 'B'
}
