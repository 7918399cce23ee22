package mediainfo

import (
	"encoding/binary"
	"strings"
)

// track is the content of a trak box and its fragments.
type track struct {
	id              uint32
	enabled         bool
	width, height   uint32 // as displayed before rotation, in 65,536ths of a pixel
	rotated         bool   // whether the pictures are rotated by a quarter turn
	handler         string // vide, soun or another handler type
	scale           uint32 // units of length per second
	length          uint64 // 0 if unknown
	codec           string
	codedWidth      uint16 // pixels; only for a track with pictures
	codedHeight     uint16
	tableSamples    samples // in the sample table
	defaultLength   uint32  // default length of a fragment's sample
	fragmentSamples samples
	index           uint64 // length of the fragments, according to the index
	indexScale      uint32
}

// samples is a number of samples and their total length.
type samples struct {
	count, length uint64
}

func (s *samples) add(count, each uint32) {
	s.count = saturatingAdd(s.count, uint64(count))
	s.length = saturatingAdd(s.length, uint64(count)*uint64(each))
}

// size returns the displayed size of the pictures in pixels or, if that is unknown, their coded size.
func (t *track) size() (int64, int64) {
	width, height := (int64(t.width)+0x8000)>>16, (int64(t.height)+0x8000)>>16
	if width == 0 || height == 0 {
		width, height = int64(t.codedWidth), int64(t.codedHeight)
	}
	if t.rotated {
		return height, width
	}
	return width, height
}

func (t *track) frameRate() float64 {
	total := samples{count: saturatingAdd(t.tableSamples.count, t.fragmentSamples.count),
		length: saturatingAdd(t.tableSamples.length, t.fragmentSamples.length)}
	if total.length == 0 {
		return 0
	}
	rate := float64(total.count) * float64(t.scale) / float64(total.length)
	if rate > maxFrameRate {
		return 0
	}
	return rate
}

func (m *movie) trak(b boxRange, t *track) error {
	switch b.kind {
	case "tkhd":
		return m.tkhd(b, t)
	case "mdia":
		return m.each(b.at, b.end, func(b boxRange) error { return m.mdia(b, t) })
	}
	return nil
}

// tkhd reads a track's header (ISO/IEC 14496-12, 8.3.2). The matrix has the elements a b u, c d v, x y w. For a quarter
// turn, a and d are 0.
func (m *movie) tkhd(b boxRange, t *track) error {
	p, long, err := m.fullBox(b, 84, 3)
	if err != nil {
		return err
	}
	t.enabled = p[3]&1 != 0
	t.id = binary.BigEndian.Uint32(p[12:])
	if long {
		t.id = binary.BigEndian.Uint32(p[20:])
	}
	p = p[len(p)-44:]
	word := func(i int) uint32 { return binary.BigEndian.Uint32(p[4*i:]) }
	t.rotated = word(0) == 0 && word(4) == 0 && word(1) != 0 && word(3) != 0
	t.width, t.height = word(9), word(10)
	return nil
}

func (m *movie) mdia(b boxRange, t *track) error {
	switch b.kind {
	case "mdhd":
		scale, length, err := m.readClock(b)
		t.scale, t.length = scale, length
		return err
	case "hdlr":
		p, err := m.content(b, 8, 4)
		t.handler = string(p)
		return err
	case "minf":
		return m.each(b.at, b.end, func(b boxRange) error {
			if b.kind != "stbl" {
				return nil
			}
			return m.each(b.at, b.end, func(b boxRange) error { return m.stbl(b, t) })
		})
	}
	return nil
}

func (m *movie) stbl(b boxRange, t *track) error {
	switch b.kind {
	case "stsd":
		return m.stsd(b, t)
	case "stts":
		p, err := m.content(b, 4, 4)
		if err != nil {
			return err
		}
		return m.table(b, 8, binary.BigEndian.Uint32(p), 8, func(p []byte) {
			t.tableSamples.add(binary.BigEndian.Uint32(p), binary.BigEndian.Uint32(p[4:]))
		})
	}
	return nil
}

// stsd reads the first sample description (ISO/IEC 14496-12, 8.5.2). It ignores an empty description.
func (m *movie) stsd(b boxRange, t *track) error {
	if b.size() < 8+16 {
		return nil
	}
	entry, err := m.next(b.at+8, b.end)
	if err != nil {
		return err
	}
	t.codec = codec(entry.kind)
	if entry.kind == "mp4a" && m.isMP3(entry) {
		t.codec = "mp3"
	}
	if entry.size() < 28 {
		return nil
	}
	p, err := m.content(entry, 24, 4)
	if err != nil {
		return err
	}
	t.codedWidth, t.codedHeight = binary.BigEndian.Uint16(p), binary.BigEndian.Uint16(p[2:])
	return nil
}

// codecs maps four-character codes to common names (RFC 6381, the MP4 registration authority, QuickTime).
var codecs = map[string]string{
	"avc1": "h264", "avc3": "h264", "hvc1": "hevc", "hev1": "hevc", "dvh1": "hevc", "dvhe": "hevc", "av01": "av1",
	"vp08": "vp8", "vp09": "vp9", "mp4v": "mpeg4", "s263": "h263", "h263": "h263", "jpeg": "mjpeg", "mjpa": "mjpeg",
	"mjpb": "mjpeg", "apco": "prores", "apcs": "prores", "apcn": "prores", "apch": "prores", "ap4h": "prores",
	"ap4x": "prores",
	"mp4a": "aac", ".mp3": "mp3", "Opus": "opus", "ac-3": "ac3", "ec-3": "eac3", "fLaC": "flac", "alac": "alac",
	"samr": "amr",
	"lpcm": "pcm", "ipcm": "pcm", "fpcm": "pcm", "sowt": "pcm", "twos": "pcm", "in24": "pcm", "in32": "pcm",
	"fl32": "pcm",
}

func codec(fourcc string) string {
	if name := codecs[fourcc]; name != "" {
		return name
	}
	if strings.ContainsFunc(fourcc, func(r rune) bool { return r < ' ' || r > '~' }) {
		return "unknown"
	}
	return fourcc
}

// isMP3 reports whether the descriptors of an audio sample entry declare MPEG-1 or MPEG-2 audio (ISO/IEC 14496-1 7.2.6,
// object types 0x69 and 0x6B). It returns false if the entry cannot be read, because nearly all entries are AAC.
func (m *movie) isMP3(entry boxRange) bool {
	p, err := m.content(entry, 8, 2)
	if err != nil {
		return false
	}
	header := int64(28)
	switch binary.BigEndian.Uint16(p) { // QuickTime's sound descriptions are longer in versions 1 and 2
	case 1:
		header += 16
	case 2:
		header += 36
	}
	var found bool
	inner := func(b boxRange) error { return m.esds(b, &found) }
	err = m.each(entry.at+header, entry.end, func(b boxRange) error {
		if b.kind == "wave" {
			return m.each(b.at, b.end, inner)
		}
		return inner(b)
	})
	return err == nil && found
}

// esds reads the object type in the decoder's configuration.
func (m *movie) esds(b boxRange, mp3 *bool) error {
	if b.kind != "esds" {
		return nil
	}
	p, err := m.content(b, 4, int(min(max(b.size()-4, 0), 32)))
	if err != nil {
		return err
	}
	p = descriptor(p, 3)
	if len(p) < 3 || p[2]&0xe0 != 0 {
		return nil // optional fields, which MP3 files do not have
	}
	p = descriptor(p[3:], 4)
	*mp3 = len(p) > 0 && (p[0] == 0x69 || p[0] == 0x6b)
	return nil
}

// descriptor returns the bytes after the header of a descriptor with this tag. The length field has one to four bytes.
func descriptor(p []byte, tag byte) []byte {
	if len(p) == 0 || p[0] != tag {
		return nil
	}
	for i := 1; i < len(p) && i <= 4; i++ {
		if p[i]&0x80 == 0 {
			return p[i+1:]
		}
	}
	return nil
}
