package stripmeta_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/platform/mediainfo"
	"pressroom.example/pressroom/internal/platform/stripmeta"
)

const (
	ftyp = "\x00\x00\x00\x14ftypisom\x00\x00\x00\x00isom"
	// pictures and samples are the media bytes of the video and of a location track.
	pictures = "the pictures of the video"
	samples  = secret + "," + secret
)

// film is a small video with parts that tests can change.
type film struct {
	moov, trak, mdia, minf []byte // additional boxes in these boxes
	stbl, entry, brands    []byte // as above
	meta                   []byte // an additional trak
	head, mdat, tail       []byte // boxes before the video, the media bytes, and bytes after the video
	front                  bool   // moov is before mdat
}

func matrix() []byte { return u32(0, 1<<16, 0, 0xffff0000, 0, 0, 0, 0, 1<<30) }

func (f film) bytes() []byte {
	dates := u32(0, 0xe0000001, 0xe0000002)
	colr := box("colr", []byte("nclx"), u16(1, 1, 1), []byte{0})
	entry := box("avc1", make([]byte, 24), u16(64, 48), make([]byte, 50), colr, f.entry)
	hdlr := box("hdlr", u32(0, 0), []byte("vide"), make([]byte, 13))
	chunk := box("stsc", u32(0, 1, 1, 1, 1))
	tkhd := box("tkhd", dates, u32(1, 0, 0, 0, 0, 0, 0), matrix(), u32(64<<16, 48<<16))
	mvhd := box("mvhd", dates, u32(1000, 3000), make([]byte, 80))
	moov := func(at int) []byte {
		sizes := box("stsz", u32(0, uint32(len(pictures)), 1))
		offset := box("stco", u32(0, 1, uint32(at)))
		stts := box("stts", u32(0, 1, 90, 1000))
		stbl := box("stbl", box("stsd", u32(0, 1), entry), stts, chunk, sizes, offset, f.stbl)
		minf := box("minf", box("vmhd", u32(1, 0, 0)), stbl, f.minf)
		mdia := box("mdia", box("mdhd", dates, u32(30_000, 90_000, 0)), hdlr, minf, f.mdia)
		return box("moov", mvhd, box("trak", tkhd, mdia, f.trak), f.meta, f.moov)
	}
	mdat := box("mdat", []byte(pictures), f.mdat)
	head := slices.Concat(box("ftyp", []byte("isom"), u32(0), []byte("isom"), f.brands), f.head)
	if f.front {
		return slices.Concat(head, moov(len(head)+len(moov(0))+8), mdat, f.tail)
	}
	return slices.Concat(head, mdat, moov(len(head)+8), f.tail)
}

// mdatAt is the offset of the media bytes in a film with mdat before moov.
const mdatAt = len(ftyp) + 8

// telemetry returns a track with samples at the offsets.
func telemetry(handler string, tables ...[]byte) []byte {
	stsd := box("stsd", u32(0, 1), box("gpmd", make([]byte, 8)))
	minf := box("minf", box("nmhd", u32(0)), box("stbl", stsd, bytes.Join(tables, nil)))
	hdlr := box("hdlr", u32(0, 0), []byte(handler), make([]byte, 13))
	mdia := box("mdia", box("mdhd", u32(0, 0, 0, 1000, 3000, 0)), hdlr, minf)
	tkhd := box("tkhd", u32(0, 0, 0, 2, 0, 0, 0, 0, 0, 0), matrix(), u32(0, 0))
	return box("trak", tkhd, mdia, box("udta", []byte(secret)))
}

func TestVideo(t *testing.T) {
	t.Parallel()
	s := []byte(secret)
	at := uint32(mdatAt + len(pictures)) // offset of the samples
	one := uint32(len(secret))
	stsc, stco := box("stsc", u32(0, 1, 1, 3, 1)), box("stco", u32(0, 1, at))
	stsz := box("stsz", u32(0, 0, 3, one, 1, one))
	udta := box("udta", box("\xa9xyz", u16(18, 0x15c7), s), box("loci", u32(0), s), box("XMP_", s))
	keys := box("keys", u32(0, 1), []byte("com.apple.quicktime.location.ISO6709"))
	meta := box("meta", u32(0), keys, box("ilst", s))
	wide := slices.Concat(u32(1), []byte("uuid"), u32(0, uint32(16+len(s))), s)
	for name, change := range map[string]func(*film){
		"moov/udta":         func(f *film) { f.moov = udta },
		"moov/udta, ended":  func(f *film) { f.moov = box("udta", udta, u32(0)) },
		"trak/udta":         func(f *film) { f.trak = udta },
		"moov/meta":         func(f *film) { f.moov = meta },
		"trak/meta":         func(f *film) { f.trak = meta },
		"mdia and minf":     func(f *film) { f.mdia, f.minf = meta, udta },
		"file meta":         func(f *film) { f.tail = meta },
		"uuid":              func(f *film) { f.head, f.moov = box("uuid", s), box("uuid", s) },
		"64-bit size":       func(f *film) { f.head = wide },
		"free with content": func(f *film) { f.head, f.moov, f.trak = box("free", s), box("skip", s), box("wide", s) },
		"unknown":           func(f *film) { f.head, f.moov, f.trak = box("beam", s), box("gps ", s), box("gps ", s) },
		"to the end":        func(f *film) { f.tail = slices.Concat(u32(0), []byte("uuid"), s) },
		"short rest":        func(f *film) { f.moov, f.trak = s[:4], s[4:8] },
		"a phone's trailer": func(f *film) { f.tail = slices.Concat(u32(0x10000), []byte("SEFT"), s) },
		"a trailer":         func(f *film) { f.tail = s[:7] },
		"front":             func(f *film) { f.front, f.moov = true, udta },
		"telemetry": func(f *film) {
			f.mdat, f.meta = []byte(samples), telemetry("meta", stsc, stco, stsz)
		},
		"telemetry, reference": func(f *film) {
			f.trak = box("tref", box("cdsc", u32(2)))
			f.mdat, f.meta = []byte(samples), telemetry("camm", stsc, stco, stsz)
		},
		"telemetry in chunks": func(f *film) {
			f.mdat = []byte(samples)
			co64 := box("co64", u32(0, 2, 0, at, 0, at+one+1))
			f.meta = telemetry("mebx", box("stsc", u32(0, 2, 1, 2, 1, 2, 1, 1)), co64, stsz)
		},
		"telemetry, alike": func(f *film) {
			f.mdat = []byte(samples)
			f.meta = telemetry("gpmd", box("stsc", u32(0, 1, 1, 7, 1)), stco, box("stsz", u32(0, one, 7)))
		},
		"telemetry, compact": func(f *film) {
			f.mdat = []byte(samples)
			f.meta = telemetry("text", stsc, stco, box("stz2", u32(0, 8, 3), []byte{byte(one), 1, byte(one)}))
		},
	} {
		var f film
		change(&f)
		data := f.bytes()
		sameVideo(t, name, data, checkStrip(t, data, mediainfo.MP4))
	}
}

// sameVideo checks that a video has the same properties, and the same media bytes in the same place.
func sameVideo(t *testing.T, name string, before, after []byte) {
	t.Helper()
	want, err := mediainfo.Read(bytes.NewReader(before), int64(len(before)))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	got, err := mediainfo.Read(bytes.NewReader(after), int64(len(after)))
	if err != nil || got != want {
		t.Errorf("%s: %+v (%v), want %+v", name, got, err, want)
	}
	for _, part := range []string{pictures, string(matrix()), "colrnclx"} {
		if at := bytes.Index(after, []byte(part)); at < 0 || at != bytes.Index(before, []byte(part)) {
			t.Errorf("%s: %q is at %d", name, part, at)
		}
	}
	for _, date := range [][]byte{u32(0xe0000001), u32(0xe0000002)} {
		if bytes.Contains(after, date) {
			t.Errorf("%s: a date is left", name)
		}
	}
}

func TestVideoDatesOfVersion1(t *testing.T) {
	t.Parallel()
	long := box("mvhd", u32(1<<24, 1, 0xe0000001, 1, 0xe0000002, 1000, 0, 3000), make([]byte, 80))
	data := film{moov: long}.bytes()
	out := checkStrip(t, data, mediainfo.QuickTime)
	if bytes.Contains(out, u32(0xe0000001)) || bytes.Contains(out, u32(0xe0000002)) {
		t.Error("a date is left")
	}
}

func TestFragments(t *testing.T) {
	t.Parallel()
	s, one := []byte(secret), uint32(len(secret))
	trex := func(id, size uint32) []byte { return box("trex", u32(0, id, 1, 1000, size, 0)) }
	empty := telemetry("meta", box("stsc", u32(0, 0)), box("stco", u32(0, 0)), box("stsz", u32(0, 0, 0)))
	f := film{front: true, meta: empty, moov: box("mvex", trex(1, 9), trex(2, one))}
	shown := func(flags uint32, run ...uint32) []byte {
		return box("traf", box("tfhd", u32(flags, 1)), box("tfdt", u32(0, 0)), box("trun", u32(run...)), box("udta", s))
	}
	hidden := func(header, run []uint32) []byte {
		return box("traf", box("tfhd", u32(header...)), box("trun", u32(run...)))
	}
	head := uint32(len(f.bytes()))
	first, two := shown(0x20000, 0x201, 1, 0xffff, uint32(len(pictures))), pictures+secret+secret
	for name, c := range map[string]struct {
		shown, hidden []byte
		data          string
	}{
		"default sizes": {first, hidden([]uint32{0x20000, 2}, []uint32{1, 2, 0xffff}), two},
		"one after other": {
			box("traf", box("tfhd", u32(0x20010, 1, uint32(len(pictures)))), box("trun", u32(1, 1, 0xffff))),
			hidden([]uint32{0, 2}, []uint32{0, 1}), pictures + secret,
		},
		"sizes of its own": {first, hidden([]uint32{0x20000, 2}, []uint32{0x301, 2, 0xffff, 5, one, 6, one}), two},
		"size in header":   {first, hidden([]uint32{0x2001a, 2, 1, 5, 2 * one}, []uint32{1, 1, 0xffff}), two},
		"absolute offset":  {first, hidden([]uint32{1, 2, 0, 0xffff}, []uint32{0, 1}), pictures + secret},
	} {
		moof := box("moof", box("mfhd", u32(0, 1)), c.shown, c.hidden)
		at := uint32(len(moof) + 8) // offset of the data after the moof
		moof = fill(moof, c.shown, at)
		offset := at + uint32(len(pictures))
		if name == "absolute offset" {
			offset += head
		}
		moof = fill(moof, c.hidden, offset)
		f.tail = slices.Concat(moof, box("mdat", []byte(c.data)))
		data := f.bytes()
		out := checkStrip(t, data, mediainfo.MP4)
		sameVideo(t, name, data, out)
		if bytes.LastIndex(data, []byte(pictures)) != bytes.LastIndex(out, []byte(pictures)) {
			t.Errorf("%s: the fragment's pictures are gone", name)
		}
	}
}

// fill replaces the mark 0xffff in a track fragment with an offset.
func fill(moof, traf []byte, offset uint32) []byte {
	at := bytes.Index(traf, u32(0xffff))
	if at < 0 {
		return moof
	}
	out := slices.Clone(moof)
	start := bytes.Index(moof, traf)
	copy(out[start+at:], u32(offset))
	return out
}

func TestDamagedVideos(t *testing.T) {
	t.Parallel()
	stsc, stco := box("stsc", u32(0, 1, 1, 1, 1)), box("stco", u32(0, 1, uint32(mdatAt)))
	for name, c := range map[string]func(*film){
		"a lying chunk table": func(f *film) {
			f.meta = telemetry("vide", stsc, box("stco", u32(0, 9, 1)), box("stsz", u32(0, 1, 1)))
		},
		"a lying run table": func(f *film) {
			f.meta = telemetry("vide", box("stsc", u32(0, 9, 1, 1, 1)), stco, box("stsz", u32(0, 1, 1)))
		},
		"a lying size table": func(f *film) {
			f.meta = telemetry("vide", stsc, stco, box("stsz", u32(0, 0, 9)))
		},
		"no sizes":       func(f *film) { f.meta = telemetry("vide", stsc, stco) },
		"no runs":        func(f *film) { f.meta = telemetry("vide", stco, box("stsz", u32(0, 1, 1))) },
		"a broken box":   func(f *film) { f.moov = []byte("\x00\x00\x00\x07udta") },
		"a long box":     func(f *film) { f.trak = []byte("\x7f\x00\x00\x00udta") },
		"endless boxes":  func(f *film) { f.moov = bytes.Repeat(box("free"), 20_001) },
		"a short header": func(f *film) { f.moov = box("mvhd", u32(0)) },
	} {
		var f film
		c(&f)
		data := f.bytes()
		if _, err := stripmeta.Scan(bytes.NewReader(data), int64(len(data)), mediainfo.MP4); !errors.Is(err, mediainfo.ErrDamaged) {
			t.Errorf("%s: %v, want ErrDamaged", name, err)
		}
	}
	if _, err := stripmeta.Scan(strings.NewReader("x"), 1, "text/plain"); !errors.Is(err, mediainfo.ErrType) {
		t.Errorf("another type: %v, want ErrType", err)
	}
}

// TestSamplesElsewhere checks that a removed track cannot erase samples of a kept track, and that a video whose samples
// are not in the media data is rejected.
func TestSamplesElsewhere(t *testing.T) {
	t.Parallel()
	stsc, stsz := box("stsc", u32(0, 1, 1, 2, 1)), box("stsz", u32(0, 0xffffffff, 2))
	data := film{meta: telemetry("meta", stsc, box("stco", u32(0, 2, 0, 0xffffff00)), stsz)}.bytes()
	sameVideo(t, "all", data, checkStrip(t, data, mediainfo.MP4))
	for name, at := range map[string]uint32{"ftyp": 0, "mdat's header": uint32(mdatAt - 1), "after the file": 1 << 30} {
		tables := [][]byte{stsc, box("stco", u32(0, 1, at)), box("stsz", u32(0, 5, 1))}
		checkRejected(t, name, film{meta: telemetry("vide", tables...)}.bytes())
	}
	checkRejected(t, "no samples", slices.Concat([]byte(ftyp), box("mdat", []byte(secret)), box("moov", telemetry("vide"))))
}

func checkRejected(t *testing.T, name string, data []byte) {
	t.Helper()
	if _, err := stripmeta.Scan(bytes.NewReader(data), int64(len(data)), mediainfo.MP4); !errors.Is(err, mediainfo.ErrDamaged) {
		t.Errorf("%s: %v, want ErrDamaged", name, err)
	}
}

// TestVideosKeptUnchanged checks that videos are rejected if it is unclear which tracks they show.
func TestVideosKeptUnchanged(t *testing.T) {
	t.Parallel()
	s := []byte(secret)
	moof := box("moof", box("mfhd", u32(0, 1)), box("traf", box("tfhd", u32(0, 0))))
	for name, c := range map[string]func(*film){
		"a fragment in front": func(f *film) { f.head = moof },
		"a second movie":      func(f *film) { f.tail = box("moov", box("udta", s)) },
		"samples elsewhere":   func(f *film) { f.minf = box("dinf", box("dref", u32(0, 1), box("url ", u32(0), s))) },
		"an encrypted sample": func(f *film) { f.meta = bytes.Replace(newSoundTrack(s), []byte("mp4a"), []byte("enca"), 1) },
		"two tracks of a number": func(f *film) {
			f.meta = bytes.Replace(telemetry("vide"), u32(0, 0, 0, 2), u32(0, 0, 0, 1), 1)
		},
		"chunks out of order": func(f *film) {
			stsc, stco := box("stsc", u32(0, 2, 1, 1, 1, 1, 2, 1)), box("stco", u32(0, 1, uint32(mdatAt)))
			f.meta = telemetry("vide", stsc, stco, box("stsz", u32(0, 1, 2)))
		},
		"more entries than said": func(f *film) {
			f.meta = bytes.Replace(newSoundTrack(s), u32(0, 4), u32(0, 3), 1)
		},
		"two tables": func(f *film) { f.stbl = box("stsz", u32(0, 18, 1)) },
		"comments before sound": func(f *film) {
			f.meta = bytes.Replace(newSoundTrack(s), []byte{0, 0, 0, 34}, []byte{4, 0, 0, 18}, 1)
		},
	} {
		var f film
		c(&f)
		checkRejected(t, name, f.bytes())
	}
}

// TestSoundOfConstantSize checks sound whose size is in QuickTime's description instead of the table of sizes.
func TestSoundOfConstantSize(t *testing.T) {
	t.Parallel()
	base := func(version uint16) []byte {
		return slices.Concat(make([]byte, 6), u16(1), u16(version, 0, 0, 0), u16(2, 16, 0, 0), u32(44100<<16))
	}
	const frames, sound = 6, "loud and clear, by 24 b."
	for name, entry := range map[string][]byte{
		"version 0": box("sowt", base(0)),
		"version 1": box("ima4", base(1), u32(3, 6, 12, 2)),
		"version 2": box("lpcm", base(2), u32(72, 0, 0, 2, 0x7f000000, 16, 12, 8, 2)),
		"24 bits":   box("in24", base(0)),
	} {
		size := map[string]int{"24 bits": 36}[name]
		data := (sound + secret)[:max(size, len(sound))]
		stbl := box("stbl", box("stsd", u32(0, 1), entry), box("stsc", u32(0, 1, 1, frames, 1)),
			box("stsz", u32(0, 1, frames)), box("stco", u32(0, 1, uint32(mdatAt+len(pictures)))))
		hdlr := box("hdlr", u32(0, 0), []byte("soun"), make([]byte, 13))
		minf := box("minf", box("smhd", u32(0, 0)), stbl)
		mdia := box("mdia", box("mdhd", u32(0, 0, 0, 1000, 3000, 0)), hdlr, minf)
		meta := box("trak", box("tkhd", u32(0, 0, 0, 2, 0, 0, 0, 0, 0, 0), matrix(), u32(0, 0)), mdia)
		out := strip(t, film{mdat: []byte(data + "x" + secret), meta: meta}.bytes(), mediainfo.MP4)
		if kept := bytes.TrimRight(out[mdatAt+len(pictures):][:len(data)+1+len(secret)], "\x00"); string(kept) != data {
			t.Errorf("%s: %q is left, want %q", name, kept, data)
		}
	}
}

// TestVideosFromOtherPrograms checks that the videos of other programs remain playable.
func TestVideosFromOtherPrograms(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"end.mp4", "front.mp4", "fragmented.mp4", "indexed.mp4", "turned.mp4", "plain.mov", "hevc.mp4", "mp3.mp4",
	} {
		data := load(t, name)
		want, err := mediainfo.Read(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		out := checkStrip(t, data, want.Type)
		if got, err := mediainfo.Read(bytes.NewReader(out), int64(len(out))); err != nil || got != want || len(out) != len(data) {
			t.Errorf("%s: %+v (%v), want %+v", name, got, err, want)
		}
		if bytes.Contains(out, []byte("Lavf")) {
			t.Errorf("%s: the name of the program is left", name)
		}
		for mdat := range within(data, "mdat") {
			if !bytes.Contains(out, mdat) {
				t.Errorf("%s: different samples", name)
			}
		}
	}
}
