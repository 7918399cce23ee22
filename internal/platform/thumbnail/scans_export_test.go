package thumbnail

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"testing"
	"testing/iotest"

	"pressroom.example/pressroom/internal/platform/mediainfo"
)

// TestScanBounds checks the exact limits of scans and of their blocks.
func TestScanBounds(t *testing.T) {
	t.Parallel()
	scan := func(components byte) string {
		n := int(components)
		return fmt.Sprintf("\xff\xda\x00%c%c%s\x00\x3f\x00", rune(6+2*n), rune(n), bytes.Repeat([]byte("\x01\x00"), n)) +
			"\x12\xff\x00\xff\xd0\x34\xff\x00"
	}
	begin := "\xff\xd8\xff\xe0\x00\x06\xff\xda\xff\xda" + // content of a segment, not a scan
		"\x00stray\xff\xff\xff\xdd\x00\x04\x00\x01"
	end := "\xff\xd9"
	repeat := func(n int, components byte) string { return string(bytes.Repeat([]byte(scan(components)), n)) }
	for name, c := range map[string]struct {
		side  int
		data  string
		wants error
	}{
		"scans":                {8, begin + repeat(maxScans, 1) + end, nil},
		"a scan too many":      {8, begin + repeat(maxScans+1, 1) + end, errScans},
		"after the end":        {8, begin + repeat(maxScans, 1) + end + repeat(9, 1), nil},
		"without an end":       {8, begin + repeat(maxScans, 1), nil},
		"blocks":               {8192, begin + repeat(16, 1) + end, nil},
		"blocks too many":      {8192, begin + repeat(17, 1) + end, errScans},
		"components":           {8192, begin + repeat(4, 4) + end, nil},
		"components too many":  {8192, begin + repeat(4, 4) + repeat(1, 1) + end, errScans},
		"one whole, not whole": {8193, begin + repeat(16, 1) + end, errScans},
	} {
		info := mediainfo.Info{Type: mediainfo.JPEG, Width: c.side, Height: c.side}
		for _, r := range []io.Reader{bytes.NewReader([]byte(c.data)), iotest.OneByteReader(bytes.NewReader([]byte(c.data)))} {
			n, err := io.Copy(io.Discard, newScanReader(r, info))
			if !errors.Is(err, c.wants) || err == nil && n != int64(len(c.data)) {
				t.Errorf("%s: %d of %d bytes, %v, want %v", name, n, len(c.data), err, c.wants)
			}
		}
	}
}

// TestCountScans checks the count of a file that ImageMagick wrote in 10 scans.
func TestCountScans(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("../mediainfo/testdata/progressive.jpg")
	if err != nil {
		t.Fatal(err)
	}
	s := newScanReader(bytes.NewReader(data), mediainfo.Info{Type: mediainfo.JPEG, Width: 100, Height: 100})
	if _, err := io.Copy(io.Discard, s); err != nil || s.scans != 10 || s.state != stateEnded {
		t.Errorf("%d scans, state %d, %v", s.scans, s.state, err)
	}
}
