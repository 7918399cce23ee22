package mediainfo

import (
	"encoding/binary"
	"io"
)

// The tag and the type of the orientation (TIFF 6.0).
const (
	orientationTag = 0x0112
	shortType      = 3
	maxTags        = 256 // cameras write about a dozen tags into the first directory
)

// Orientation reads the EXIF data in the first size bytes of r and returns the orientation, 1 to 8 (EXIF 2.3, 4.5). It
// returns 1 if the orientation cannot be read.
func Orientation(r io.ReaderAt, size int64) int {
	return readOrientation(&file{r: r, size: size}, 0, size)
}

// readOrientation returns the orientation in the n bytes of EXIF data at off, or 1 if the orientation cannot be read.
// It does not return an error, because an image with broken metadata is still usable.
func readOrientation(f *file, off, n int64) int {
	if n < 8 {
		return 1
	}
	head, err := f.peek(off, 8)
	if err != nil {
		return 1
	}
	order := binary.ByteOrder(binary.BigEndian)
	if string(head[:2]) == "II" {
		order = binary.LittleEndian
	}
	directory := int64(order.Uint32(head[4:]))
	if order.Uint16(head[2:]) != 42 || directory > n-2 {
		return 1
	}
	p, err := f.peek(off+directory, 2)
	if err != nil {
		return 1
	}
	tags := min(int64(order.Uint16(p)), maxTags, (n-directory-2)/12)
	for i := range tags {
		p, err := f.peek(off+directory+2+12*i, 12)
		if err != nil {
			return 1
		}
		if order.Uint16(p) == orientationTag && order.Uint16(p[2:]) == shortType {
			return validOrientation(int(order.Uint16(p[8:])))
		}
	}
	return 1
}

func validOrientation(value int) int {
	if value < 1 || value > 8 {
		return 1
	}
	return value
}
