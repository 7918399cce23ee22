package thumbnail_test

import (
	"bytes"
	"image"
	"image/color"
	"image/draw"
	"image/gif"
	"image/jpeg"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"pressroom.example/pressroom/internal/platform/mediainfo"
	"pressroom.example/pressroom/internal/platform/thumbnail"
)

func info(tb testing.TB, data []byte) mediainfo.Info {
	tb.Helper()
	info, err := mediainfo.Read(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		tb.Fatal(err)
	}
	return info
}

// encodeAs returns an image as a file of a MIME type.
func encodeAs(tb testing.TB, img image.Image, mime string) []byte {
	tb.Helper()
	var data bytes.Buffer
	var err error
	switch mime {
	case mediainfo.JPEG:
		err = jpeg.Encode(&data, img, &jpeg.Options{Quality: 95})
	case mediainfo.PNG:
		err = png.Encode(&data, img)
	case mediainfo.GIF:
		err = gif.Encode(&data, img, nil)
	}
	if err != nil {
		tb.Fatal(err)
	}
	return data.Bytes()
}

func genuine(tb testing.TB, name string) []byte {
	tb.Helper()
	data, err := os.ReadFile(filepath.Join("..", "mediainfo", "testdata", name))
	if err != nil {
		tb.Fatal(err)
	}
	return data
}

// quarters returns an image with a color in each quarter, in the order left to right, top to bottom.
func quarters(width, height int, colours ...color.RGBA) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, width, height))
	for i, c := range colours {
		at := image.Pt(i%2*width/2, i/2*height/2)
		draw.Draw(img, image.Rectangle{at, at.Add(image.Pt(width/2, height/2))}, image.NewUniform(c), image.Point{}, draw.Src)
	}
	return img
}

// checkQuarters checks the color in the middle of each quarter.
func checkQuarters(t *testing.T, name string, made thumbnail.Result, want ...color.RGBA) {
	t.Helper()
	img, _, err := image.Decode(bytes.NewReader(made.Bytes))
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	size := img.Bounds().Size()
	if size != image.Pt(made.Width, made.Height) {
		t.Errorf("%s: %v, said to be %d × %d", name, size, made.Width, made.Height)
	}
	for i, c := range want {
		got := color.RGBAModel.Convert(img.At((1+i%2*2)*size.X/4, (1+i/2*2)*size.Y/4)).(color.RGBA)
		if far(got.R, c.R) || far(got.G, c.G) || far(got.B, c.B) || far(got.A, c.A) {
			t.Errorf("%s: %v in quarter %d, want %v", name, got, i, c)
		}
	}
}

func far(a, b uint8) bool { return max(a, b)-min(a, b) > 32 }

func withOrientation(data []byte, orientation byte) []byte {
	exif := "\xff\xe1\x00\x22Exif\x00\x00MM\x00\x2a\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01\x00" +
		string(orientation) + "\x00\x00\x00\x00\x00\x00"
	return slices.Concat(data[:2], []byte(exif), data[2:])
}
