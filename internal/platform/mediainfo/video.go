package mediainfo

import (
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
	"time"
)

// nonVideoBrands lists the major brands of files that have the same boxes as a video but are not videos: HEIF and AVIF
// images (ISO/IEC 23008-12), raw photos, and audio.
var nonVideoBrands = []string{
	"heic", "heix", "heim", "heis", "hevc", "hevx", "hevm", "hevs", "mif1", "mif2", "msf1", "avif", "avis", "jpeg",
	"crx ",
	"M4A ", "M4B ", "M4P ", "F4A ", "F4B ",
}

// maxFrameRate is higher than the frame rate of cameras. A higher rate indicates a broken table.
const maxFrameRate = 1000

// movie is the content of a video's boxes (ISO/IEC 14496-12, QuickTime File Format).
type movie struct {
	boxes

	mime       string
	hasMoov    bool
	hasMdat    bool
	fragmented bool
	scale      uint32 // units of length per second
	length     uint64 // 0 if unknown
	tracks     []*track
}

// readVideo reads a video. Files without an ftyp box are QuickTime files from before 2001.
func readVideo(f *file) (Info, error) {
	m := &movie{boxes: boxes{file: f}, mime: QuickTime}
	err := m.each(0, f.size, m.top)
	trailer := err == errIncomplete && m.hasMoov && m.hasMdat && !m.fragmented //nolint:errorlint // it is not wrapped
	if err != nil && !trailer {
		return Info{}, err // not returned for a trailer: phones append data that looks like an incomplete box
	}
	if !m.hasMoov || !m.hasMdat {
		return Info{}, errIncomplete
	}
	return m.info()
}

func (m *movie) top(b boxRange) error {
	switch b.kind {
	case "ftyp":
		return m.ftyp(b)
	case "mdat":
		m.hasMdat = true
	case "moov":
		err := m.each(b.at, b.end, m.moov)
		m.hasMoov = err == nil
		return err
	case "moof":
		return m.each(b.at, b.end, m.moof)
	case "sidx":
		return m.sidx(b)
	}
	return nil
}

func (m *movie) ftyp(b boxRange) error {
	p, err := m.content(b, 0, 4)
	if err != nil {
		return err
	}
	major := string(p)
	if slices.Contains(nonVideoBrands, major) {
		return ErrType
	}
	if major != "qt  " {
		m.mime = MP4
	}
	return nil
}

func (m *movie) moov(b boxRange) error {
	switch b.kind {
	case "mvhd":
		scale, length, err := m.readClock(b)
		m.scale, m.length = scale, max(m.length, length)
		return err
	case "trak":
		t := &track{}
		m.tracks = append(m.tracks, t)
		return m.each(b.at, b.end, func(b boxRange) error { return m.trak(b, t) })
	case "mvex":
		m.fragmented = true
		return m.each(b.at, b.end, m.mvex)
	}
	return nil
}

// readClock returns the time scale and the duration of an mvhd or mdhd box. Both boxes begin with the same fields. If
// all bits of the duration are 1, the duration is unknown.
func (m *movie) readClock(b boxRange) (uint32, uint64, error) {
	p, long, err := m.fullBox(b, 20, 3)
	if err != nil {
		return 0, 0, err
	}
	if long {
		return binary.BigEndian.Uint32(p[20:]), lengthIfKnown(binary.BigEndian.Uint64(p[24:]), math.MaxUint64), nil
	}
	return binary.BigEndian.Uint32(p[12:]), lengthIfKnown(uint64(binary.BigEndian.Uint32(p[16:])), math.MaxUint32), nil
}

func lengthIfKnown(length, unknown uint64) uint64 {
	if length == unknown {
		return 0
	}
	return length
}

func (m *movie) info() (Info, error) {
	video := m.firstTrack("vide")
	audio := m.firstTrack("soun")
	if video == nil && audio != nil {
		return Info{}, ErrType
	}
	if video == nil {
		return Info{}, newDamageError("the video has no pictures")
	}
	info := Info{
		Type: m.mime, Kind: Video, Orientation: 1, Duration: m.duration(video),
		VideoCodec: video.codec, FrameRate: video.frameRate(),
	}
	if audio != nil {
		info.AudioCodec = audio.codec
	}
	width, height := video.size()
	info.Width, info.Height = int(width), int(height)
	switch {
	case width < 1 || height < 1:
		return Info{}, newDamageError("the video has no pixels")
	case width > MaxSide || height > MaxSide:
		return Info{}, newDamageError("the video is wider or higher than 16,384 pixels")
	case info.Duration > MaxDuration:
		return Info{}, newDamageError("the video is longer than a day")
	case info.Duration <= 0:
		return Info{}, newDamageError("the video has no duration")
	}
	return info, nil
}

// firstTrack returns the first enabled track with the given handler. If there is none, it returns the first disabled
// track. Disabled tracks contain chapter images, for example.
func (m *movie) firstTrack(handler string) *track {
	var off *track
	for _, t := range m.tracks {
		if t.handler != handler {
			continue
		}
		if t.enabled {
			return t
		}
		if off == nil {
			off = t
		}
	}
	return off
}

// duration returns the declared duration of the movie. For a fragmented movie, it returns the longest of the durations
// that the movie, its fragments and its index declare. Edit lists can make a movie shorter than its tracks.
func (m *movie) duration(t *track) time.Duration {
	declared := seconds(m.length, m.scale)
	if declared > 0 && !m.fragmented {
		return declared
	}
	lasts := max(t.length, saturatingAdd(t.tableSamples.length, t.fragmentSamples.length))
	return max(declared, seconds(lasts, t.scale), seconds(t.index, t.indexScale))
}

// seconds returns length/scale seconds as a duration, but not much more than MaxDuration.
func seconds(length uint64, scale uint32) time.Duration {
	if scale == 0 {
		return 0
	}
	wholeSeconds, rest := length/uint64(scale), length%uint64(scale)
	if wholeSeconds > uint64(MaxDuration/time.Second) {
		return MaxDuration + 1
	}
	rest = rest * uint64(time.Second) / uint64(scale)                    // rest is below 2³², and the product below 2⁶²
	return time.Duration(wholeSeconds)*time.Second + time.Duration(rest) //nolint:gosec // below a second
}

// saturatingAdd returns a+b, or the maximum on overflow.
func saturatingAdd(a, b uint64) uint64 {
	sum, carry := bits.Add64(a, b, 0)
	if carry != 0 {
		return math.MaxUint64
	}
	return sum
}
