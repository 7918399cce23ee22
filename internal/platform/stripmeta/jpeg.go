package stripmeta

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
)

// JPEG markers (ITU-T T.81, table B.1).
const (
	sof0, sof15      = 0xc0, 0xcf // the range also contains DHT, JPG and DAC
	dht, jpg, dac    = 0xc4, 0xc8, 0xcc
	rst0, rst7       = 0xd0, 0xd7
	eoi, sos         = 0xd9, 0xda
	dqt, dnl, dri    = 0xdb, 0xdc, 0xdd
	app0, app1, app2 = 0xe0, 0xe1, 0xe2
	app14, app15     = 0xee, 0xef
	com              = 0xfe
)

// The beginnings of the application segments that are needed for rendering or for the orientation.
var (
	jfif  = []byte("JFIF\x00")
	exif  = []byte("Exif\x00\x00")
	icc   = []byte("ICC_PROFILE\x00")
	adobe = []byte("Adobe")
)

// Content sizes in bytes: of a JFIF segment without a thumbnail, and of an Adobe segment.
const (
	jfifBytes  = 14
	adobeBytes = 12
)

// A color profile has up to 255 segments. Each contains its own number and the number of all segments (ICC.1:2022,
// B.4).
const (
	iccBytes  = 14
	maxChunks = 255
	chunkSize = 65_535 - 2 - iccBytes
)

type jpegScan struct {
	*source
	*Edits

	jfif, exif, scanned bool   // whether the segment or a scan was found
	profile             []span // the segments of the color profile
	tables              jpegTables
}

// scanJPEG processes all segments of a JPEG up to the end of the image, and removes everything after it. Phones append
// previews, depth maps and videos there, with metadata of their own.
func scanJPEG(s *source, e *Edits) error {
	j := &jpegScan{source: s, Edits: e}
	at := int64(2)
	for {
		marker, body, err := j.nextMarker(at)
		if err != nil {
			return err
		}
		if marker == eoi {
			return errors.Join(j.colorProfile(), j.dropTables(), e.remove(body, s.size))
		}
		if marker >= rst0 && marker <= rst7 {
			at = body
			continue
		}
		if at, err = j.segment(marker, body); err != nil {
			return err
		}
		if marker == sos {
			j.scanned = true
			if at, err = j.skipScan(at); err != nil {
				return err
			}
		}
	}
}

// nextMarker returns the next marker at or after the offset at, and the offset after the marker. It keeps fill bytes
// before the marker, but removes stray bytes, because decoders skip them.
func (j *jpegScan) nextMarker(at int64) (byte, int64, error) {
	stray := at
	for {
		p, err := j.peek(at, 2)
		if err != nil {
			return 0, 0, err
		}
		if p[0] == 0xff && p[1] != 0xff && p[1] != 0 {
			marker := p[1]
			fill, err := j.isFilledWith(0xff, stray, at)
			if err == nil && !fill {
				err = j.remove(stray, at)
			}
			return marker, at + 2, err
		}
		at++
	}
}

// skipScan returns the end of the entropy-coded data at offset at. The data ends at the next marker other than a
// restart marker.
func (j *jpegScan) skipScan(at int64) (int64, error) {
	for {
		p, err := j.rest(at)
		if err != nil {
			return 0, err
		}
		n := bytes.IndexByte(p, 0xff)
		if n < 0 {
			at += int64(len(p))
			continue
		}
		at += int64(n)
		if p, err = j.peek(at, 2); err != nil {
			return 0, err
		}
		switch next := p[1]; {
		case next == 0xff:
			at++
		case next == 0 || next >= rst0 && next <= rst7:
			at += 2
		default:
			return at, nil
		}
	}
}

// segment processes the segment of a marker and returns the end of the segment. The segment's length field is at body.
func (j *jpegScan) segment(marker byte, body int64) (int64, error) {
	p, err := j.peek(body, 2)
	if err != nil {
		return 0, err
	}
	length := int64(binary.BigEndian.Uint16(p))
	end := body + length
	switch {
	case length < 2:
		return 0, errBrokenStructure
	case end > j.size:
		return 0, errTruncated
	case marker >= app0 && marker <= app15:
		return end, j.application(marker, body, end)
	case marker == com:
		return end, j.remove(body-2, end)
	}
	return end, j.coding(marker, body, end)
}

// coding checks a segment that decoders need.
func (j *jpegScan) coding(marker byte, body, end int64) error {
	switch {
	case marker == dqt, marker == dht:
		return j.recordTables(marker, body, end)
	case marker == sos:
		return j.scan(body, end)
	case marker == dac, (marker == dnl || marker == dri) && end-body == 4:
		return nil
	case marker >= sof0 && marker <= sof15 && marker != jpg:
		return j.frame(body, end)
	}
	return errBrokenStructure // decoders also reject it
}

// application keeps an application segment, reduces it to the parts that are needed for rendering, or removes it. The
// segment's length field is at body, directly after its marker.
func (j *jpegScan) application(marker byte, body, end int64) error {
	p, err := j.peek(body+2, int(min(end-body-2, jfifBytes)))
	if err != nil {
		return err
	}
	if marker == app2 && len(p) == iccBytes && bytes.HasPrefix(p, icc) && !j.scanned && len(j.profile) < maxChunks {
		j.profile = append(j.profile, span{body, end})
		return nil
	}
	if needed := j.neededContent(marker, p, body, end); needed != nil {
		return j.cut(marker, body, end, needed)
	}
	return j.remove(body-2, end)
}

// neededContent returns the part of an application segment's content that is needed for rendering, or nil. The segment
// extends from body to end. p is the beginning of its content.
func (j *jpegScan) neededContent(marker byte, p []byte, body, end int64) []byte {
	switch marker {
	case app0:
		if len(p) == jfifBytes && bytes.HasPrefix(p, jfif) && !j.jfif {
			j.jfif = true
			return slices.Concat(p[:jfifBytes-2], []byte{0, 0}) // declares an empty thumbnail
		}
	case app1:
		if bytes.HasPrefix(p, exif) && !j.exif {
			j.exif = true
			at := body + 2 + int64(len(exif))
			if turned := j.orientationOnly(at, end-at); turned != nil {
				return slices.Concat(exif, turned)
			}
		}
	case app14:
		if len(p) >= adobeBytes && bytes.HasPrefix(p, adobe) {
			return []byte("Adobe\x00\x64\x00\x00\x00\x00" + string(p[adobeBytes-1:adobeBytes]))
		}
	}
	return nil
}

// cut replaces the content of a segment, unless it already equals content.
func (j *jpegScan) cut(marker byte, body, end int64, content []byte) error {
	want := binary.BigEndian.AppendUint16(nil, uint16(2+len(content))) //nolint:gosec // a few bytes
	want = append(want, content...)
	same, err := j.has(body, want)
	if err != nil || same && int64(len(want)) == end-body {
		return err
	}
	return j.replace(body-2, end, slices.Concat([]byte{0xff, marker}, want))
}

// colorProfile replaces the segments of the color profile with segments of the cleaned profile. It removes the profile
// if it is invalid or incomplete.
func (j *jpegScan) colorProfile() error {
	if len(j.profile) == 0 {
		return nil
	}
	raw, err := j.joinProfile()
	if err != nil {
		return err
	}
	clean := cleanProfile(raw)
	if clean != nil && bytes.Equal(raw, clean) {
		return nil
	}
	var segments []byte
	count := (len(clean) + chunkSize - 1) / chunkSize
	for i, chunk := range slices.Collect(slices.Chunk(clean, chunkSize)) {
		segments = append(segments, 0xff, app2)
		segments = binary.BigEndian.AppendUint16(segments, uint16(2+iccBytes+len(chunk))) //nolint:gosec // at most 65,535
		segments = append(segments, icc...)
		segments = append(segments, byte(i+1), byte(count)) //nolint:gosec // maxProfile is 65 chunks
		segments = append(segments, chunk...)
	}
	for _, s := range j.profile {
		if err := j.replace(s.at-2, s.end, segments); err != nil {
			return err
		}
		segments = nil
	}
	return nil
}

// joinProfile returns the color profile from all segments, or nil if segments are missing or out of order.
func (j *jpegScan) joinProfile() ([]byte, error) {
	var raw []byte
	for i, s := range j.profile {
		p, err := j.peek(s.at+iccBytes, 2)
		if err != nil {
			return nil, err
		}
		n := s.end - s.at - 2 - iccBytes
		if int(p[0]) != i+1 || int(p[1]) != len(j.profile) || int64(len(raw))+n > maxProfile {
			return nil, nil
		}
		if raw, err = j.read(raw, s.at+2+iccBytes, n); err != nil {
			return nil, err
		}
	}
	return raw, nil
}
