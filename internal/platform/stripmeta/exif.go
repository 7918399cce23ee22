package stripmeta

import (
	"encoding/binary"
	"io"

	"pressroom.example/pressroom/internal/platform/mediainfo"
)

// orientationOnly reads the orientation from the n bytes of EXIF data at offset off, and returns new EXIF data (TIFF
// 6.0) that contains nothing else. It returns nil if the image is upright or the orientation cannot be read.
func (s *source) orientationOnly(off, n int64) []byte {
	value := mediainfo.Orientation(io.NewSectionReader(s, off, n), n)
	if value == 1 {
		return nil
	}
	// Big endian, with one directory at offset 8. It has one entry: tag 0x0112, type SHORT, one value.
	p := []byte("MM\x00\x2a\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01")
	p = binary.BigEndian.AppendUint16(p, uint16(value)) //nolint:gosec // 2 to 8
	return append(p, 0, 0, 0, 0, 0, 0)
}
