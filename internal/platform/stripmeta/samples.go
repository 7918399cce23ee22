package stripmeta

import (
	"cmp"
	"encoding/binary"
	"slices"

	"pressroom.example/pressroom/internal/platform/mediainfo"
)

var errSamples = newDamageError("the video's tables do not contain the positions of its pictures and sound")

// recordSamples records the ranges of the samples of all kept tracks, chunk by chunk (ISO/IEC 14496-12, 8.7). It
// processes the chunks of all tracks in file order, so that adjacent chunks become one range.
func (v *video) recordSamples() error {
	var tracks []*chunks
	for _, t := range v.tracks {
		c, err := v.chunks(t)
		if err != nil {
			return err
		}
		if c != nil {
			tracks = append(tracks, c)
		}
	}
	for len(tracks) > 0 {
		n := 0
		for i, c := range tracks {
			if c.at < tracks[n].at {
				n = i
			}
		}
		if err := v.keep(tracks[n].at, tracks[n].size); err != nil {
			return err
		}
		ok, err := tracks[n].advance()
		if err != nil {
			return err
		}
		if !ok {
			tracks = slices.Delete(tracks, n, n+1)
		}
	}
	return nil
}

// keep records a range of samples to keep.
func (v *video) keep(at, n uint64) error {
	if n == 0 {
		return nil
	}
	if at > uint64(v.size) || n > uint64(v.size)-at { //nolint:gosec // a size is never negative
		return errSamples
	}
	start, end := int64(at), int64(at+n) //nolint:gosec // at most the size
	if k := len(v.keptSpans); k > 0 && v.keptSpans[k-1].at <= start && start <= v.keptSpans[k-1].end {
		v.keptSpans[k-1].end = max(v.keptSpans[k-1].end, end)
		return nil
	}
	if len(v.keptSpans) >= maxEdits {
		return errTooManyParts
	}
	v.keptSpans = append(v.keptSpans, span{start, end})
	return nil
}

// zeroUnused zeroes the media data that does not belong to a kept track: samples of removed tracks, and hidden boxes.
// It returns an error if a sample is outside of the media data.
func (v *video) zeroUnused() error {
	slices.SortFunc(v.keptSpans, func(a, b span) int { return cmp.Compare(a.at, b.at) })
	if len(v.keptSpans) == 0 && slices.ContainsFunc(v.data, func(d span) bool { return d.at < d.end }) {
		return errSamples
	}
	for _, d := range v.data {
		at := d.at
		for len(v.keptSpans) > 0 && v.keptSpans[0].at < d.end {
			k := v.keptSpans[0]
			if k.at < d.at || k.end > d.end {
				return errSamples
			}
			if k.at > at {
				if err := v.zero(v.source, at, k.at); err != nil {
					return err
				}
			}
			at, v.keptSpans = max(at, k.end), v.keptSpans[1:]
		}
		if err := v.zero(v.source, at, d.end); err != nil {
			return err
		}
	}
	if len(v.keptSpans) > 0 {
		return errSamples
	}
	return nil
}

// chunks iterates over the chunks of a track.
type chunks struct {
	offsets *table
	sizes   sampleSizes
	runs    *chunkRuns
	frames  frames
	number  uint32 // number of the last chunk that was read

	at, size uint64 // range of the last chunk that was read
}

// chunks returns an iterator over the chunks of a track, or nil if the track has no chunks.
func (v *video) chunks(t trackBoxes) (*chunks, error) {
	offsets, err := v.table(t.tables["stco"], 4, 4)
	if box, long := t.tables["co64"]; long && err == nil {
		offsets, err = v.table(box, 4, 8)
	}
	if err != nil || offsets == nil || offsets.remaining == 0 {
		return nil, err
	}
	c := &chunks{offsets: offsets}
	if c.sizes, err = v.sampleSizes(t); err != nil {
		return nil, err
	}
	if c.runs, err = v.chunkRuns(t.tables["stsc"]); err != nil {
		return nil, err
	}
	if t.handler == "soun" && c.sizes.uniform != 0 {
		if c.frames, err = v.frames(t.tables["stsd"]); err != nil {
			return nil, err
		}
	}
	_, err = c.advance()
	return c, err
}

// advance reads the next chunk, and reports whether there was one.
func (c *chunks) advance() (bool, error) {
	at, ok, err := c.offsets.next()
	if err != nil || !ok {
		return false, err
	}
	c.number++
	count, err := c.runs.samplesIn(c.number)
	if err != nil {
		return false, err
	}
	if c.sizes.uniform != 0 {
		count = min(count, c.sizes.remaining)
		c.sizes.remaining -= count
	}
	c.at = at
	c.size, err = c.sizes.sum(count)
	c.size = max(c.size, c.frames.size(count))
	return true, err
}

// frames converts a number of constant-size sound samples to bytes. In QuickTime files, the sound description contains
// the size of a sample, and stsz declares a size of one byte.
type frames struct{ samples, bytes uint64 }

func (f frames) size(count uint32) uint64 {
	if f.samples == 0 {
		return 0
	}
	return (uint64(count) + f.samples - 1) / f.samples * f.bytes
}

// pcmBytes maps a format to the size in bytes of a sample of one channel. 0 means that the sound description declares
// the size.
var pcmBytes = map[string]uint64{
	"raw ": 0, //nolint:gocritic // the space is part of the code
	"NONE": 0, "twos": 0, "sowt": 0, "in24": 3, "in32": 4, "fl32": 4, "fl64": 8, "ulaw": 1, "alaw": 1,
}

// frames reads the first sound description. Its version determines its fields (QuickTime File Format, Sound Sample
// Description).
func (v *video) frames(stsd mediainfo.Box) (frames, error) {
	if stsd.End-stsd.Content < 8+36 {
		return frames{}, nil
	}
	entry, err := v.next(stsd.Content+8, stsd.End)
	if err != nil || entry.End-entry.Content < 28 {
		return frames{}, err
	}
	if version, err := v.version(stsd); err != nil || version != 0 {
		return frames{}, err // in other versions, stsz has the correct size (ISO/IEC 14496-12)
	}
	p, err := v.content(entry, 0, int(min(entry.End-entry.Content, 64)))
	if err != nil {
		return frames{}, err
	}
	return parseFrames(entry.Kind, p), nil
}

// parseFrames reads the sound description p for a format. The version in p determines the fields of p.
func parseFrames(format string, p []byte) frames {
	word := func(at int) uint64 { return uint64(binary.BigEndian.Uint32(p[at:])) }
	switch version := binary.BigEndian.Uint16(p[8:]); {
	case version == 1 && len(p) >= 44 && word(28) != 0 && word(36) != 0:
		return frames{samples: word(28), bytes: word(36)}
	case version == 2 && len(p) == 64 && word(60) != 0:
		return frames{samples: word(60), bytes: word(56)}
	case version > 1:
		return frames{}
	}
	each, pcm := pcmBytes[format]
	if pcm && each == 0 {
		each = uint64(binary.BigEndian.Uint16(p[18:])+7) / 8
	}
	return frames{samples: 1, bytes: each * uint64(binary.BigEndian.Uint16(p[16:]))}
}

// table reads a table of numbers through its own window.
type table struct {
	src       *source
	at        int64
	remaining uint32
	stride    int // bytes per number: 1, 2, 4 or 8
}

// table returns the table of entries in a box, or nil if there is no box. The number of entries is at off.
func (v *video) table(b mediainfo.Box, off int64, stride int) (*table, error) {
	if b.Kind == "" {
		return nil, nil //nolint:nilnil // a track may have no such table
	}
	p, err := v.content(b, off, 4)
	if err != nil {
		return nil, err
	}
	count := binary.BigEndian.Uint32(p)
	t := &table{src: &source{r: v.r, size: b.End}, at: b.Content + off + 4, remaining: count, stride: stride}
	if t.at+int64(t.remaining)*int64(stride) > b.End {
		return nil, errBrokenStructure
	}
	return t, nil
}

// next returns the next number, or false after the last one.
func (t *table) next() (uint64, bool, error) {
	if t == nil || t.remaining == 0 {
		return 0, false, nil
	}
	p, err := t.src.peek(t.at, t.stride)
	if err != nil {
		return 0, false, err
	}
	t.remaining--
	t.at += int64(t.stride)
	var wide [8]byte
	copy(wide[8-t.stride:], p)
	return binary.BigEndian.Uint64(wide[:]), true, nil
}

// sampleSizes contains the sizes of a track's samples: one size for all, or one for each.
type sampleSizes struct {
	uniform   uint64
	remaining uint32 // number of samples left
	perSample *table
}

func (v *video) sampleSizes(t trackBoxes) (sampleSizes, error) {
	if b, there := t.tables["stsz"]; there {
		p, err := v.content(b, 4, 8)
		if err != nil {
			return sampleSizes{}, err
		}
		if uniform := binary.BigEndian.Uint32(p); uniform != 0 {
			return sampleSizes{uniform: uint64(uniform), remaining: binary.BigEndian.Uint32(p[4:])}, nil
		}
		each, err := v.table(b, 8, 4)
		return sampleSizes{perSample: each}, err
	}
	b, there := t.tables["stz2"]
	if !there {
		return sampleSizes{}, errBrokenStructure
	}
	p, err := v.content(b, 4, 4)
	if err != nil {
		return sampleSizes{}, err
	}
	if bits := p[3]; bits == 8 || bits == 16 {
		each, err := v.table(b, 8, int(bits/8))
		return sampleSizes{perSample: each}, err
	}
	return sampleSizes{}, errBrokenStructure // half a byte per sample, which does not occur in practice
}

// sum adds up the sizes of the next count samples.
func (s sampleSizes) sum(count uint32) (uint64, error) {
	if s.uniform != 0 {
		return uint64(count) * s.uniform, nil
	}
	var total uint64
	for range count {
		n, more, err := s.perSample.next()
		if err != nil || !more {
			return total, err
		}
		total += n
	}
	return total, nil
}

// chunkRuns contains the number of samples per chunk (stsc). A run is a sequence of chunks with the same number.
type chunkRuns struct {
	entries                     *table // three numbers per entry
	currentSamples, nextSamples uint32 // samples per chunk before the chunk nextStart, and from that chunk on
	nextStart                   uint32 // first chunk of the next run; 0 after the last entry
}

func (v *video) chunkRuns(b mediainfo.Box) (*chunkRuns, error) {
	p, err := v.content(b, 4, 4)
	if err != nil {
		return nil, err
	}
	count := binary.BigEndian.Uint32(p)
	entries, err := v.table(b, 4, 4)
	if err != nil {
		return nil, err
	}
	if entries.at+12*int64(count) > b.End || count > 1<<30 {
		return nil, errBrokenStructure
	}
	entries.remaining = 3 * count
	if err := inOrder(*entries); err != nil {
		return nil, err
	}
	r := &chunkRuns{entries: entries}
	return r, r.advance()
}

// inOrder returns an error unless the runs begin with the first chunk and are in ascending order. Players do not agree
// on how to read other tables.
func inOrder(entries table) error {
	last := uint64(0)
	for {
		first, ok, err := entries.next()
		if err != nil || !ok {
			return err
		}
		if first <= last || last == 0 && first != 1 {
			return errBrokenStructure
		}
		last = first
		for range 2 {
			if _, _, err := entries.next(); err != nil {
				return err
			}
		}
	}
}

// samplesIn returns the number of samples in a chunk. Chunks must be requested in order, from 1.
func (r *chunkRuns) samplesIn(chunk uint32) (uint32, error) {
	for r.nextStart != 0 && chunk >= r.nextStart {
		r.currentSamples = r.nextSamples
		if err := r.advance(); err != nil {
			return 0, err
		}
	}
	return r.currentSamples, nil
}

func (r *chunkRuns) advance() error {
	var entry [3]uint64
	for i := range entry {
		n, ok, err := r.entries.next()
		if err != nil {
			return err
		}
		if !ok {
			r.nextStart = 0
			return nil
		}
		entry[i] = n
	}
	r.nextStart, r.nextSamples = uint32(entry[0]), uint32(entry[1]) //nolint:gosec // each number has four bytes
	return nil
}
