package stripmeta_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"image"
	"image/gif"
	"image/png"
	"reflect"
	"slices"
	"testing"

	"golang.org/x/image/webp"

	"pressroom.example/pressroom/internal/platform/mediainfo"
	"pressroom.example/pressroom/internal/platform/stripmeta"
)

func decodePNG(t *testing.T, data []byte) image.Image {
	t.Helper()
	m, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestPNG(t *testing.T) {
	t.Parallel()
	s := []byte(secret)
	const first = 8 + 25 // after IHDR
	colors := newPNGChunk("iCCP", []byte("ICC profile\x00\x00"), deflate(profile))
	plain := insertAt(encodeAs(t, "png"), first, colors, newPNGChunk("pHYs", make([]byte, 9)))
	pixels := decodePNG(t, plain)
	for name, data := range map[string][]byte{
		"tEXt":           insertAt(plain, first, newPNGChunk("tEXt", []byte("Comment\x00"), s)),
		"zTXt":           insertAt(plain, first, newPNGChunk("zTXt", []byte("Comment\x00\x00"), s)),
		"iTXt":           insertAt(plain, first, newPNGChunk("iTXt", []byte("XML:com.adobe.xmp\x00\x00\x00\x00\x00"), s)),
		"eXIf":           insertAt(plain, first, newPNGChunk("eXIf", newEXIF(binary.LittleEndian, 1))),
		"tIME":           insertAt(plain, first, newPNGChunk("tIME", s)),
		"private":        insertAt(plain, first, newPNGChunk("prVt", s)),
		"after the data": insertAt(plain, len(plain)-12, newPNGChunk("tEXt", s)),
		"after the end":  append(bytes.Clone(plain), s...),
	} {
		out := checkStrip(t, data, mediainfo.PNG)
		if !bytes.Equal(out, plain) || !reflect.DeepEqual(pixels, decodePNG(t, out)) {
			t.Errorf("%s: not the plain image", name)
		}
	}
	out := checkStrip(t, insertAt(plain, first, newPNGChunk("eXIf", newEXIF(binary.LittleEndian, 6))), mediainfo.PNG)
	if want := insertAt(plain, first, newPNGChunk("eXIf", minimalEXIF(6))); !bytes.Equal(out, want) {
		t.Errorf("orientation: %q", out[:120])
	}
	animated := load(t, "animated.png")
	if out := checkStrip(t, insertAt(animated, first, newPNGChunk("tEXt", s)), mediainfo.PNG); !bytes.Equal(out, animated) {
		t.Error("an animation was changed")
	}
	for name, data := range map[string][]byte{
		"no end": plain[:len(plain)-12], "a long chunk": plain[:40],
		"unknown critical": insertAt(plain, first, newPNGChunk("CgBI", s)),
	} {
		if _, err := stripmeta.Scan(bytes.NewReader(data), int64(len(data)), mediainfo.PNG); !errors.Is(err, mediainfo.ErrDamaged) {
			t.Errorf("%s: %v, want ErrDamaged", name, err)
		}
	}
}

func TestGIF(t *testing.T) {
	t.Parallel()
	s := append([]byte{byte(len(secret))}, secret+"\x00"...)
	plain := encodeAs(t, "gif")
	first := 13
	if plain[10]&0x80 != 0 {
		first += 3 << (1 + plain[10]&7)
	}
	want, err := gif.DecodeAll(bytes.NewReader(plain))
	if err != nil || !bytes.Contains(plain, []byte("NETSCAPE2.0")) {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{
		"comment":              insertAt(plain, first, []byte("\x21\xfe"), s),
		"XMP":                  insertAt(plain, first, []byte("\x21\xff\x0bXMP DataXMP"), s),
		"unknown":              insertAt(plain, first, []byte("\x21\x77"), s),
		"at the end":           insertAt(plain, len(plain)-1, []byte("\x21\xfe"), s),
		"after the end":        append(bytes.Clone(plain), secret...),
		"no trailer":           slices.Concat(plain[:len(plain)-1], []byte("\x21\xfe"), s[:5]),
		"color profile":        insertAt(plain, first, []byte("\x21\xff\x0bICCRGBG1012"), s),
		"plain text extension": insertAt(plain, first, []byte("\x21\x01\x0c0123456789ab"), s),
		"stray bytes":          slices.Concat(plain[:len(plain)-1], []byte("\x00"), []byte(secret)),
	} {
		out := checkStrip(t, data, mediainfo.GIF)
		got, err := gif.DecodeAll(bytes.NewReader(out))
		if err != nil || !reflect.DeepEqual(want, got) || !bytes.Equal(out, plain) {
			t.Errorf("%s: not the plain image: %v", name, err)
		}
	}
	for name, data := range map[string][]byte{"no image": plain[:first], "stray": insertAt(plain, first, []byte{7})} {
		if _, err := stripmeta.Scan(bytes.NewReader(data), int64(len(data)), mediainfo.GIF); !errors.Is(err, mediainfo.ErrDamaged) {
			t.Errorf("%s: %v, want ErrDamaged", name, err)
		}
	}
}

func TestWebP(t *testing.T) {
	t.Parallel()
	s := []byte(secret)
	simple := load(t, "lossy.webp")
	want, err := webp.Decode(bytes.NewReader(simple))
	if err != nil {
		t.Fatal(err)
	}
	canvas := func(flags byte) []byte {
		width, height := uint32(want.Bounds().Dx()-1), uint32(want.Bounds().Dy()-1)
		size := func(n uint32) []byte { return binary.LittleEndian.AppendUint32(nil, n)[:3] }
		return riffChunk("VP8X", []byte{flags, 0, 0, 0}, size(width), size(height))
	}
	colors := riffChunk("ICCP", profile)
	exif := riffChunk("EXIF", newEXIF(binary.LittleEndian, 1))
	rotated := riffChunk("EXIF", []byte("Exif\x00\x00"), newEXIF(binary.LittleEndian, 6))
	xmp := riffChunk("XMP ", s, []byte("odd"))
	plain := riff(canvas(0x20), colors, simple[12:])
	for name, c := range map[string]struct{ data, want []byte }{
		"EXIF and XMP": {riff(canvas(0x2c), colors, simple[12:], exif, xmp), plain},
		"rotated": {
			riff(canvas(0x2c), colors, simple[12:], rotated, xmp),
			riff(canvas(0x28), colors, simple[12:], riffChunk("EXIF", minimalEXIF(6))),
		},
		"flags only":    {riff(canvas(0x2c), colors, simple[12:]), plain},
		"unknown":       {riff(canvas(0x20), colors, riffChunk("secr", s), simple[12:]), plain},
		"simple":        {riff(simple[12:], xmp), simple},
		"after the end": {append(bytes.Clone(plain), s...), plain},
		"a short chunk": {riff(canvas(0x20), colors, simple[12:], []byte("abcdef")), plain},
	} {
		out := checkStrip(t, c.data, mediainfo.WebP)
		if !bytes.Equal(out, c.want) {
			t.Errorf("%s: %q", name, out)
		}
		if got, err := webp.Decode(bytes.NewReader(out)); err != nil || !reflect.DeepEqual(want, got) {
			t.Errorf("%s: different pixels (%v)", name, err)
		}
	}
	animated := load(t, "animated.webp")
	if out := checkStrip(t, animated, mediainfo.WebP); !bytes.Equal(out, animated) {
		t.Error("an animation without metadata was changed")
	}
	frame := func(inner ...[]byte) []byte { return riffChunk("ANMF", make([]byte, 16), bytes.Join(inner, nil)) }
	anim := func(inner ...[]byte) []byte {
		return riff(canvas(2), riffChunk("ANIM", make([]byte, 6)), frame(inner...))
	}
	if out := checkStrip(t, anim(simple[12:], riffChunk("secr", s)), mediainfo.WebP); !bytes.Equal(out, anim(simple[12:])) {
		t.Errorf("in a frame: %q", out)
	}
	for name, data := range map[string][]byte{
		"truncated": plain[:len(plain)-9], "a long chunk": riff([]byte("VP8 \xff\xff\xff\x7fxxxx")),
		"a short frame": riff(riffChunk("ANMF", s[:9])),
	} {
		if _, err := stripmeta.Scan(bytes.NewReader(data), int64(len(data)), mediainfo.WebP); !errors.Is(err, mediainfo.ErrDamaged) {
			t.Errorf("%s: %v, want ErrDamaged", name, err)
		}
	}
}

// TestRepeated checks that repeated and invalid chunks are removed.
func TestRepeated(t *testing.T) {
	t.Parallel()
	const first = 8 + 25
	plain := insertAt(encodeAs(t, "png"), first, newPNGChunk("gAMA", []byte("\x00\x00\xb1\x8f")))
	more := slices.Concat(newPNGChunk("gAMA", []byte("GPS+")), newPNGChunk("gAMA", []byte("52.5")),
		newPNGChunk("cHRM", []byte("+52.5200+013.4050/+52.5200+013.40")))
	if out := checkStrip(t, insertAt(plain, len(plain)-12, more), mediainfo.PNG); !bytes.Equal(out, plain) {
		t.Errorf("PNG: %q", out)
	}
	gifData := encodeAs(t, "gif")
	control := bytes.Index(gifData, []byte("\x21\xf9\x04"))
	more = []byte("\x21\xf9\x04GPS+\x00\x21\xf9\x0452.5\x00")
	for _, at := range []int{control, len(gifData) - 1} {
		if out := checkStrip(t, insertAt(gifData, at, more), mediainfo.GIF); !bytes.Equal(out, gifData) {
			t.Errorf("GIF: %q", out)
		}
	}
	photo := encodeAs(t, "jpeg")
	want := insertAt(photo, 2, segment(0xee, []byte("Adobe\x00\x64\x00\x00\x00\x00\x01")))
	if out := checkStrip(t, insertAt(photo, 2, segment(0xee, []byte("Adobe52.520\x01"))), mediainfo.JPEG); !bytes.Equal(out, want) {
		t.Errorf("JPEG: %q", out[:40])
	}
}

// TestImagesFromOtherPrograms checks that the images of other programs keep their pixels.
func TestImagesFromOtherPrograms(t *testing.T) {
	t.Parallel()
	for name, mime := range map[string]string{
		"alpha.webp": mediainfo.WebP, "lossless.webp": mediainfo.WebP, "lossy.webp": mediainfo.WebP, "animated.webp": mediainfo.WebP,
		"animated.png": mediainfo.PNG, "interlaced.png": mediainfo.PNG, "progressive.jpg": mediainfo.JPEG,
	} {
		data := load(t, name)
		checkSamePixels(t, mime, name, data, checkStrip(t, data, mime))
	}
	animated := load(t, "animated.gif")
	want, err := gif.DecodeAll(bytes.NewReader(animated))
	if err != nil {
		t.Fatal(err)
	}
	got, err := gif.DecodeAll(bytes.NewReader(checkStrip(t, animated, mediainfo.GIF)))
	if err != nil || !reflect.DeepEqual(want, got) {
		t.Errorf("animated.gif: different frames (%v)", err)
	}
}

// TestPixelFormats checks that PNGs of every color type and depth, in small sizes, interlaced or not, remain unchanged.
func TestPixelFormats(t *testing.T) {
	t.Parallel()
	channels := map[byte]int{0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
	for color, depths := range map[byte][]int{0: {1, 2, 4, 8, 16}, 2: {8, 16}, 3: {1, 2, 4, 8}, 4: {8, 16}, 6: {8, 16}} {
		for _, depth := range depths {
			for size := range 81 {
				for interlace := range 2 {
					width, height := 1+size%9, 1+size/9
					raw := rawSize(width, height, depth*channels[color], interlace == 1)
					header := slices.Concat(u32(uint32(width), uint32(height)), []byte{byte(depth), color, 0, 0, byte(interlace)})
					palette := newPNGChunk("PLTE", make([]byte, 3<<min(depth, 8)))
					if color != 3 {
						palette = nil
					}
					whole := slices.Concat([]byte("\x89PNG\r\n\x1a\n"), newPNGChunk("IHDR", header), palette,
						newPNGChunk("IDAT", deflate(make([]byte, raw))), newPNGChunk("IEND"))
					decodePNG(t, whole)
					if out := checkStrip(t, whole, mediainfo.PNG); !bytes.Equal(out, whole) {
						t.Errorf("%d by %d of color type %d, depth %d: changed", width, height, color, depth)
					}
				}
			}
		}
	}
}

// rawSize returns the number of bytes in an image's rows. For an interlaced image, it looks up the pass of each pixel.
func rawSize(width, height, bits int, interlaced bool) int {
	if !interlaced {
		return height * (1 + (width*bits+7)/8)
	}
	const adam7 = "1646264677777777565656567777777736463646777777775656565677777777"
	total := 0
	for pass := '1'; pass <= '7'; pass++ {
		for y := range height {
			n := 0
			for x := range width {
				if rune(adam7[y%8*8+x%8]) == pass {
					n++
				}
			}
			if n > 0 {
				total += 1 + (n*bits+7)/8
			}
		}
	}
	return total
}

// TestSurplusPixels checks that animation frames with excess or invalid pixel data are rejected.
func TestSurplusPixels(t *testing.T) {
	t.Parallel()
	plain := encodeAs(t, "png")
	frame := slices.Concat(u32(0, 1, 1, 0, 0), u16(1, 10), []byte{0, 0})
	for name, data := range map[string][]byte{
		"none":       deflate(make([]byte, 5)),
		"after them": append(deflate(make([]byte, 5)), secret...),
		"too many":   deflate(append(make([]byte, 5), secret...)),
		"no pixels":  []byte(secret),
	} {
		whole := insertAt(plain, len(plain)-12, newPNGChunk("fcTL", frame), newPNGChunk("fdAT", u32(1), data))
		_, err := stripmeta.Scan(bytes.NewReader(whole), int64(len(whole)), mediainfo.PNG)
		if name == "none" && err != nil || name != "none" && !errors.Is(err, mediainfo.ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestProfiles checks that only the curves, matrices and tables of color profiles remain.
func TestProfiles(t *testing.T) {
	t.Parallel()
	mft2 := slices.Concat([]byte("mft2\x00\x00\x00\x00\x03\x03\x02\x00"), make([]byte, 36), u16(2, 2),
		make([]byte, 2*(6+8*3+6)))
	mft1 := slices.Concat([]byte("mft1\x00\x00\x00\x00\x01\x03\x02\x00"), make([]byte, 36+256+2*3+256*3))
	para := slices.Concat([]byte("para\x00\x00\x00\x00\x00\x03\x00\x00"), make([]byte, 20))
	chad := slices.Concat([]byte("sf32\x00\x00\x00\x00"), make([]byte, 36))
	tags := []tag{{"A2B0", mft2}, {"B2A0", mft1}, {"rTRC", para}, {"chad", chad}, {"wtpt", xyz()}}
	clean := newProfile(tags...)
	photo := encodeAs(t, "jpeg")
	embed := func(p []byte) []byte { return insertAt(photo, 2, segment(0xe2, []byte("ICC_PROFILE\x00\x01\x01"), p)) }
	if out := checkStrip(t, embed(clean), mediainfo.JPEG); !bytes.Equal(out, embed(clean)) {
		t.Errorf("a clean profile is changed: %q", out[:700])
	}
	for n := range tags {
		more := slices.Clone(tags)
		more[n].value = append(bytes.Clone(tags[n].value), secret...)
		if out := checkStrip(t, embed(newProfile(more...)), mediainfo.JPEG); !bytes.Equal(out, embed(clean)) {
			t.Errorf("%s: not the clean profile", tags[n].name)
		}
	}
	// A large profile, such as for a printing press, spans several segments. A display's profile contains its name and
	// serial number.
	large := slices.Concat([]byte("curv\x00\x00\x00\x00"), u32(60_000), bytes.Repeat([]byte{1, 2}, 60_000))
	display := newProfile(tag{"gTRC", large}, tag{"mmod", []byte(secret)})
	out := checkStrip(t, insertAt(photo, 2, segment(0xe2, []byte("ICC_PROFILE\x00\x01\x02"), display[:65_000]),
		segment(0xe2, []byte("ICC_PROFILE\x00\x02\x02"), display[65_000:])), mediainfo.JPEG)
	kept := newProfile(tag{"gTRC", large})
	want := insertAt(photo, 2, segment(0xe2, []byte("ICC_PROFILE\x00\x01\x02"), kept[:65_519]),
		segment(0xe2, []byte("ICC_PROFILE\x00\x02\x02"), kept[65_519:]))
	if !bytes.Equal(out, want) {
		t.Errorf("in two segments: %d bytes, want %d", len(out), len(want))
	}
}
