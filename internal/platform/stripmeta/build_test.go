package stripmeta_test

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"pressroom.example/pressroom/internal/platform/stripmeta"
)

// secret is the marker that tests write into every kind of metadata.
const secret = "+52.5200+013.4050/"

var profile = newProfile(tag{"wtpt", xyz()}, tag{"rTRC", []byte("curv\x00\x00\x00\x00\x00\x00\x00\x01\x02\x33")})

func strip(tb testing.TB, data []byte, mime string) []byte {
	tb.Helper()
	edits, err := stripmeta.Scan(bytes.NewReader(data), int64(len(data)), mime)
	if err != nil {
		tb.Fatal(err)
	}
	return apply(tb, edits, data)
}

func apply(tb testing.TB, edits stripmeta.Edits, data []byte) []byte {
	tb.Helper()
	clean := edits.Apply(bytes.NewReader(data))
	out := make([]byte, clean.Size())
	if n, err := clean.ReadAt(out, 0); n != len(out) {
		tb.Fatal(n, err)
	}
	return out
}

// checkStrip returns a stripped file. It checks that no secret remains, and that a second run changes nothing.
func checkStrip(t *testing.T, data []byte, mime string) []byte {
	t.Helper()
	out := strip(t, data, mime)
	if bytes.Contains(out, []byte(secret)) {
		t.Errorf("the location is still there: %.600q", out)
	}
	again, err := stripmeta.Scan(bytes.NewReader(out), int64(len(out)), mime)
	if err != nil || !again.Empty() {
		t.Errorf("a clean file is changed again: %+v, %v", again, err)
	}
	return out
}

func load(tb testing.TB, name string) []byte {
	tb.Helper()
	data, err := os.ReadFile(filepath.Join("..", "mediainfo", "testdata", name))
	if err != nil {
		tb.Fatal(err)
	}
	return data
}

func u16(values ...uint16) []byte {
	var p []byte
	for _, v := range values {
		p = binary.BigEndian.AppendUint16(p, v)
	}
	return p
}

func u32(values ...uint32) []byte {
	var p []byte
	for _, v := range values {
		p = binary.BigEndian.AppendUint32(p, v)
	}
	return p
}

// newEXIF returns EXIF data with an orientation, a pointer to a GPS directory, and the secret.
func newEXIF(order binary.AppendByteOrder, orientation uint16) []byte {
	p := []byte("MM")
	if order.AppendUint16(nil, 1)[0] == 1 {
		p = []byte("II")
	}
	p = order.AppendUint16(p, 42)
	p = order.AppendUint32(p, 8)
	p = order.AppendUint16(p, 2)
	for _, v := range []uint16{0x0112, 3} {
		p = order.AppendUint16(p, v)
	}
	p = order.AppendUint32(p, 1)
	p = order.AppendUint16(p, orientation)
	p = append(p, 0, 0)
	for _, v := range []uint16{0x8825, 4} {
		p = order.AppendUint16(p, v)
	}
	p = order.AppendUint32(order.AppendUint32(p, 1), 38)
	return append(append(p, 0, 0, 0, 0), secret...)
}

// minimalEXIF returns the smallest EXIF data with an orientation.
func minimalEXIF(orientation byte) []byte {
	head := []byte("MM\x00\x2a\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01\x00")
	return slices.Concat(head, []byte{orientation}, make([]byte, 6))
}

// testImage returns a small color image.
func testImage() image.Image {
	m := image.NewNRGBA(image.Rect(0, 0, 40, 30))
	for i := range m.Pix {
		m.Pix[i] = byte(i*7) | 1
	}
	return m
}

func encodeAs(tb testing.TB, mime string) []byte {
	tb.Helper()
	var out bytes.Buffer
	var err error
	switch mime {
	case "jpeg":
		err = jpeg.Encode(&out, testImage(), nil)
	case "png":
		err = png.Encode(&out, testImage())
	case "gif":
		frame := image.NewPaletted(image.Rect(0, 0, 40, 30), color.Palette{color.Black, color.White})
		frame.Pix[77] = 1
		err = gif.EncodeAll(&out, &gif.GIF{Image: []*image.Paletted{frame, frame}, Delay: []int{9, 9}})
	}
	if err != nil {
		tb.Fatal(err)
	}
	return out.Bytes()
}

func segment(marker byte, content ...[]byte) []byte {
	p := bytes.Join(content, nil)
	return slices.Concat([]byte{0xff, marker}, u16(uint16(2+len(p))), p)
}

// insertAt returns data with bytes inserted at off.
func insertAt(data []byte, off int, parts ...[]byte) []byte {
	return slices.Concat(data[:off], bytes.Join(parts, nil), data[off:])
}

func newPNGChunk(kind string, content ...[]byte) []byte {
	p := append([]byte(kind), bytes.Join(content, nil)...)
	return slices.Concat(u32(uint32(len(p)-4)), p, u32(crc32.ChecksumIEEE(p)))
}

func riffChunk(kind string, content ...[]byte) []byte {
	p := bytes.Join(content, nil)
	head := binary.LittleEndian.AppendUint32([]byte(kind), uint32(len(p)))
	return slices.Concat(head, p, make([]byte, len(p)&1))
}

func riff(chunks ...[]byte) []byte { return riffChunk("RIFF", []byte("WEBP"), bytes.Join(chunks, nil)) }

// box returns a box of ISO/IEC 14496-12.
func box(kind string, content ...[]byte) []byte {
	p := bytes.Join(content, nil)
	return slices.Concat(u32(uint32(8+len(p))), []byte(kind), p)
}

// tag is a tag of a color profile.
type tag struct {
	name  string
	value []byte
}

func xyz() []byte { return append([]byte("XYZ \x00\x00\x00\x00"), u32(0xf6d6, 0x10000, 0xd32d)...) }

// newProfile returns a color profile with a minimal header.
func newProfile(tags ...tag) []byte {
	header := make([]byte, 128)
	copy(header[8:], "\x02\x40")
	copy(header[12:], "mntrRGB XYZ ")
	copy(header[24:], u16(2000, 1, 1))
	copy(header[36:], "acsp")
	copy(header[68:], u32(0xf6d6, 0x10000, 0xd32d))
	at := uint32(len(header) + 4 + 12*len(tags))
	var table, data []byte
	for _, t := range tags {
		table = append(append(table, t.name...), u32(at+uint32(len(data)), uint32(len(t.value)))...)
		data = append(data, t.value...)
		data = append(data, make([]byte, -len(data)&3)...)
	}
	out := slices.Concat(header, u32(uint32(len(tags))), table, data)
	copy(out, u32(uint32(len(out))))
	return out
}

func deflate(data []byte) []byte {
	var out bytes.Buffer
	w := zlib.NewWriter(&out)
	w.Write(data)
	w.Close()
	return out.Bytes()
}
