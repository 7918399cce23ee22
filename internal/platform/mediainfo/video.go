package mediainfo

import (
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
	"time"
)

// otherBrands are major brands of files that are built of the same boxes and no videos: HEIF and AVIF images (ISO/IEC
// 23008-12), raw photographs, and sound alone.
var otherBrands = []string{
	"heic", "heix", "heim", "heis", "hevc", "hevx", "hevm", "hevs", "mif1", "mif2", "msf1", "avif", "avis", "jpeg",
	"crx ",
	"M4A ", "M4B ", "M4P ", "F4A ", "F4B ",
}

// maxFrameRate is beyond what cameras do; more is no frame rate but a broken table.
const maxFrameRate = 1000

// movie is what the boxes of a file say (ISO/IEC 14496-12, QuickTime File Format).
type movie struct {
	boxes

	mime       string
	hasMoov    bool
	hasMdat    bool
	fragmented bool
	scale      uint32 // units of length a second
	length     uint64 // 0 where it is not known
	tracks     []*track
}

// readVideo reads a file of boxes. One without an ftyp is of QuickTime before 2001.
func readVideo(f *file) (Info, error) {
	m := &movie{boxes: boxes{file: f}, mime: QuickTime}
	err := m.each(0, f.size, m.top)
	trailer := err == errCut && m.hasMoov && m.hasMdat && !m.fragmented //nolint:errorlint // it is this very one, or none
	if err != nil && !trailer {
		return Info{}, err // phones put things behind a video that are no boxes, and look like ones that are cut
	}
	if !m.hasMoov || !m.hasMdat {
		return Info{}, errCut
	}
	return m.info()
}

func (m *movie) top(b box) error {
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

func (m *movie) ftyp(b box) error {
	p, err := m.content(b, 0, 4)
	if err != nil {
		return err
	}
	major := string(p)
	if slices.Contains(otherBrands, major) {
		return ErrType
	}
	if major != "qt  " {
		m.mime = MP4
	}
	return nil
}

func (m *movie) moov(b box) error {
	switch b.kind {
	case "mvhd":
		scale, length, err := m.clock(b)
		m.scale, m.length = scale, max(m.length, length)
		return err
	case "trak":
		t := &track{}
		m.tracks = append(m.tracks, t)
		return m.each(b.at, b.end, func(b box) error { return m.trak(b, t) })
	case "mvex":
		m.fragmented = true
		return m.each(b.at, b.end, m.mvex)
	}
	return nil
}

// clock reads the time scale and duration of a mvhd or mdhd, which are alike up to there. A length of all ones says
// that it is not known.
func (m *movie) clock(b box) (uint32, uint64, error) {
	p, long, err := m.full(b, 20, 3)
	if err != nil {
		return 0, 0, err
	}
	if long {
		return binary.BigEndian.Uint32(p[20:]), known(binary.BigEndian.Uint64(p[24:]), math.MaxUint64), nil
	}
	return binary.BigEndian.Uint32(p[12:]), known(uint64(binary.BigEndian.Uint32(p[16:])), math.MaxUint32), nil
}

func known(length, unknown uint64) uint64 {
	if length == unknown {
		return 0
	}
	return length
}

func (m *movie) info() (Info, error) {
	shown := m.first("vide")
	sound := m.first("soun")
	if shown == nil && sound != nil {
		return Info{}, ErrType
	}
	if shown == nil {
		return Info{}, damaged("the video has no pictures")
	}
	info := Info{
		Type: m.mime, Kind: Video, Orientation: 1, Duration: m.duration(shown),
		VideoCodec: shown.codec, FrameRate: shown.frameRate(),
	}
	if sound != nil {
		info.AudioCodec = sound.codec
	}
	width, height := shown.size()
	info.Width, info.Height = int(width), int(height)
	switch {
	case width < 1 || height < 1:
		return Info{}, damaged("the video says it has no pixels")
	case width > MaxSide || height > MaxSide:
		return Info{}, damaged("the video says it is wider or higher than 16,384 pixels")
	case info.Duration > MaxDuration:
		return Info{}, damaged("the video says it lasts more than a day")
	case info.Duration <= 0:
		return Info{}, damaged("the video says it lasts no time")
	}
	return info, nil
}

// first finds the first track of a kind, among those that are shown by themselves if there is one: a chapter's
// pictures are a track too, but switched off.
func (m *movie) first(handler string) *track {
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

// duration is what the movie says, or the longest that its fragments give any reason for. Edit lists make a movie
// shorter than its tracks on purpose.
func (m *movie) duration(t *track) time.Duration {
	said := seconds(m.length, m.scale)
	if said > 0 && !m.fragmented {
		return said
	}
	lasts := max(t.length, plus(t.stored.length, t.fragments.length))
	return max(said, seconds(lasts, t.scale), seconds(t.index, t.indexScale))
}

// seconds is length/scale seconds, and a little more than MaxDuration where it is more than that.
func seconds(length uint64, scale uint32) time.Duration {
	if scale == 0 {
		return 0
	}
	whole, rest := length/uint64(scale), length%uint64(scale)
	if whole > uint64(MaxDuration/time.Second) {
		return MaxDuration + 1
	}
	return time.Duration(whole)*time.Second + time.Duration(rest*uint64(time.Second)/uint64(scale)) //nolint:gosec // rest is below 2³², the product below 2⁶²
}

// plus adds, and stays at the largest number where that is passed.
func plus(a, b uint64) uint64 {
	sum, carry := bits.Add64(a, b, 0)
	if carry != 0 {
		return math.MaxUint64
	}
	return sum
}
