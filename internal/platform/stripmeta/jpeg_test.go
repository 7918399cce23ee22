package stripmeta_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"image"
	"image/jpeg"
	"reflect"
	"slices"
	"testing"

	"pressroom.example/pressroom/internal/platform/mediainfo"
	"pressroom.example/pressroom/internal/platform/stripmeta"
)

func decodeJPEG(t *testing.T, data []byte) image.Image {
	t.Helper()
	m, err := jpeg.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestJPEG(t *testing.T) {
	t.Parallel()
	s := []byte(secret)
	colors := segment(0xe2, []byte("ICC_PROFILE\x00\x01\x01"), profile)
	segments := map[string][]byte{
		"EXIF":            segment(0xe1, []byte("Exif\x00\x00"), newEXIF(binary.LittleEndian, 1)),
		"XMP":             segment(0xe1, []byte("http://ns.adobe.com/xap/1.0/\x00"), s),
		"extended XMP":    segment(0xe1, []byte("http://ns.adobe.com/xmp/extension/\x00"), s),
		"IPTC":            segment(0xed, []byte("Photoshop 3.0\x008BIM"), s),
		"APP12":           segment(0xec, []byte("Ducky"), s),
		"FlashPix":        segment(0xe2, []byte("FPXR\x00"), s),
		"MPF":             segment(0xe2, []byte("MPF\x00"), s),
		"JFIF extension":  segment(0xe0, []byte("JFXX\x00"), s),
		"JFIF thumbnail":  segment(0xe0, []byte("JFIF\x00\x01\x02\x00\x00\x01\x00\x01\x02\x03"), s),
		"comment":         segment(0xfe, s),
		"Adobe with more": segment(0xee, []byte("Adobe\x00\x64\x00\x00\x00\x00\x01"), s),
		"stray bytes":     s,
		"second EXIF":     bytes.Repeat(segment(0xe1, []byte("Exif\x00\x00"), newEXIF(binary.BigEndian, 1)), 2),
	}
	plain := encodeAs(t, "jpeg")
	pixels := decodeJPEG(t, plain)
	for name, segment := range segments {
		out := checkStrip(t, insertAt(plain, 2, colors, segment), mediainfo.JPEG)
		if !reflect.DeepEqual(pixels, decodeJPEG(t, out)) {
			t.Errorf("%s: different pixels", name)
		}
		if !bytes.Contains(out, colors) {
			t.Errorf("%s: the color profile is gone", name)
		}
	}
	// After the scan and after the image: motion photos and depth maps.
	end := len(plain) - 2
	for name, data := range map[string][]byte{
		"comment after the scan": insertAt(plain, end, segment(0xfe, s)),
		"second image":           append(bytes.Clone(plain), insertAt(plain, 2, segments["EXIF"])...),
		"video after the image":  append(bytes.Clone(plain), box("mdat", s)...),
	} {
		if out := checkStrip(t, data, mediainfo.JPEG); !bytes.Equal(out, plain) {
			t.Errorf("%s: not the plain image: %q", name, out)
		}
	}
}

func TestJPEGOrientation(t *testing.T) {
	t.Parallel()
	plain := encodeAs(t, "jpeg")
	for value := range uint16(10) {
		for _, order := range []binary.AppendByteOrder{binary.BigEndian, binary.LittleEndian} {
			out := checkStrip(t, insertAt(plain, 2, segment(0xe1, []byte("Exif\x00\x00"), newEXIF(order, value))), mediainfo.JPEG)
			want := plain
			if value >= 2 && value <= 8 {
				want = insertAt(plain, 2, segment(0xe1, []byte("Exif\x00\x00"), minimalEXIF(byte(value))))
			}
			if !bytes.Equal(out, want) {
				t.Errorf("%v, orientation %d: %q", order, value, out[:80])
			}
		}
	}
}

// TestJPEGForms checks files with scans, restarts, fill bytes and stuffed bytes.
func TestJPEGForms(t *testing.T) {
	t.Parallel()
	if out := checkStrip(t, load(t, "progressive.jpg"), mediainfo.JPEG); len(out) == 0 {
		t.Error("nothing is left")
	}
	scan := segment(0xda, []byte{1, 1, 0, 0, 63, 0})
	table := segment(0xc4, []byte{0, 1}, make([]byte, 15), []byte{5})
	file := slices.Concat([]byte{0xff, 0xd8}, []byte{0xff, 0xff, 0xff},
		segment(0xdb, make([]byte, 65)), segment(0xc2, []byte{8, 0, 8, 0, 8, 1, 1, 0x11, 0}), scan,
		[]byte("\x01\xff\x00\x02\xff\xd0\x03\xff\xff\xd7"), table, scan, []byte("\x05\xff\x00"))
	whole := slices.Concat(file, []byte{0xff, 0xd9})
	if out := checkStrip(t, whole, mediainfo.JPEG); !bytes.Equal(out, whole) {
		t.Errorf("changed: %q", out)
	}
	with := slices.Concat(file, segment(0xe1, []byte(secret)), scan, []byte("\x09\xff\xd9"), []byte(secret))
	if out := checkStrip(t, with, mediainfo.JPEG); !bytes.Equal(out, slices.Concat(file, scan, []byte("\x09\xff\xd9"))) {
		t.Errorf("between scans: %q", out)
	}
	for name, data := range map[string][]byte{
		"truncated in a scan": file, "truncated in a segment": whole[:8], "a short segment": {0xff, 0xd8, 0xff, 0xe0, 0, 1, 0xff, 0xd9},
		"a reserved marker": {0xff, 0xd8, 0xff, 0xf5, 0, 2, 0xff, 0xd9}, "empty": {},
	} {
		if _, err := stripmeta.Scan(bytes.NewReader(data), int64(len(data)), mediainfo.JPEG); !errors.Is(err, mediainfo.ErrDamaged) {
			t.Errorf("%s: %v, want ErrDamaged", name, err)
		}
	}
}
