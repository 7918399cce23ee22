package thumbnail_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/gif"
	"image/png"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"testing/iotest"

	"pressroom.example/pressroom/internal/platform/mediainfo"
	"pressroom.example/pressroom/internal/platform/thumbnail"
)

const memory = 128 << 20

var (
	red   = color.RGBA{R: 255, A: 255}
	green = color.RGBA{G: 255, A: 255}
	blue  = color.RGBA{B: 255, A: 255}
	white = color.RGBA{R: 255, G: 255, B: 255, A: 255}
	none  = color.RGBA{}
)

// TestOrientations checks all eight orientations, scaled and unscaled. The quarters are named as stored.
func TestOrientations(t *testing.T) {
	t.Parallel()
	maker := thumbnail.New(memory)
	data := encodeAs(t, quarters(64, 32, red, green, blue, white), mediainfo.JPEG)
	for orientation, want := range [][]color.RGBA{
		1: {red, green, blue, white}, 2: {green, red, white, blue}, 3: {white, blue, green, red}, 4: {blue, white, red, green},
		5: {red, blue, green, white}, 6: {blue, red, white, green}, 7: {white, green, blue, red}, 8: {green, white, red, blue},
	} {
		if orientation == 0 {
			continue
		}
		turned := withOrientation(data, byte(orientation))
		about := info(t, turned)
		for _, side := range []int{0, 64, 40, 16} {
			name := fmt.Sprintf("orientation %d, side %d", orientation, side)
			made, err := maker.Thumbnail(t.Context(), 1, bytes.NewReader(turned), about, side)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if side > 0 && max(made.Width, made.Height) != side || (made.Width < made.Height) != (orientation >= 5) {
				t.Errorf("%s: %d × %d", name, made.Width, made.Height)
			}
			checkQuarters(t, name, made, want...)
		}
	}
}

func TestTransparency(t *testing.T) {
	t.Parallel()
	maker := thumbnail.New(memory)
	half := color.RGBA{R: 128, A: 128}
	data := encodeAs(t, quarters(60, 40, red, none, half, white), mediainfo.PNG)
	about := info(t, data)
	for _, side := range []int{0, 30} {
		made, err := maker.Thumbnail(t.Context(), 1, bytes.NewReader(data), about, side)
		if err != nil || made.Type != mediainfo.PNG {
			t.Errorf("thumbnail: %s (%v), want a PNG", made.Type, err)
		}
		checkQuarters(t, "thumbnail", made, red, none, half, white)
		for _, c := range []struct {
			types []string
			want  string
			back  []color.RGBA
		}{
			{nil, mediainfo.JPEG, []color.RGBA{red, white, {R: 255, G: 127, B: 127, A: 255}, white}},
			{[]string{mediainfo.PNG, mediainfo.JPEG}, mediainfo.JPEG, []color.RGBA{red, white, {R: 255, G: 127, B: 127, A: 255}, white}},
			{[]string{mediainfo.PNG}, mediainfo.PNG, []color.RGBA{red, none, half, white}},
		} {
			made, err := maker.Fit(t.Context(), 1, bytes.NewReader(data), about, thumbnail.Limits{Types: c.types, MaxSide: side})
			if err != nil || made.Type != c.want {
				t.Errorf("fit to %v: %s (%v), want %s", c.types, made.Type, err, c.want)
			}
			checkQuarters(t, "fit", made, c.back...)
		}
	}
}

// TestFirstFrame checks that the first frame of an animation is at its position on the canvas.
func TestFirstFrame(t *testing.T) {
	t.Parallel()
	maker := thumbnail.New(memory)
	palette := color.Palette{red, green, none}
	first := image.NewPaletted(image.Rect(20, 0, 40, 40), palette)
	second := image.NewPaletted(image.Rect(0, 0, 40, 40), color.Palette{green})
	var data bytes.Buffer
	all := gif.GIF{Image: []*image.Paletted{first, second}, Delay: []int{1, 1}, Config: image.Config{Width: 40, Height: 40}}
	if err := gif.EncodeAll(&data, &all); err != nil {
		t.Fatal(err)
	}
	made, err := maker.Thumbnail(t.Context(), 1, bytes.NewReader(data.Bytes()), info(t, data.Bytes()), 20)
	if err != nil {
		t.Fatal(err)
	}
	checkQuarters(t, "GIF", made, none, red, none, red)

	webp := genuine(t, "animated.webp")
	made, err = maker.Thumbnail(t.Context(), 1, bytes.NewReader(webp), info(t, webp), 0)
	if err != nil || made.Width != 80 || made.Height != 40 || made.Type != mediainfo.JPEG {
		t.Errorf("WebP: %s of %d × %d (%v), want a JPEG of 80 × 40", made.Type, made.Width, made.Height, err)
	}
}

// TestFrameWithOffset checks a WebP whose transparent first frame is in the lower right of a larger canvas.
func TestFrameWithOffset(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"alpha.webp", "lossless.webp"} {
		still := genuine(t, name)
		frame := still[12:]
		if string(frame[:4]) == "VP8X" {
			frame = frame[18:]
		}
		size := []byte{79, 0, 0, 39, 0, 0}
		anmf := slices.Concat([]byte{40, 0, 0, 20, 0, 0}, size, []byte{9, 0, 0, 0}, frame)
		body := slices.Concat([]byte("WEBPVP8X\x0a\x00\x00\x00\x12\x00\x00\x00\x9f\x00\x00\x4f\x00\x00"),
			riffChunk("ANIM", make([]byte, 6)), riffChunk("ANMF", anmf))
		data := riffChunk("RIFF", body)
		made, err := thumbnail.New(memory).Thumbnail(t.Context(), 1, bytes.NewReader(data), info(t, data), 0)
		if err != nil || made.Width != 160 || made.Height != 80 {
			t.Fatalf("%s: %d × %d (%v), want 160 × 80", name, made.Width, made.Height, err)
		}
		checkQuarters(t, name, made, none, none, none)
		img, err := png.Decode(bytes.NewReader(made.Bytes))
		if err != nil {
			t.Fatal(err)
		}
		if _, _, _, a := img.At(120, 60).RGBA(); a == 0 {
			t.Errorf("%s: nothing where the frame is", name)
		}
	}
}

func riffChunk(kind string, content []byte) []byte {
	return slices.Concat(binary.LittleEndian.AppendUint32([]byte(kind), uint32(len(content))), content)
}

// noise returns the worst case for an encoder: a repeated random tile.
func noise(width, height int) *image.RGBA {
	tile := image.NewRGBA(image.Rect(0, 0, 200, 100))
	source := rand.New(rand.NewPCG(1, 2))
	for i := range tile.Pix {
		tile.Pix[i] = byte(source.Uint32()) | byte(255*(i%4/3))
	}
	img := image.NewRGBA(image.Rect(0, 0, width, height))
	for y := 0; y < height; y += 100 {
		for x := 0; x < width; x += 200 {
			draw.Draw(img, image.Rect(x, y, x+200, y+100), tile, image.Point{}, draw.Src)
		}
	}
	return img
}

func TestFit(t *testing.T) {
	t.Parallel()
	large, small := encodeAs(t, noise(4000, 3000), mediainfo.JPEG), encodeAs(t, noise(800, 600), mediainfo.JPEG)
	maker := thumbnail.New(memory)
	for _, c := range []struct {
		data []byte
		want thumbnail.Limits
		err  error
	}{
		{large, thumbnail.Limits{MaxBytes: 976_000}, nil},
		{small, thumbnail.Limits{MaxBytes: 300_000}, nil},
		{small, thumbnail.Limits{MaxBytes: 60_000, MaxSide: 400}, nil},
		{small, thumbnail.Limits{MaxBytes: 100_000, MaxSide: 400, Types: []string{mediainfo.PNG}}, nil},
		{small, thumbnail.Limits{MaxBytes: 2000}, nil},
		{small, thumbnail.Limits{MaxBytes: 100}, thumbnail.ErrCannotFit},
		{small, thumbnail.Limits{MaxBytes: 1, Types: []string{mediainfo.PNG}}, thumbnail.ErrCannotFit},
		{small, thumbnail.Limits{Types: []string{mediainfo.WebP}}, thumbnail.ErrCannotFit},
	} {
		made, err := maker.Fit(t.Context(), 1, bytes.NewReader(c.data), info(t, c.data), c.want)
		if !errors.Is(err, c.err) {
			t.Errorf("%+v: %v, want %v", c.want, err, c.err)
		}
		if c.err != nil {
			continue
		}
		t.Logf("%+v: %d × %d, %d bytes", c.want, made.Width, made.Height, len(made.Bytes))
		if n := int64(len(made.Bytes)); n > c.want.MaxBytes || n < c.want.MaxBytes/3 {
			t.Errorf("%+v: %d bytes", c.want, n)
		}
		if c.want.MaxSide > 0 && made.Width > c.want.MaxSide || made.Width*3 < made.Height*4-6 || made.Width*3 > made.Height*4+6 {
			t.Errorf("%+v: %d × %d", c.want, made.Width, made.Height)
		}
	}
}

// TestMetadataRemoved checks that results have no metadata.
func TestMetadataRemoved(t *testing.T) {
	t.Parallel()
	data := withOrientation(encodeAs(t, quarters(64, 32, red), mediainfo.JPEG), 1)
	made, err := thumbnail.New(memory).Fit(t.Context(), 1, bytes.NewReader(data), info(t, data), thumbnail.Limits{})
	if err != nil || bytes.Contains(made.Bytes, []byte("Exif")) {
		t.Errorf("metadata is left, or %v", err)
	}
}

func TestTooLarge(t *testing.T) {
	t.Parallel()
	data := encodeAs(t, image.NewGray(image.Rect(0, 0, 1000, 1000)), mediainfo.PNG)
	about := info(t, data)
	if _, err := thumbnail.New(4_000_000+40_000).Thumbnail(t.Context(), 1, bytes.NewReader(data), about, 100); err != nil {
		t.Errorf("with as much as it takes: %v", err)
	}
	if _, err := thumbnail.New(4_000_000+39_999).
		Thumbnail(t.Context(), 1, bytes.NewReader(data), about, 100); !errors.Is(err, thumbnail.ErrTooLarge) {
		t.Errorf("with a byte less: %v, want ErrTooLarge", err)
	}
	for limit, want := range map[int64]int{8_000_000: 1000, 7_999_999: 990, 6_000_000: 700, 5_000_000: 495, 4_040_000: 99} {
		made, err := thumbnail.New(limit).Fit(t.Context(), 1, bytes.NewReader(data), about, thumbnail.Limits{})
		if err != nil || made.Width != want {
			t.Errorf("fit with %d bytes: %d pixels wide (%v), want %d", limit, made.Width, err, want)
		}
	}
	if _, err := thumbnail.New(3_999_999).
		Fit(t.Context(), 1, bytes.NewReader(data), about, thumbnail.Limits{}); !errors.Is(err, thumbnail.ErrTooLarge) {
		t.Errorf("fit with less: %v, want ErrTooLarge", err)
	}
}

func TestDamaged(t *testing.T) {
	t.Parallel()
	maker := thumbnail.New(memory)
	img := noise(100, 80)
	files := map[string][]byte{
		"webp": genuine(t, "lossy.webp"), "lossless": genuine(t, "lossless.webp"), "animated": genuine(t, "animated.webp"),
	}
	for _, mime := range []string{mediainfo.JPEG, mediainfo.PNG, mediainfo.GIF} {
		files[mime] = encodeAs(t, img, mime)
	}
	for name, data := range files {
		about := info(t, data)
		_, err := maker.Thumbnail(t.Context(), 1, bytes.NewReader(data[:len(data)/3]), about, 10)
		if !errors.Is(err, mediainfo.ErrDamaged) || errors.Is(err, thumbnail.ErrUnsupported) {
			t.Errorf("%s, cut short: %v, want ErrDamaged", name, err)
		}
		gone := errors.New("the disk is gone")
		disk := io.MultiReader(bytes.NewReader(data[:len(data)/3]), iotest.ErrReader(gone))
		if _, err := maker.Thumbnail(t.Context(), 1, disk, about, 10); !errors.Is(err, gone) || errors.Is(err, mediainfo.ErrDamaged) {
			t.Errorf("%s, from a disk that fails: %v, want its error", name, err)
		}
	}
	data := files[mediainfo.PNG]
	other := info(t, data)
	other.Width, other.Height = 99, 80
	if _, err := maker.Thumbnail(t.Context(), 1, bytes.NewReader(data), other, 10); !errors.Is(err, mediainfo.ErrDamaged) {
		t.Errorf("another image: %v, want ErrDamaged", err)
	}
}

func TestUnsupported(t *testing.T) {
	t.Parallel()
	maker := thumbnail.New(memory)
	plain := encodeAs(t, quarters(64, 32, red), mediainfo.JPEG)
	frame := bytes.Index(plain, []byte{0xff, 0xc0})
	arithmetic, twelve := slices.Clone(plain), slices.Clone(plain)
	arithmetic[frame+1] = 0xc9
	twelve[frame+4] = 12
	for name, data := range map[string][]byte{"arithmetic coding": arithmetic, "12 bits": twelve} {
		_, err := maker.Thumbnail(t.Context(), 1, bytes.NewReader(data), info(t, data), 10)
		if !errors.Is(err, thumbnail.ErrUnsupported) || errors.Is(err, mediainfo.ErrDamaged) {
			t.Errorf("%s: %v, want ErrUnsupported", name, err)
		}
	}
	video := genuine(t, "end.mp4")
	if _, err := maker.Thumbnail(t.Context(), 1, bytes.NewReader(video), info(t, video), 10); !errors.Is(err, thumbnail.ErrUnsupported) {
		t.Errorf("a video: %v, want ErrUnsupported", err)
	}
}

func FuzzThumbnail(f *testing.F) {
	for _, name := range []string{
		"lossy.webp", "lossless.webp", "alpha.webp", "animated.webp", "animated.gif", "animated.png", "interlaced.png", "progressive.jpg",
	} {
		f.Add(genuine(f, name))
	}
	f.Add(encodeAs(f, quarters(30, 20, red, green, none), mediainfo.JPEG))
	maker := thumbnail.New(24 << 20)
	f.Fuzz(func(t *testing.T, data []byte) {
		about, err := mediainfo.Read(bytes.NewReader(data), int64(len(data)))
		if err != nil || about.Kind != mediainfo.Image {
			return
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		made, err := maker.Thumbnail(t.Context(), 1, bytes.NewReader(data), about, 50)
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; took > 64<<20 {
			t.Errorf("%d bytes of memory taken", took)
		}
		switch {
		case err == nil && (max(made.Width, made.Height) > 50 || len(made.Bytes) == 0):
			t.Errorf("%d bytes of %d × %d", len(made.Bytes), made.Width, made.Height)
		case err != nil && !errors.Is(err, mediainfo.ErrDamaged) && !errors.Is(err,
			thumbnail.ErrTooLarge) && !errors.Is(err, thumbnail.ErrUnsupported):
			t.Error(err)
		}
	})
}

func BenchmarkThumbnail(b *testing.B) {
	img := noise(400, 300)
	large := image.NewRGBA(image.Rect(0, 0, 4000, 3000))
	for y := range 3000 {
		for x := range 4000 {
			large.SetRGBA(x, y, img.RGBAAt(x/10, y/10))
		}
	}
	maker := thumbnail.New(memory)
	for _, mime := range []string{mediainfo.JPEG, mediainfo.PNG} {
		data := encodeAs(b, large, mime)
		about := info(b, data)
		b.Run(mime, func(b *testing.B) {
			for b.Loop() {
				if _, err := maker.Thumbnail(b.Context(), 1, bytes.NewReader(data), about, 512); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
