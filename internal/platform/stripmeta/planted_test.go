package stripmeta_test

import (
	"bytes"
	"compress/zlib"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"maps"
	"reflect"
	"slices"
	"testing"

	"golang.org/x/image/webp"

	"pressroom.example/pressroom/internal/platform/mediainfo"
	"pressroom.example/pressroom/internal/platform/stripmeta"
)

// planter returns a file with a marker in one place.
type planter func(marker []byte) []byte

// planters returns a planter for each place, by format, that can have any bytes without visible change.
func planters(tb testing.TB) map[string]map[string]planter {
	return map[string]map[string]planter{
		mediainfo.JPEG: plantedJPEG(tb), mediainfo.PNG: plantedPNG(tb), mediainfo.WebP: plantedWebP(tb), mediainfo.GIF: plantedGIF(tb),
		mediainfo.MP4: plantedVideo(), mediainfo.QuickTime: plantedQuickTime(tb),
	}
}

// plantedProfiles returns color profiles that contain a marker.
func plantedProfiles(marker []byte) map[string][]byte {
	curve := tag{"rTRC", []byte("curv\x00\x00\x00\x00\x00\x00\x00\x01\x02\x33")}
	header := bytes.Clone(profile)
	copy(header[80:84], marker)
	copy(header[100:128], marker)
	long := bytes.Clone(profile)
	valued := func(kind string) []byte { return slices.Concat([]byte(kind), make([]byte, 4), marker) }
	named := slices.Concat([]byte("desc\x00\x00\x00\x00"), u32(uint32(len(marker))), marker, make([]byte, 80))
	return map[string][]byte{
		"none":         marker,
		"with none":    slices.Concat(profile[:36], marker, make([]byte, 120)),
		"header":       header,
		"after":        append(long, marker...),
		"name":         newProfile(tag{"wtpt", xyz()}, tag{"desc", named}, curve),
		"newer name":   newProfile(tag{"wtpt", xyz()}, tag{"cprt", valued("mluc")}, curve),
		"serial":       newProfile(tag{"mmod", valued("mmod")}, tag{"wtpt", xyz()}, curve),
		"long tag":     newProfile(tag{"wtpt", append(xyz(), marker...)}, curve),
		"unknown type": newProfile(tag{"wtpt", xyz()}, curve, tag{"gTRC", valued("text")}),
	}
}

func plantedJPEG(tb testing.TB) map[string]planter {
	plain := encodeAs(tb, "jpeg")
	first := func(marker byte, content ...string) planter {
		return func(m []byte) []byte {
			return insertAt(plain, 2, segment(marker, []byte(content[0]), m))
		}
	}
	places := map[string]planter{
		"JFIF thumbnail": first(0xe0, "JFIF\x00\x01\x02\x00\x00\x01\x00\x01\x02\x03"), "JFXX": first(0xe0, "JFXX\x00"),
		"XMP": first(0xe1, "http://ns.adobe.com/xap/1.0/\x00"), "MPF": first(0xe2, "MPF\x00"),
		"short profile": first(0xe2, "ICC_PROFILE\x00"), "IPTC": first(0xed, "Photoshop 3.0\x00"),
		"Adobe": first(0xee, "Adobe\x00\x64\x00\x00\x00\x00\x01"), "comment": first(0xfe, ""),
		"after the end": func(m []byte) []byte { return slices.Concat(plain, m) },
		"second image":  func(m []byte) []byte { return slices.Concat(plain, insertAt(plain, 2, segment(0xe1, m))) },
		"EXIF thumbnail": func(m []byte) []byte {
			return insertAt(plain, 2, segment(0xe1, []byte("Exif\x00\x00"), newEXIF(binary.BigEndian, 6), m))
		},
		"unused tables": func(m []byte) []byte {
			codes := segment(0xc4, []byte{0x13, byte(len(m))}, make([]byte, 15), m)
			return insertAt(plain, 2, segment(0xdb, []byte{3}, fit(m, 64)), codes)
		},
		"table that is replaced": func(m []byte) []byte { return insertAt(plain, 2, segment(0xdb, []byte{0}, fit(m, 64))) },
		"Adobe flags": func(m []byte) []byte {
			return insertAt(plain, 2, segment(0xee, []byte("Adobe"), fit(m, 6), []byte{1}))
		},
		"profile in two, one missing": func(m []byte) []byte {
			return insertAt(plain, 2, segment(0xe2, []byte("ICC_PROFILE\x00\x01\x02"), profile, m))
		},
		"profile after the scan": func(m []byte) []byte {
			return insertAt(plain, len(plain)-2, segment(0xe2, []byte("ICC_PROFILE\x00\x01\x01"), m))
		},
		"profile in two": func(m []byte) []byte {
			long := append(bytes.Clone(profile), m...)
			one := segment(0xe2, []byte("ICC_PROFILE\x00\x01\x02"), long[:99])
			return insertAt(plain, 2, one, segment(0xe2, []byte("ICC_PROFILE\x00\x02\x02"), long[99:]))
		},
	}
	for name := range plantedProfiles(nil) {
		places["profile: "+name] = func(m []byte) []byte {
			return insertAt(plain, 2, segment(0xe2, []byte("ICC_PROFILE\x00\x01\x01"), plantedProfiles(m)[name]))
		}
	}
	return places
}

// fit returns a marker shortened or repeated to n bytes.
func fit(m []byte, n int) []byte { return bytes.Repeat(append(m, 1), n)[:n] }

func plantedPNG(tb testing.TB) map[string]planter {
	const first = 8 + 25
	plain := encodeAs(tb, "png")
	chunk := func(kind, head string) planter {
		return func(m []byte) []byte { return insertAt(plain, first, newPNGChunk(kind, []byte(head), m)) }
	}
	end := len(plain) - 12
	animated := load(tb, "animated.png")
	places := map[string]planter{
		"text": chunk("tEXt", "Comment\x00"), "time": chunk("tIME", ""), "splt": chunk("sPLT", ""),
		"long pHYs": chunk("pHYs", "\x00\x00\x00\x01\x00\x00\x00\x01\x01"), "long gAMA": chunk("gAMA", "\x00\x00\xb1\x8f"),
		"long sRGB": chunk("sRGB", "\x00"), "long cICP": chunk("cICP", "\x01\x0d\x00\x01"),
		"long sBIT": chunk("sBIT", "\x08\x08\x08"),
		"long bKGD": chunk("bKGD", "\x00\x00\x00\x00\x00\x00"), "palette": func(m []byte) []byte {
			return insertAt(plain, first, newPNGChunk("PLTE", fit(m, 3*len(m)+3)))
		},
		"long acTL": chunk("acTL", "\x00\x00\x00\x01\x00\x00\x00\x00"),
		"profile":   chunk("iCCP", "any\x00\x00"),
		"no profile": func(m []byte) []byte {
			return insertAt(plain, first, newPNGChunk("iCCP", m, []byte("\x00\x00"), deflate(m)))
		},
		"profile name": func(m []byte) []byte {
			name := bytes.ReplaceAll(m[:min(len(m), 79)], []byte{0}, []byte{1})
			return insertAt(plain, first, newPNGChunk("iCCP", name, []byte("\x00\x00"), deflate(profile)))
		},
		"after a profile": func(m []byte) []byte {
			return insertAt(plain, first, newPNGChunk("iCCP", []byte("ICC profile\x00\x00"), deflate(profile), m))
		},
		"after the pixels": func(m []byte) []byte { return insertAt(plain, end, newPNGChunk("IDAT", m)) },
		"in the end":       func(m []byte) []byte { return slices.Concat(plain[:end], newPNGChunk("IEND", m)) },
		"after the end":    func(m []byte) []byte { return slices.Concat(plain, m) },
		"in an animation":  func(m []byte) []byte { return insertAt(animated, len(animated)-12, newPNGChunk("noTe", m)) },
	}
	for name := range plantedProfiles(nil) {
		places["profile: "+name] = func(m []byte) []byte {
			return insertAt(plain, first, newPNGChunk("iCCP", []byte("ICC profile\x00\x00"), zlibStored(plantedProfiles(m)[name])))
		}
	}
	return places
}

// zlibStored returns an uncompressed zlib stream.
func zlibStored(data []byte) []byte {
	var out bytes.Buffer
	w := must(zlib.NewWriterLevel(&out, zlib.NoCompression))
	must(w.Write(data))
	w.Close()
	return out.Bytes()
}

func plantedWebP(tb testing.TB) map[string]planter {
	simple := load(tb, "lossy.webp")
	m, err := webp.Decode(bytes.NewReader(simple))
	if err != nil {
		tb.Fatal(err)
	}
	size := func(n int) []byte { return binary.LittleEndian.AppendUint32(nil, uint32(n-1))[:3] }
	canvas := func(flags byte, more ...byte) []byte {
		return riffChunk("VP8X", []byte{flags, 0, 0, 0}, size(m.Bounds().Dx()), size(m.Bounds().Dy()), more)
	}
	animated := load(tb, "animated.webp")
	places := map[string]planter{
		"XMP": func(m []byte) []byte { return riff(canvas(4), simple[12:], riffChunk("XMP ", m)) },
		"EXIF": func(m []byte) []byte {
			return riff(canvas(8), simple[12:], riffChunk("EXIF", newEXIF(binary.BigEndian, 6), m))
		},
		"unknown":   func(m []byte) []byte { return riff(canvas(0), riffChunk("note", m), simple[12:]) },
		"long VP8X": func(m []byte) []byte { return riff(canvas(0, m...), simple[12:]) },
		"long ANIM": func(m []byte) []byte {
			return riff(canvas(0), riffChunk("ANIM", make([]byte, 6), m), simple[12:])
		},
		"second picture": func(m []byte) []byte { return riff(canvas(0), simple[12:], riffChunk("VP8 ", m)) },
		"second profile": func(m []byte) []byte {
			return riff(canvas(0x20), riffChunk("ICCP", profile), riffChunk("ICCP", m), simple[12:])
		},
		"after the end": func(m []byte) []byte { return slices.Concat(simple, m) },
		"animation":     func(m []byte) []byte { return riff(animated[12:], riffChunk("XMP ", m)) },
	}
	for name := range plantedProfiles(nil) {
		places["profile: "+name] = func(m []byte) []byte {
			return riff(canvas(0x20), riffChunk("ICCP", plantedProfiles(m)[name]), simple[12:])
		}
	}
	return places
}

func plantedGIF(tb testing.TB) map[string]planter {
	plain := encodeAs(tb, "gif")
	first := 13
	if plain[10]&0x80 != 0 {
		first += 3 << (1 + plain[10]&7)
	}
	blocks := func(m []byte) []byte {
		var out []byte
		for part := range slices.Chunk(m, 255) {
			out = append(append(out, byte(len(part))), part...)
		}
		return append(out, 0)
	}
	at := func(off int, head string) planter {
		return func(m []byte) []byte { return insertAt(plain, off, []byte(head), blocks(m)) }
	}
	loop := bytes.Index(plain, []byte("NETSCAPE2.0"))
	control := bytes.Index(plain, []byte("\x21\xf9\x04"))
	return map[string]planter{
		"comment": at(first, "\x21\xfe"), "XMP": at(first, "\x21\xff\x0bXMP DataXMP"),
		"profile":              at(first, "\x21\xff\x0bICCRGBG1012"),
		"plain text extension": at(first, "\x21\x01\x0c0123456789ab"), "second loop": at(len(plain)-1, "\x21\xff\x0bNETSCAPE2.0"),
		"in the loop": func(m []byte) []byte { return insertAt(plain, loop+11+4, blocks(m)[:len(blocks(m))-1]) },
		"loop first":  func(m []byte) []byte { return insertAt(plain, first, []byte("\x21\xff\x0bNETSCAPE2.0"), blocks(m)) },
		"in a control": func(m []byte) []byte {
			return insertAt(plain, control+7, blocks(m)[:len(blocks(m))-1])
		},
		"after the pixels": func(m []byte) []byte { // decoders reject such bytes in the first frame
			return insertAt(plain, len(plain)-2, blocks(m)[:len(blocks(m))-1])
		},
		"after the end": func(m []byte) []byte { return slices.Concat(plain, m) },
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// TestPlantedMarkers plants random markers in every place of every format, and checks that they are removed without
// visible change.
func TestPlantedMarkers(t *testing.T) {
	t.Parallel()
	for mime, places := range planters(t) {
		for _, name := range slices.Sorted(maps.Keys(places)) {
			for n := range 8 {
				marker := slices.Concat([]byte("GPS-SECRET-1234"), []byte(rand.Text())[:n*3], make([]byte, n&1), []byte("!"))
				checkPlanted(t, mime, name, places[name], marker)
			}
		}
	}
}

// FuzzPlanted plants fuzzed markers.
func FuzzPlanted(f *testing.F) {
	all := planters(f)
	mimes := slices.Sorted(maps.Keys(all))
	f.Add([]byte("GPS-SECRET-1234"), uint16(1))
	f.Add([]byte("\x00\x00\x00\x18udta\x00\x00\x00\x10\xa9xyz12345678"), uint16(2))
	f.Fuzz(func(t *testing.T, marker []byte, which uint16) {
		if len(marker) < 12 || len(marker) > 100 {
			return
		}
		for _, mime := range mimes {
			names := slices.Sorted(maps.Keys(all[mime]))
			name := names[int(which)%len(names)]
			checkPlanted(t, mime, name, all[mime][name], marker)
		}
	})
}

func checkPlanted(t *testing.T, mime, name string, plant planter, marker []byte) {
	t.Helper()
	data := plant(slices.Clip(bytes.Clone(marker)))
	edits, err := stripmeta.Scan(bytes.NewReader(data), int64(len(data)), mime)
	if err != nil {
		// A fuzzed file may be invalid and is then rejected.
		if !bytes.HasPrefix(marker, []byte("GPS-")) && errors.Is(err, mediainfo.ErrDamaged) {
			return
		}
		t.Fatalf("%s, %s: %v", mime, name, err)
	}
	out := apply(t, edits, data)
	// A place may be shorter than the marker, and a fuzzed marker may occur in every file.
	part := marker[:12]
	if bytes.HasPrefix(marker, []byte("GPS-")) {
		part = marker[:4]
	}
	if bytes.Contains(withProfile(out, mime), part) {
		other := strip(t, plant(bytes.Repeat([]byte("~"), len(marker))), mime)
		if !bytes.Contains(withProfile(other, mime), part) {
			t.Errorf("%s, %s: the marker is left", mime, name)
		}
	}
	again, err := stripmeta.Scan(bytes.NewReader(out), int64(len(out)), mime)
	if err != nil || !again.Empty() {
		t.Errorf("%s, %s: a clean file is changed again: %+v, %v", mime, name, again, err)
	}
	checkSamePixels(t, mime, name, data, out)
}

// withProfile returns a file and its decompressed color profile.
func withProfile(data []byte, mime string) []byte {
	_, packed, found := bytes.Cut(data, []byte("iCCPICC profile\x00\x00"))
	if mime != mediainfo.PNG || !found {
		return data
	}
	z, err := zlib.NewReader(bytes.NewReader(packed))
	if err != nil {
		return data
	}
	inside, _ := io.ReadAll(z)
	return slices.Concat(data, inside)
}

// checkSamePixels checks that two files have the same pixels, frames or samples.
func checkSamePixels(t *testing.T, mime, name string, data, out []byte) {
	t.Helper()
	var want, got any
	var err, err2 error
	switch mime {
	case mediainfo.JPEG, mediainfo.PNG, mediainfo.WebP:
		decode := map[string]func(io.Reader) (image.Image, error){
			mediainfo.JPEG: jpeg.Decode, mediainfo.PNG: png.Decode, mediainfo.WebP: webp.Decode,
		}[mime]
		want, err = decode(bytes.NewReader(data))
		got, err2 = decode(bytes.NewReader(out))
		switch {
		case mime == mediainfo.WebP && err != nil: // an animation
			return
		case mime == mediainfo.PNG && err != nil: // a nonempty IEND, which other decoders accept
			want, err = decode(bytes.NewReader(encodeAs(t, "png")))
		}
	case mediainfo.GIF: // the decoder rejects some of the planted files
		want, err = gif.DecodeAll(bytes.NewReader(encodeAs(t, "gif")))
		got, err2 = gif.DecodeAll(bytes.NewReader(out))
	default:
		want, got = readSamples(data), readSamples(out)
		if len(readSamples(data)) == 0 {
			t.Errorf("%s, %s: no samples", mime, name)
		}
	}
	if err != nil || err2 != nil || !reflect.DeepEqual(want, got) {
		t.Errorf("%s, %s: different pixels or samples (%v, %v)", mime, name, err, err2)
	}
}
