package mediainfo_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/platform/mediainfo"
)

func TestOrientation(t *testing.T) {
	t.Parallel()
	frame := newFrame(0xc0, 30, 20, 0x22, 0x11, 0x11)
	for _, order := range []binary.AppendByteOrder{binary.BigEndian, binary.LittleEndian} {
		for value := range uint16(10) {
			want, width := int(value), 30
			if value < 1 || value > 8 {
				want = 1
			}
			if want >= 5 {
				width = 20
			}
			exif := newEXIF(order, value)
			for name, data := range map[string][]byte{
				"JPEG":               newJPEG(segment(0xe1, []byte("Exif\x00\x00"), exif), frame),
				"WebP":               extendedWebP(0, 30, 20, newChunk("EXIF", exif)),
				"WebP with a prefix": extendedWebP(0, 30, 20, newChunk("EXIF", []byte("Exif\x00\x00"), exif)),
			} {
				info, err := read(data)
				if err != nil || info.Orientation != want || info.Width != width {
					t.Errorf("%s, %v, %d: orientation %d, width %d (%v), want %d and %d", name, order, value,
						info.Orientation, info.Width, err, want, width)
				}
			}
		}
	}
}

// TestBrokenEXIF checks that invalid EXIF data is ignored.
func TestBrokenEXIF(t *testing.T) {
	t.Parallel()
	good := newEXIF(binary.BigEndian, 6)
	far := slices.Clone(good)
	copy(far[4:], u32(0xffffffff))
	many := slices.Clone(good)
	copy(many[8:], u16(0xffff, 0))
	for name, exif := range map[string][]byte{
		"empty": nil, "short": good[:7], "no directory": good[:8], "half a tag": good[:15], "far away": far, "many tags": many,
		"another magic": slices.Concat([]byte("MM\x00\x2b"), good[4:]),
	} {
		info, err := read(newJPEG(segment(0xe1, []byte("Exif\x00\x00"), exif), newFrame(0xc0, 30, 20, 0x11)))
		if err != nil || info.Orientation != 1 {
			t.Errorf("%s: orientation %d (%v), want 1", name, info.Orientation, err)
		}
	}
}

func extendedWebP(flags byte, width, height uint32, chunks ...[]byte) []byte {
	size := func(v uint32) []byte { return binary.LittleEndian.AppendUint32(nil, v-1)[:3] }
	canvas := newChunk("VP8X", []byte{flags, 0, 0, 0}, size(width), size(height))
	return newWebP(canvas, newLossless(30, 20), bytes.Join(chunks, nil))
}

func newLossless(width, height uint32) []byte {
	return newChunk("VP8L", []byte{0x2f}, binary.LittleEndian.AppendUint32(nil, width-1|(height-1)<<14))
}

func TestJPEGDecodeBytes(t *testing.T) {
	t.Parallel()
	const pixels = 4000 * 3000
	adobe := segment(0xee, []byte("Adobe\x00\x64\x00\x00\x00\x00\x00"))
	for name, c := range map[string]struct {
		data []byte
		want int64
	}{
		"4:2:0":             {newJPEG(newFrame(0xc0, 4000, 3000, 0x22, 0x11, 0x11)), 4000 * 3008 * 3 / 2},
		"4:4:4":             {newJPEG(newFrame(0xc1, 4000, 3000, 0x11, 0x11, 0x11)), pixels * 3},
		"progressive 4:2:0": {newJPEG(newFrame(0xc2, 4000, 3000, 0x22, 0x11, 0x11)), 4000 * 3008 * 3 / 2 * 5},
		"progressive 4:4:4": {newJPEG(newFrame(0xc2, 4000, 3000, 0x11, 0x11, 0x11)), pixels * 15},
		"grey":              {newJPEG(newFrame(0xc0, 4000, 3000, 0x22)), pixels},
		"RGB":               {newJPEG(adobe, newFrame(0xc0, 4000, 3000, 0x11, 0x11, 0x11)), pixels * 7},
		"CMYK":              {newJPEG(adobe, newFrame(0xc0, 4000, 3000, 0x11, 0x11, 0x11, 0x11)), pixels * 8},
	} {
		if info, err := read(c.data); err != nil || info.DecodeBytes != c.want {
			t.Errorf("%s: %d (%v), want %d", name, info.DecodeBytes, err, c.want)
		}
	}
}

func TestDamagedImages(t *testing.T) {
	t.Parallel()
	frame := newFrame(0xc0, 30, 20, 0x11)
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"wide JPEG":          {newJPEG(newFrame(0xc0, 16_385, 1, 0x11)), "wider or higher than 16,384"},
		"high JPEG":          {newJPEG(newFrame(0xc0, 1, 65_535, 0x11)), "wider or higher than 16,384"},
		"large JPEG":         {newJPEG(newFrame(0xc0, 10_000, 10_001, 0x11)), "100 megapixels"},
		"JPEG of no height":  {newJPEG(newFrame(0xc0, 30, 0, 0x11)), "no pixels"},
		"two frames":         {newJPEG(frame, frame), "segments are broken"},
		"no components":      {newJPEG(newFrame(0xc0, 30, 20)), "segments are broken"},
		"five components":    {newJPEG(newFrame(0xc0, 30, 20, 0x11, 0x11, 0x11, 0x11, 0x11)), "segments are broken"},
		"no sampling":        {newJPEG(newFrame(0xc0, 30, 20, 0x01)), "segments are broken"},
		"no frame":           {newJPEG(), "no frame header"},
		"a short segment":    {newJPEG([]byte{0xff, 0xe0, 0, 1}), "segments are broken"},
		"a long segment":     {newJPEG([]byte{0xff, 0xe0, 0xff, 0xff}), "ends too early"},
		"stray bytes":        {newJPEG(segment(0xfe), make([]byte, 70_000), frame), "segments are broken"},
		"endless segments":   {newJPEG(bytes.Repeat(segment(0xfe), 5000), frame), "segments are broken"},
		"no JPEG any more":   {[]byte{0xff, 0xd8, 0xff}, "ends too early"},
		"large PNG":          {newPNG(16_384, 16_384, 8, 2, 0), "100 megapixels"},
		"PNG of 2³² pixels":  {newPNG(0xffffffff, 0xffffffff, 8, 2, 0), "wider or higher"},
		"PNG of no width":    {newPNG(0, 7, 8, 2, 0), "no pixels"},
		"PNG of 3 bits":      {newPNG(7, 7, 3, 2, 0), "header is broken"},
		"PNG of one colour":  {newPNG(7, 7, 8, 1, 0), "header is broken"},
		"PNG without pixels": {newPNG(7, 7, 8, 2, 0, u32(0), []byte("tEXt"), u32(0)), "ends too early"},
		"PNG, a long chunk":  {newPNG(7, 7, 8, 2, 0, u32(0xffffffff), []byte("tEXt")), "ends too early"},
		"PNG, many chunks":   {newPNG(7, 7, 8, 2, 0, bytes.Repeat([]byte("\x00\x00\x00\x00tEXt\x00\x00\x00\x00"), 5000)), "too many parts"},
		"GIF of no size":     {[]byte("GIF89a\x00\x00\x00\x00\x00\x00\x00;"), "no pixels"},
		"GIF of no picture":  {[]byte("GIF89a\x07\x00\x07\x00\x00\x00\x00;"), "no picture"},
		"GIF of extensions":  {[]byte("GIF89a\x07\x00\x07\x00\x00\x00\x00" + strings.Repeat("!\xfe\x00", 9)), "ends too early"},
		"WebP, a long file":  {[]byte("RIFF\xff\xff\xff\xffWEBPVP8X"), "ends too early"},
		"WebP, a long chunk": {newWebP([]byte("VP8 \xff\xff\xff\x7fxxxx")), "ends too early"},
		"WebP of no picture": {newWebP(newChunk("VP8X", make([]byte, 10))), "no picture"},
		"WebP, no key frame": {newWebP(newChunk("VP8 ", make([]byte, 10))), "frame header"},
		"WebP, an empty one": {newWebP(newChunk("VP8 ")), "frame header"},
		"WebP, no signature": {newWebP(newChunk("VP8L", make([]byte, 5))), "frame header"},
		"WebP of a large":    {extendedWebP(0, 1<<24, 1<<24), "wider or higher"},
		"WebP of a small":    {extendedWebP(0, 29, 20), "larger than the image"},
		"WebP of two sizes":  {newWebP(newLossless(30, 20), newLossless(31, 20)), "larger than the image"},
	} {
		_, err := read(c.data)
		if !errors.Is(err, mediainfo.ErrDamaged) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want an ErrDamaged that says %q", name, err, c.want)
		}
	}
}
