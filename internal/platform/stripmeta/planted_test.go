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
	"iter"
	"maps"
	"reflect"
	"slices"
	"testing"

	"golang.org/x/image/webp"

	"pressroom/internal/platform/mediainfo"
	"pressroom/internal/platform/stripmeta"
)

// planter makes a file with a marker in one place.
type planter func(marker []byte) []byte

// planters are the places of each format in which bytes of any kind fit without changing what is shown.
func planters(tb testing.TB) map[string]map[string]planter {
	return map[string]map[string]planter{
		mediainfo.JPEG: plantedJPEG(tb), mediainfo.PNG: plantedPNG(tb), mediainfo.WebP: plantedWebP(tb), mediainfo.GIF: plantedGIF(tb),
		mediainfo.MP4: plantedVideo(), mediainfo.QuickTime: plantedQuickTime(tb),
	}
}

// plantedProfiles are color profiles with a marker.
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
		"behind":       append(long, marker...),
		"name":         profileOf(tag{"wtpt", xyz()}, tag{"desc", named}, curve),
		"newer name":   profileOf(tag{"wtpt", xyz()}, tag{"cprt", valued("mluc")}, curve),
		"serial":       profileOf(tag{"mmod", valued("mmod")}, tag{"wtpt", xyz()}, curve),
		"long tag":     profileOf(tag{"wtpt", append(xyz(), marker...)}, curve),
		"unknown type": profileOf(tag{"wtpt", xyz()}, curve, tag{"gTRC", valued("text")}),
	}
}

func plantedJPEG(tb testing.TB) map[string]planter {
	plain := encoded(tb, "jpeg")
	first := func(marker byte, content ...string) planter {
		return func(m []byte) []byte {
			return after(plain, 2, segment(marker, []byte(content[0]), m))
		}
	}
	places := map[string]planter{
		"JFIF thumbnail": first(0xe0, "JFIF\x00\x01\x02\x00\x00\x01\x00\x01\x02\x03"), "JFXX": first(0xe0, "JFXX\x00"),
		"XMP": first(0xe1, "http://ns.adobe.com/xap/1.0/\x00"), "MPF": first(0xe2, "MPF\x00"),
		"short profile": first(0xe2, "ICC_PROFILE\x00"), "IPTC": first(0xed, "Photoshop 3.0\x00"),
		"Adobe": first(0xee, "Adobe\x00\x64\x00\x00\x00\x00\x01"), "comment": first(0xfe, ""),
		"behind the end": func(m []byte) []byte { return slices.Concat(plain, m) },
		"second image":   func(m []byte) []byte { return slices.Concat(plain, after(plain, 2, segment(0xe1, m))) },
		"EXIF thumbnail": func(m []byte) []byte {
			return after(plain, 2, segment(0xe1, []byte("Exif\x00\x00"), exifOf(binary.BigEndian, 6), m))
		},
		"unused tables": func(m []byte) []byte {
			codes := segment(0xc4, []byte{0x13, byte(len(m))}, make([]byte, 15), m)
			return after(plain, 2, segment(0xdb, []byte{3}, fitted(m, 64)), codes)
		},
		"table that is replaced": func(m []byte) []byte { return after(plain, 2, segment(0xdb, []byte{0}, fitted(m, 64))) },
		"Adobe flags": func(m []byte) []byte {
			return after(plain, 2, segment(0xee, []byte("Adobe"), fitted(m, 6), []byte{1}))
		},
		"profile in two, one missing": func(m []byte) []byte {
			return after(plain, 2, segment(0xe2, []byte("ICC_PROFILE\x00\x01\x02"), profile, m))
		},
		"profile behind the scan": func(m []byte) []byte {
			return after(plain, len(plain)-2, segment(0xe2, []byte("ICC_PROFILE\x00\x01\x01"), m))
		},
		"profile in two": func(m []byte) []byte {
			long := append(bytes.Clone(profile), m...)
			one := segment(0xe2, []byte("ICC_PROFILE\x00\x01\x02"), long[:99])
			return after(plain, 2, one, segment(0xe2, []byte("ICC_PROFILE\x00\x02\x02"), long[99:]))
		},
	}
	for name := range plantedProfiles(nil) {
		places["profile: "+name] = func(m []byte) []byte {
			return after(plain, 2, segment(0xe2, []byte("ICC_PROFILE\x00\x01\x01"), plantedProfiles(m)[name]))
		}
	}
	return places
}

// fitted is a marker cut or repeated to n bytes.
func fitted(m []byte, n int) []byte { return bytes.Repeat(append(m, 1), n)[:n] }

func plantedPNG(tb testing.TB) map[string]planter {
	const first = 8 + 25
	plain := encoded(tb, "png")
	chunk := func(kind, head string) planter {
		return func(m []byte) []byte { return after(plain, first, pngChunk(kind, []byte(head), m)) }
	}
	end := len(plain) - 12
	animated := load(tb, "animated.png")
	places := map[string]planter{
		"text": chunk("tEXt", "Comment\x00"), "time": chunk("tIME", ""), "splt": chunk("sPLT", ""),
		"long pHYs": chunk("pHYs", "\x00\x00\x00\x01\x00\x00\x00\x01\x01"), "long gAMA": chunk("gAMA", "\x00\x00\xb1\x8f"),
		"long sRGB": chunk("sRGB", "\x00"), "long cICP": chunk("cICP", "\x01\x0d\x00\x01"),
		"long sBIT": chunk("sBIT", "\x08\x08\x08"),
		"long bKGD": chunk("bKGD", "\x00\x00\x00\x00\x00\x00"), "palette": func(m []byte) []byte {
			return after(plain, first, pngChunk("PLTE", fitted(m, 3*len(m)+3)))
		},
		"long acTL": chunk("acTL", "\x00\x00\x00\x01\x00\x00\x00\x00"),
		"profile":   chunk("iCCP", "any\x00\x00"),
		"no profile": func(m []byte) []byte {
			return after(plain, first, pngChunk("iCCP", m, []byte("\x00\x00"), deflated(m)))
		},
		"profile name": func(m []byte) []byte {
			name := bytes.ReplaceAll(m[:min(len(m), 79)], []byte{0}, []byte{1})
			return after(plain, first, pngChunk("iCCP", name, []byte("\x00\x00"), deflated(profile)))
		},
		"behind a profile": func(m []byte) []byte {
			return after(plain, first, pngChunk("iCCP", []byte("ICC profile\x00\x00"), deflated(profile), m))
		},
		"behind the pixels": func(m []byte) []byte { return after(plain, end, pngChunk("IDAT", m)) },
		"in the end":        func(m []byte) []byte { return slices.Concat(plain[:end], pngChunk("IEND", m)) },
		"behind the end":    func(m []byte) []byte { return slices.Concat(plain, m) },
		"in an animation":   func(m []byte) []byte { return after(animated, len(animated)-12, pngChunk("noTe", m)) },
	}
	for name := range plantedProfiles(nil) {
		places["profile: "+name] = func(m []byte) []byte {
			return after(plain, first, pngChunk("iCCP", []byte("ICC profile\x00\x00"), stored(plantedProfiles(m)[name])))
		}
	}
	return places
}

// stored is a zlib stream that is not compressed.
func stored(data []byte) []byte {
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
			return riff(canvas(8), simple[12:], riffChunk("EXIF", exifOf(binary.BigEndian, 6), m))
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
		"behind the end": func(m []byte) []byte { return slices.Concat(simple, m) },
		"animation":      func(m []byte) []byte { return riff(animated[12:], riffChunk("XMP ", m)) },
	}
	for name := range plantedProfiles(nil) {
		places["profile: "+name] = func(m []byte) []byte {
			return riff(canvas(0x20), riffChunk("ICCP", plantedProfiles(m)[name]), simple[12:])
		}
	}
	return places
}

func plantedGIF(tb testing.TB) map[string]planter {
	plain := encoded(tb, "gif")
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
		return func(m []byte) []byte { return after(plain, off, []byte(head), blocks(m)) }
	}
	loop := bytes.Index(plain, []byte("NETSCAPE2.0"))
	control := bytes.Index(plain, []byte("\x21\xf9\x04"))
	return map[string]planter{
		"comment": at(first, "\x21\xfe"), "XMP": at(first, "\x21\xff\x0bXMP DataXMP"),
		"profile":    at(first, "\x21\xff\x0bICCRGBG1012"),
		"drawn text": at(first, "\x21\x01\x0c0123456789ab"), "second loop": at(len(plain)-1, "\x21\xff\x0bNETSCAPE2.0"),
		"in the loop": func(m []byte) []byte { return after(plain, loop+11+4, blocks(m)[:len(blocks(m))-1]) },
		"loop first":  func(m []byte) []byte { return after(plain, first, []byte("\x21\xff\x0bNETSCAPE2.0"), blocks(m)) },
		"in a control": func(m []byte) []byte {
			return after(plain, control+7, blocks(m)[:len(blocks(m))-1])
		},
		"behind the pixels": func(m []byte) []byte { // of the last frame: decoders refuse it in the first
			return after(plain, len(plain)-2, blocks(m)[:len(blocks(m))-1])
		},
		"behind the end": func(m []byte) []byte { return slices.Concat(plain, m) },
	}
}

// plantedVideo plants into a film of which sameVideo knows what stays.
func plantedVideo() map[string]planter {
	with := func(change func(f *film, m []byte)) planter {
		return func(m []byte) []byte {
			f := film{}
			change(&f, m)
			return f.bytes()
		}
	}
	in := func(where func(f *film) *[]byte, kind, head string) planter {
		return with(func(f *film, m []byte) { *where(f) = box(kind, []byte(head), m) })
	}
	entry := func(f *film) *[]byte { return &f.entry }
	stbl := func(f *film) *[]byte { return &f.stbl }
	trak := func(f *film) *[]byte { return &f.trak }
	moov := func(f *film) *[]byte { return &f.moov }
	tail := func(f *film) *[]byte { return &f.tail }
	places := map[string]planter{
		"behind the samples": with(func(f *film, m []byte) { f.mdat = m }),
		"a removed track":    with(func(f *film, m []byte) { f.mdat = slices.Concat([]byte{0, 0, 0, 9}, m, []byte("x")) }),
		"a box in mdat":      with(func(f *film, m []byte) { f.mdat = box("moov", box("udta", m)) }),
		"another mdat":       in(tail, "mdat", ""),
		"mdat in front":      with(func(f *film, m []byte) { f.head = box("mdat", m) }),
		"moof of no track": with(func(f *film, m []byte) {
			traf := box("traf", box("tfhd", u32(0, 9)), box("note", m))
			f.tail = slices.Concat(box("moof", box("mfhd", u32(0, 1)), traf), box("mdat", m))
		}),
		"uuid in a moof": with(func(f *film, m []byte) {
			f.tail = box("moof", box("mfhd", u32(0, 1), m), box("uuid", m))
		}),
		"uuid":                 in(tail, "uuid", "\xbe\x7a\xcf\xcb\x97\xa9\x42\xe8\x9c\x71\x99\x94\x91\xe3\xaf\xac"),
		"index of fragments":   with(func(f *film, m []byte) { f.tail = box("sidx", u32(0, 9, 1000, 0, 0, 0), m) }),
		"random access":        in(tail, "mfra", ""),
		"download information": in(tail, "pdin", "\x00\x00\x00\x00"),
		"index of levels":      in(tail, "ssix", "\x00\x00\x00\x00"),
		"free":                 in(tail, "free", ""),
		"descriptors":          in(moov, "iods", "\x00\x00\x00\x00"),
		"protection":           in(moov, "pssh", "\x00\x00\x00\x00"),
		"clip":                 in(moov, "clip", ""),
		"matte":                in(trak, "matt", ""),
		"settings":             in(trak, "load", ""),
		"edit list": with(func(f *film, m []byte) {
			f.trak = box("edts", box("elst", u32(0, 1, 3000, 0, 1<<16), m), box("note", m))
		}),
		"aperture": with(func(f *film, m []byte) { f.trak = box("tapt", box("clef", u32(0, 64<<16, 48<<16), m)) }),
		"language": with(func(f *film, m []byte) { f.mdia = box("elng", u32(0), m) }),
		"data reference": with(func(f *film, m []byte) {
			f.minf = box("dinf", box("dref", u32(0, 1), box("url ", u32(1), m), m[:4]))
		}),
		"alias": with(func(f *film, m []byte) {
			f.minf = box("dinf", box("dref", u32(0, 1), box("alis", u32(1), m)))
		}),
		"data handler": with(func(f *film, m []byte) { f.minf = box("hdlr", u32(0), []byte("dhlrurl "), m) }),
		"media header": with(func(f *film, m []byte) { f.minf = box("nmhd", u32(0), m) }),
		"time code": with(func(f *film, m []byte) {
			f.minf = box("gmhd", box("gmin", make([]byte, 16), m), box("tmcd", m))
		}),
		"movie extends": with(func(f *film, m []byte) {
			f.moov = box("mvex", box("mehd", u32(0, 0), m), box("trex", u32(0, 1, 1, 0, 0, 0), m))
		}),
		"a table":               in(stbl, "stss", "\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x01"),
		"composition":           in(stbl, "cslg", string(make([]byte, 24))),
		"dependencies":          in(stbl, "sdtp", "\x00\x00\x00\x00"),
		"subsamples":            in(stbl, "subs", "\x00\x00\x00\x00"),
		"encryption":            in(stbl, "senc", "\x00\x00\x00\x00"),
		"groups":                in(stbl, "sbgp", "\x00\x00\x00\x00roll\x00\x00\x00\x00"),
		"groups of others":      in(stbl, "sbgp", "\x00\x00\x00\x00note\x00\x00\x00\x01"),
		"group descriptions":    in(stbl, "sgpd", "\x01\x00\x00\x00roll\x00\x00\x00\x02\x00\x00\x00\x01\xff\xff"),
		"long descriptions":     in(stbl, "sgpd", "\x01\x00\x00\x00roll\x00\x00\x00\x20\x00\x00\x00\x01\xff\xff"),
		"H.264 parameters":      in(entry, "avcC", "\x01\x64\x00\x0c\xff\xe1\x00\x02gd\x01\x00\x02he\xfd\xf8\xf8\x00"),
		"H.265 parameters":      in(entry, "hvcC", string(make([]byte, 22))+"\x01\xa0\x00\x01\x00\x02@\x01"),
		"VP9 parameters":        in(entry, "vpcC", "\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"),
		"pixel aspect":          in(entry, "pasp", "\x00\x00\x00\x01\x00\x00\x00\x01"),
		"bit rate":              in(entry, "btrt", "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"),
		"color":                 in(entry, "colr", "nclx\x00\x01\x00\x01\x00\x01\x00"),
		"older color":           in(entry, "colr", "nclc\x00\x01\x00\x01\x00\x01"),
		"color of another kind": in(entry, "colr", "note"),
		"Dolby Vision":          in(entry, "dvcC", string(make([]byte, 24))),
		"sphere": with(func(f *film, m []byte) {
			f.entry = box("sv3d", box("svhd", u32(0), m), box("proj", box("prhd", make([]byte, 16), m), box("mshp", m)))
		}),
		"elementary stream": in(entry, "esds", "\x00\x00\x00\x00\x03\x07\x00\x02\x00\x06\x02\x02\x00"),
		"inside the stream": with(func(f *film, m []byte) {
			f.entry = box("esds", u32(0), []byte{3, byte(6 + len(m)), 0, 2, 0, 6, 1, 2, 13, byte(len(m))}, m)
		}),
		"address of the stream": with(func(f *film, m []byte) {
			stream := []byte{3, byte(4 + len(m) + 15), 0, 2, 0x40, byte(len(m))}
			f.entry = box("esds", u32(0), stream, m, []byte{4, 13}, make([]byte, 13))
		}),
		"sound entry":             with(func(f *film, m []byte) { f.meta = soundOf(m) }),
		"brands":                  with(func(f *film, m []byte) { f.brands = fitted(m, 4*len(m)) }),
		"profile of another kind": with(func(f *film, m []byte) { f.entry = box("colr", []byte("prof"), m) }),
	}
	for name := range plantedProfiles(nil) {
		places["profile: "+name] = with(func(f *film, m []byte) {
			f.entry = box("colr", []byte("prof"), plantedProfiles(m)[name], make([]byte, 200))
		})
	}
	return places
}

// soundOf is a track of sound without samples, with a marker wherever one fits into its descriptions.
func soundOf(m []byte) []byte {
	mp4a := box("mp4a", make([]byte, 6), u16(1), u16(0, 0), fitted(m, 4), u16(2, 16, 0, 0), u32(44100<<16),
		box("btrt", u32(0, 0, 0), m), box("esds", u32(0), []byte{3, 3, 0, 2, 0}, m), box("chan", u32(0, 0, 0, 0), m),
		box("note", m))
	comments := slices.Concat([]byte{0x84, 0, 0, byte(len(m))}, m)
	flac := box("fLaC", make([]byte, 6), u16(1), make([]byte, 20),
		box("dfLa", u32(0), []byte{0, 0, 0, 34}, make([]byte, 34), comments))
	quick := box("mp4a", make([]byte, 6), u16(1), u16(1, 0), fitted(m, 4), u16(2, 16, 0xfffe, 0),
		u32(44100<<16, 1024, 0, 0, 2),
		box("wave", box("frma", []byte("mp4a"), m), box("mp4a", u32(0), m), box("note", m), u32(8, 0)))
	amr := box("samr", make([]byte, 6), u16(1), make([]byte, 20),
		box("damr", fitted(m, 4), []byte{0, 0x81, 0xff, 0, 1}, m))
	stsd := box("stsd", u32(0, 4), mp4a, flac, quick, amr, m[:4])
	minf := box("minf", box("smhd", u32(0, 0), m), box("stbl", stsd, box("stts", u32(0, 0), m)))
	hdlr := box("hdlr", u32(0, 0), []byte("soun"), fitted(m, 12), m)
	mdia := box("mdia", box("mdhd", u32(0, 0, 0, 1000, 3000, 0), m), hdlr, minf)
	return box("trak", box("tkhd", u32(0, 0, 0, 2, 0, 0), fitted(m, 8), u32(0, 0), matrix(), u32(0, 0), m), mdia)
}

// plantedQuickTime plants into files of other programs, whose samples have to stay in their places.
func plantedQuickTime(tb testing.TB) map[string]planter {
	places := map[string]planter{}
	for _, name := range []string{"plain.mov", "end.mp4"} {
		plain := load(tb, name)
		over := func(what string, back, n int) planter {
			return func(m []byte) []byte {
				out := bytes.Clone(plain)
				at := bytes.Index(out, []byte(what)) + back
				copy(out[at:at+n], fitted(m, n))
				return out
			}
		}
		places[name+": compressor"] = over("Lavc libx264", -1, 32)
		places[name+": handler"] = over("VideoHandler", 0, 12)
		places[name+": maker"] = over("vide\x00\x00\x00\x00", 4, 12)
		places[name+": preview times"] = over("mvhd", 4+72, 24)
		places[name+": reserved"] = over("mvhd", 4+26, 10)
		places[name+": vendor"] = over("avc1\x00\x00\x00\x00", 4+8, 16)
		places[name+": behind the file"] = func(m []byte) []byte {
			return slices.Concat(plain, box("mdat", m), box("uuid", m))
		}
	}
	return places
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// TestPlanted plants random markers in every place of every format, and expects them to be gone and what is shown to be
// the same.
func TestPlanted(t *testing.T) {
	t.Parallel()
	for mime, places := range planters(t) {
		for _, name := range slices.Sorted(maps.Keys(places)) {
			for n := range 8 {
				marker := slices.Concat([]byte("GPS-SECRET-1234"), []byte(rand.Text())[:n*3], make([]byte, n&1), []byte("!"))
				planted(t, mime, name, places[name], marker)
			}
		}
	}
}

// FuzzPlanted plants other markers.
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
			planted(t, mime, name, all[mime][name], marker)
		}
	})
}

func planted(t *testing.T, mime, name string, plant planter, marker []byte) {
	t.Helper()
	data := plant(slices.Clip(bytes.Clone(marker)))
	edits, err := stripmeta.Scan(bytes.NewReader(data), int64(len(data)), mime)
	if err != nil {
		// What a fuzzer makes may be no file any more. It is not let through.
		if !bytes.HasPrefix(marker, []byte("GPS-")) && errors.Is(err, mediainfo.ErrDamaged) {
			return
		}
		t.Fatalf("%s, %s: %v", mime, name, err)
	}
	out := apply(t, edits, data)
	// A place may be shorter than the marker, and a fuzzer's marker may be what every file has.
	part := marker[:12]
	if bytes.HasPrefix(marker, []byte("GPS-")) {
		part = marker[:4]
	}
	if bytes.Contains(opened(out, mime), part) {
		other := strip(t, plant(bytes.Repeat([]byte("~"), len(marker))), mime)
		if !bytes.Contains(opened(other, mime), part) {
			t.Errorf("%s, %s: the marker is left", mime, name)
		}
	}
	again, err := stripmeta.Scan(bytes.NewReader(out), int64(len(out)), mime)
	if err != nil || !again.Empty() {
		t.Errorf("%s, %s: a clean file is changed again: %+v, %v", mime, name, again, err)
	}
	sameShown(t, mime, name, data, out)
}

// opened is a file with its compressed color profile.
func opened(data []byte, mime string) []byte {
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

// sameShown checks that two files have the same pixels, frames or samples.
func sameShown(t *testing.T, mime, name string, data, out []byte) {
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
		case mime == mediainfo.WebP && err != nil: // of an animation
			return
		case mime == mediainfo.PNG && err != nil: // of an end that is not empty, which other decoders take
			want, err = decode(bytes.NewReader(encoded(t, "png")))
		}
	case mediainfo.GIF: // of which the decoder refuses some of the planted ones
		want, err = gif.DecodeAll(bytes.NewReader(encoded(t, "gif")))
		got, err2 = gif.DecodeAll(bytes.NewReader(out))
	default:
		want, got = samplesOf(data), samplesOf(out)
		if len(samplesOf(data)) == 0 {
			t.Errorf("%s, %s: no samples", mime, name)
		}
	}
	if err != nil || err2 != nil || !reflect.DeepEqual(want, got) {
		t.Errorf("%s, %s: something else is shown (%v, %v)", mime, name, err, err2)
	}
}

// samplesOf returns the chunks of samples that the sample tables of the tracks that are shown or heard refer to.
func samplesOf(data []byte) []string {
	var out []string
	for trak := range within(data, "moov", "trak") {
		handler := ""
		for hdlr := range within(trak, "mdia", "hdlr") {
			handler = string(hdlr[8:12])
		}
		if !slices.Contains([]string{"vide", "soun", "auxv", "clcp"}, handler) {
			continue
		}
		tables := map[string][]byte{}
		for stbl := range within(trak, "mdia", "minf", "stbl") {
			maps.Insert(tables, boxesOf(stbl))
		}
		offsets, runs, sizes := words(tables["stco"]), words(tables["stsc"]), words(tables["stsz"])
		if len(offsets) > 0 { // as many as they say
			offsets, runs = offsets[:2+offsets[1]:2+offsets[1]], runs[:2+3*runs[1]:2+3*runs[1]]
		}
		sample := 0
		for n := 1; n+1 < len(offsets); n++ {
			count, length := 0, 0
			for i := 2; i+2 < len(runs); i += 3 {
				if int(runs[i]) <= n {
					count = int(runs[i+1])
				}
			}
			count = min(count, int(sizes[2])-sample)
			for i := range count {
				if length += int(sizes[1]); sizes[1] == 0 {
					length += int(sizes[3+sample+i])
				}
			}
			sample += count
			out = append(out, string(data[offsets[n+1]:int(offsets[n+1])+length]))
		}
	}
	return out
}

func words(p []byte) []uint32 {
	var out []uint32
	for ; len(p) >= 4; p = p[4:] {
		out = append(out, binary.BigEndian.Uint32(p))
	}
	return out
}

// boxesOf lists boxes with their contents.
func boxesOf(p []byte) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		for len(p) >= 8 {
			n := int(binary.BigEndian.Uint32(p))
			if n < 8 || n > len(p) || !yield(string(p[4:8]), p[8:n]) {
				return
			}
			p = p[n:]
		}
	}
}

// within lists the contents of the boxes at a path.
func within(p []byte, path ...string) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for kind, content := range boxesOf(p) {
			if kind != path[0] {
				continue
			}
			if len(path) == 1 {
				if !yield(content) {
					return
				}
				continue
			}
			within(content, path[1:]...)(yield)
		}
	}
}
