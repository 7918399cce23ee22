package thumbnail_test

import (
	"bytes"
	"errors"
	"image"
	"image/color"
	"testing"

	"pressroom.example/pressroom/internal/platform/mediainfo"
	"pressroom.example/pressroom/internal/platform/thumbnail"
)

// TestCrop checks parts and rotations of upright and rotated images, and the types of the results.
func TestCrop(t *testing.T) {
	t.Parallel()
	maker := thumbnail.New(memory)
	whole, right := image.Rect(0, 0, 64, 32), image.Rect(32, 0, 64, 32)
	colors := []color.RGBA{red, green, blue, white}
	plain := func(mime string, colors ...color.RGBA) []byte { return encodeAs(t, quarters(64, 32, colors...), mime) }
	turned := withOrientation(encodeAs(t, quarters(32, 64, blue, red, white, green), mediainfo.JPEG), 6) // shown: white blue, green red
	for name, c := range map[string]struct {
		data  []byte
		part  image.Rectangle
		turns int
		mime  string
		want  []color.RGBA
	}{
		"whole, to the right": {nil, whole, 1, mediainfo.JPEG, []color.RGBA{blue, red, white, green}},
		"upside down":         {nil, whole, 2, mediainfo.JPEG, []color.RGBA{white, blue, green, red}},
		"whole, to the left":  {nil, whole, 3, mediainfo.JPEG, []color.RGBA{green, white, red, blue}},
		"as often as back":    {nil, whole, -1, mediainfo.JPEG, []color.RGBA{green, white, red, blue}},
		"a part":              {nil, right, 0, mediainfo.JPEG, []color.RGBA{green, green, white, white}},
		"a part, turned":      {nil, right, 1, mediainfo.JPEG, []color.RGBA{white, green, white, green}},
		"shown turned":        {turned, whole, 0, mediainfo.JPEG, []color.RGBA{white, blue, green, red}},
		"a PNG":               {plain(mediainfo.PNG, colors...), right, 0, mediainfo.PNG, []color.RGBA{green, green, white, white}},
		"transparent": {plain(mediainfo.PNG, red, none, blue, white), right, 0, mediainfo.PNG,
			[]color.RGBA{none, none, white, white}},
		"a GIF": {plain(mediainfo.GIF, colors...), whole, 0, mediainfo.PNG, colors},
	} {
		if c.data == nil {
			c.data = plain(mediainfo.JPEG, colors...)
		}
		made, err := maker.Crop(t.Context(), 1, bytes.NewReader(c.data), info(t, c.data), c.part, c.turns)
		size := c.part.Size()
		if c.turns%2 != 0 {
			size = image.Pt(size.Y, size.X)
		}
		if err != nil || made.Type != c.mime || made.Width != size.X || made.Height != size.Y {
			t.Errorf("%s: %s of %d × %d (%v)", name, made.Type, made.Width, made.Height, err)
			continue
		}
		checkQuarters(t, name, made, c.want...)
	}
}

// TestCropBounds checks that a part must be within the image, and that memory is limited.
func TestCropBounds(t *testing.T) {
	t.Parallel()
	data := encodeAs(t, image.NewGray(image.Rect(0, 0, 1000, 1000)), mediainfo.PNG)
	about := info(t, data)
	for _, part := range []image.Rectangle{{}, image.Rect(0, 0, 1001, 10), image.Rect(-1, 0, 10, 10), image.Rect(5, 5, 5, 9)} {
		_, err := thumbnail.New(memory).Crop(t.Context(), 1, bytes.NewReader(data), about, part, 0)
		if !errors.Is(err, thumbnail.ErrOutOfBounds) {
			t.Errorf("%v: %v, want ErrOutside", part, err)
		}
	}
	part := image.Rect(0, 0, 1000, 1000)
	if _, err := thumbnail.New(8_000_000).Crop(t.Context(), 1, bytes.NewReader(data), about, part, 1); err != nil {
		t.Errorf("with as much memory as it takes: %v", err)
	}
	_, err := thumbnail.New(7_999_999).Crop(t.Context(), 1, bytes.NewReader(data), about, part, 1)
	if !errors.Is(err, thumbnail.ErrTooLarge) {
		t.Errorf("with a byte less: %v, want ErrTooLarge", err)
	}
}
