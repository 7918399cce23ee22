package stripmeta_test

import (
	"bytes"
	"slices"
	"testing"
)

// plantedVideo returns planters for a video that sameVideo can check.
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
		"after the samples": with(func(f *film, m []byte) { f.mdat = m }),
		"a removed track":   with(func(f *film, m []byte) { f.mdat = slices.Concat([]byte{0, 0, 0, 9}, m, []byte("x")) }),
		"a box in mdat":     with(func(f *film, m []byte) { f.mdat = box("moov", box("udta", m)) }),
		"another mdat":      in(tail, "mdat", ""),
		"mdat in front":     with(func(f *film, m []byte) { f.head = box("mdat", m) }),
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
		"sound entry":             with(func(f *film, m []byte) { f.meta = newSoundTrack(m) }),
		"brands":                  with(func(f *film, m []byte) { f.brands = fit(m, 4*len(m)) }),
		"profile of another kind": with(func(f *film, m []byte) { f.entry = box("colr", []byte("prof"), m) }),
	}
	for name := range plantedProfiles(nil) {
		places["profile: "+name] = with(func(f *film, m []byte) {
			f.entry = box("colr", []byte("prof"), plantedProfiles(m)[name], make([]byte, 200))
		})
	}
	return places
}

// newSoundTrack returns an audio track without samples, with markers in its descriptions.
func newSoundTrack(m []byte) []byte {
	mp4a := box("mp4a", make([]byte, 6), u16(1), u16(0, 0), fit(m, 4), u16(2, 16, 0, 0), u32(44100<<16),
		box("btrt", u32(0, 0, 0), m), box("esds", u32(0), []byte{3, 3, 0, 2, 0}, m), box("chan", u32(0, 0, 0, 0), m),
		box("note", m))
	comments := slices.Concat([]byte{0x84, 0, 0, byte(len(m))}, m)
	flac := box("fLaC", make([]byte, 6), u16(1), make([]byte, 20),
		box("dfLa", u32(0), []byte{0, 0, 0, 34}, make([]byte, 34), comments))
	quick := box("mp4a", make([]byte, 6), u16(1), u16(1, 0), fit(m, 4), u16(2, 16, 0xfffe, 0),
		u32(44100<<16, 1024, 0, 0, 2),
		box("wave", box("frma", []byte("mp4a"), m), box("mp4a", u32(0), m), box("note", m), u32(8, 0)))
	amr := box("samr", make([]byte, 6), u16(1), make([]byte, 20),
		box("damr", fit(m, 4), []byte{0, 0x81, 0xff, 0, 1}, m))
	stsd := box("stsd", u32(0, 4), mp4a, flac, quick, amr, m[:4])
	minf := box("minf", box("smhd", u32(0, 0), m), box("stbl", stsd, box("stts", u32(0, 0), m)))
	hdlr := box("hdlr", u32(0, 0), []byte("soun"), fit(m, 12), m)
	mdia := box("mdia", box("mdhd", u32(0, 0, 0, 1000, 3000, 0), m), hdlr, minf)
	return box("trak", box("tkhd", u32(0, 0, 0, 2, 0, 0), fit(m, 8), u32(0, 0), matrix(), u32(0, 0), m), mdia)
}

// plantedQuickTime returns planters for files of other programs. They do not move samples.
func plantedQuickTime(tb testing.TB) map[string]planter {
	places := map[string]planter{}
	for _, name := range []string{"plain.mov", "end.mp4"} {
		plain := load(tb, name)
		over := func(what string, back, n int) planter {
			return func(m []byte) []byte {
				out := bytes.Clone(plain)
				at := bytes.Index(out, []byte(what)) + back
				copy(out[at:at+n], fit(m, n))
				return out
			}
		}
		places[name+": compressor"] = over("Lavc libx264", -1, 32)
		places[name+": handler"] = over("VideoHandler", 0, 12)
		places[name+": maker"] = over("vide\x00\x00\x00\x00", 4, 12)
		places[name+": preview times"] = over("mvhd", 4+72, 24)
		places[name+": reserved"] = over("mvhd", 4+26, 10)
		places[name+": vendor"] = over("avc1\x00\x00\x00\x00", 4+8, 16)
		places[name+": after the file"] = func(m []byte) []byte {
			return slices.Concat(plain, box("mdat", m), box("uuid", m))
		}
	}
	return places
}
