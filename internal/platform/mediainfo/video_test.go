package mediainfo_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pressroom.example/pressroom/internal/platform/mediainfo"
)

func TestVideos(t *testing.T) {
	t.Parallel()
	plain := mediainfo.Info{
		Type: mediainfo.MP4, Kind: mediainfo.Video, Width: 64, Height: 48, Orientation: 1, Duration: 3 * time.Second,
		VideoCodec: "h264", FrameRate: 30,
	}
	long := func(kind string, fields ...[]byte) []byte { return newBox(kind, u32(1<<24), bytes.Join(fields, nil)) }
	mvex := func(boxes ...[]byte) []byte { return newBox("mvex", boxes...) }
	trex := newBox("trex", u32(0, 1, 1, 1000, 0, 0))
	for name, c := range map[string]struct {
		film func(*film)
		want func(*mediainfo.Info)
	}{
		"plain": {func(*film) {}, func(*mediainfo.Info) {}},
		"QuickTime": {func(f *film) {
			f.ftyp = newBox("ftyp", []byte("qt  "))
		}, func(i *mediainfo.Info) { i.Type = mediainfo.QuickTime }},
		"old QuickTime": {func(f *film) { f.ftyp = nil }, func(i *mediainfo.Info) { i.Type = mediainfo.QuickTime }},
		"a quarter": {func(f *film) {
			f.tkhd = newTkhd(64, 48, matrix(0, 1, -1, 0))
		}, func(i *mediainfo.Info) { i.Width, i.Height = 48, 64 }},
		"three quarters": {func(f *film) {
			f.tkhd = newTkhd(64, 48, matrix(0, -1, 1, 0))
		}, func(i *mediainfo.Info) { i.Width, i.Height = 48, 64 }},
		"half":        {func(f *film) { f.tkhd = newTkhd(64, 48, matrix(-1, 0, 0, -1)) }, func(*mediainfo.Info) {}},
		"wide pixels": {func(f *film) { f.tkhd = newTkhd(85, 48, matrix(1, 0, 0, 1)) }, func(i *mediainfo.Info) { i.Width = 85 }},
		"as coded":    {func(f *film) { f.tkhd = newTkhd(0, 0, matrix(1, 0, 0, 1)) }, func(*mediainfo.Info) {}},
		"long fields": {func(f *film) {
			f.mvhd = long("mvhd", u32(0, 0, 0, 0, 1000, 0, 3000))
			f.mdhd = long("mdhd", u32(0, 0, 0, 0, 30_000, 0, 90_000))
			f.tkhd = long("tkhd", u32(0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0), matrix(1, 0, 0, 1), u32(64<<16, 48<<16))
		}, func(*mediainfo.Info) {}},
		"a codec of its own": {func(f *film) {
			f.stsd = newBox("stsd", u32(0, 1), newEntry("cvid", 64, 48))
		}, func(i *mediainfo.Info) { i.VideoCodec = "cvid" }},
		"a codec of no name": {func(f *film) {
			f.stsd = newBox("stsd", u32(0, 1), newEntry("\x00<\xff>", 64, 48))
		}, func(i *mediainfo.Info) { i.VideoCodec = "unknown" }},
		"frames in no time":  {func(f *film) { f.stts = newBox("stts", u32(0, 1, 90, 0)) }, func(i *mediainfo.Info) { i.FrameRate = 0 }},
		"a million a second": {func(f *film) { f.stts = newBox("stts", u32(0, 1, 1<<31, 1)) }, func(i *mediainfo.Info) { i.FrameRate = 0 }},
		"movie of no length": {func(f *film) { f.mvhd = newBox("mvhd", u32(0, 0, 0, 1000, 0xffffffff)) }, func(*mediainfo.Info) {}},
		"a phone's trailer":  {func(f *film) { f.tail = []byte("\x00\x01\x00\x00SEFT....") }, func(*mediainfo.Info) {}},
		"to the end":         {func(f *film) { f.tail = []byte("\x00\x00\x00\x00free....") }, func(*mediainfo.Info) {}},
		"mehd": {func(f *film) {
			f.mvhd, f.mvex = newBox("mvhd", u32(0, 0, 0, 1000, 0)), mvex(newBox("mehd", u32(0, 5000)), trex)
		}, func(i *mediainfo.Info) { i.Duration = 5 * time.Second }},
		"fragments": {func(f *film) {
			f.mvex = mvex(trex)
			own := newBox("traf", newBox("tfhd", u32(8, 1, 2000)), newBox("trun", u32(0, 15)))
			each := newBox("traf", newBox("tfhd", u32(0, 1)), newBox("trun", u32(0x301, 2, 0, 10_000, 7, 20_000, 7)))
			trexs := newBox("traf", newBox("tfhd", u32(0, 1)), newBox("trun", u32(0, 30)))
			other := newBox("traf", newBox("tfhd", u32(0, 7)), newBox("trun", u32(0, 1<<31)))
			f.tail = newBox("moof", own, each, trexs, other)
		}, func(i *mediainfo.Info) { i.Duration, i.FrameRate = 6*time.Second, 137.0/6 }},
		"an index": {func(f *film) {
			f.mvex = mvex(trex)
			f.tail = newBox("sidx", u32(0, 1, 1000, 0, 0, 3, 9, 4000, 0, 1<<31|9, 4000, 0, 9, 3000, 0))
		}, func(i *mediainfo.Info) { i.Duration = 7 * time.Second }},
	} {
		f, want := newFilm(), plain
		c.film(&f)
		c.want(&want)
		got, err := read(f.bytes())
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", name, diff)
		}
	}
}

func TestDamagedFilms(t *testing.T) {
	t.Parallel()
	stts := func(fields ...uint32) func(*film) {
		return func(f *film) { f.stts = newBox("stts", u32(fields...)) }
	}
	for name, c := range map[string]struct {
		film func(*film)
		want string
	}{
		"no pixels":   {func(f *film) { f.tkhd, f.stsd = newTkhd(0, 0, matrix(1, 0, 0, 1)), newBox("stsd", u32(0, 0)) }, "no pixels"},
		"too wide":    {func(f *film) { f.tkhd = newTkhd(16_385, 1, matrix(1, 0, 0, 1)) }, "wider or higher"},
		"no pictures": {func(f *film) { f.handler = "text" }, "no pictures"},
		"no data":     {func(f *film) { f.mdat = nil }, "incomplete"},
		"two days":    {func(f *film) { f.mvhd = newBox("mvhd", u32(0, 0, 0, 1, 2*86_400)) }, "longer than a day"},
		"for ever": {func(f *film) {
			f.mvhd = newBox("mvhd", u32(1<<24, 0, 0, 0, 0, 1, 0x7fffffff, 0xffffffff))
		}, "longer than a day"},
		"no time":          {func(f *film) { f.mvhd, f.mdhd = nil, nil }, "no duration"},
		"no scale":         {func(f *film) { f.mvhd, f.mdhd = newBox("mvhd", u32(0, 0, 0, 0, 9)), nil }, "no duration"},
		"a lying table":    {stts(0, 0xffffffff, 1, 1), "structure is broken"},
		"half a table":     {stts(0), "structure is broken"},
		"a short header":   {func(f *film) { f.tkhd = newBox("tkhd", u32(0, 0)) }, "structure is broken"},
		"an empty header":  {func(f *film) { f.mvhd = newBox("mvhd") }, "structure is broken"},
		"a box of 7 bytes": {func(f *film) { f.tail = []byte("\x00\x00\x00\x07free") }, "structure is broken"},
		"a box of 2⁶³":     {func(f *film) { f.tail = slices.Concat(u32(1), []byte("free"), u32(1<<31, 0)) }, "structure is broken"},
		"a box inside out": {func(f *film) { f.tkhd = []byte("\x7f\xff\xff\xfftkhd") }, "incomplete"},
		"endless boxes":    {func(f *film) { f.tail = bytes.Repeat(newBox("free"), 10_001) }, "too many parts"},
		"half a fragment": {func(f *film) {
			f.mvex = newBox("mvex")
			f.tail = []byte("\x00\x01\x00\x00moof....")
		}, "incomplete"},
		"a lying run": {func(f *film) {
			f.tail = newBox("moof", newBox("traf", newBox("tfhd", u32(0, 1)), newBox("trun", u32(0x100, 0xffffffff, 1))))
		}, "structure is broken"},
		"endless fragments": {func(f *film) {
			f.mvex = newBox("mvex", newBox("trex", u32(0, 1, 1, 0xffffffff, 0, 0)))
			run := newBox("trun", u32(0, 0xffffffff))
			f.tail = newBox("moof", newBox("traf", newBox("tfhd", u32(0, 1)), run, run, run))
		}, "longer than a day"},
	} {
		f := newFilm()
		c.film(&f)
		_, err := read(f.bytes())
		if !errors.Is(err, mediainfo.ErrDamaged) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want an ErrDamaged that says %q", name, err, c.want)
		}
	}
}

// hollow is a large file that consists mostly of zeros. The zeros are not stored.
type hollow struct {
	head, tail []byte
	size       int64
	read       int64
}

func (h *hollow) ReadAt(p []byte, off int64) (int, error) {
	clear(p)
	if off < int64(len(h.head)) {
		copy(p, h.head[off:])
	}
	if start := h.size - int64(len(h.tail)); off+int64(len(p)) > start {
		copy(p[max(start-off, 0):], h.tail[max(off-start, 0):])
	}
	h.read += int64(len(p))
	return len(p), nil
}

// TestMoovAfterLargeData checks that a moov box after 20 GB of data is found with few reads.
func TestMoovAfterLargeData(t *testing.T) {
	t.Parallel()
	f := newFilm()
	ftyp := f.ftyp
	f.ftyp, f.mdat = nil, nil
	const size = 20e9
	head := slices.Concat(ftyp, u32(1), []byte("mdat"), binary.BigEndian.AppendUint64(nil, size))
	h := &hollow{head: head, tail: f.bytes()}
	h.size = int64(len(ftyp)) + size + int64(len(h.tail))
	info, err := mediainfo.Read(h, h.size)
	if err != nil || info.Duration != 3*time.Second {
		t.Errorf("duration %v (%v), want 3 s", info.Duration, err)
	}
	if h.read > 16<<10 {
		t.Errorf("%d bytes read, want at most 16 KiB", h.read)
	}
}

// TestLongTable checks that a valid but excessively long table is an error.
func TestLongTable(t *testing.T) {
	t.Parallel()
	const entries = 1 << 28
	moov := newFilm()
	moov.stts = slices.Concat(u32(16+8*entries), []byte("stts"), u32(0, entries))
	data := moov.bytes()
	at := bytes.Index(data, []byte("stts")) + 12
	for _, kind := range []string{"moov", "trak", "mdia", "minf", "stbl"} {
		size := data[bytes.Index(data, []byte(kind))-4:]
		binary.BigEndian.PutUint32(size, binary.BigEndian.Uint32(size)+8*entries)
	}
	h := &hollow{head: data[:at], size: int64(len(data)) + 8*entries}
	if _, err := mediainfo.Read(h, h.size); !errors.Is(err, mediainfo.ErrDamaged) || !strings.Contains(err.Error(), "too many parts") {
		t.Errorf("%v, want an ErrDamaged", err)
	}
	if h.read > 48<<20 {
		t.Errorf("%d bytes read, want at most 48 MiB", h.read)
	}
}
