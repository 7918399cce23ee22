package stripmeta

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"
)

// The flags of a VP8X chunk (RFC 9649, 2.7).
const (
	vp8xAnimation = 1 << 1
	vp8xXMP       = 1 << 2
	vp8xEXIF      = 1 << 3
	vp8xAlpha     = 1 << 4
	vp8xICC       = 1 << 5
)

// pictureChunks lists the chunks of a picture, which is the file's only picture or a frame of an animation.
var pictureChunks = []string{"ALPH", "VP8 ", "VP8L"}

// fixedChunks maps each chunk that has a fixed size to its size in bytes.
var fixedChunks = map[string]int64{"VP8X": 10, "ANIM": 6}

type webpScan struct {
	*source
	*Edits

	flags          int64    // offset of the flags in VP8X; 0 if there is no VP8X chunk
	seen           []string // chunks that may occur once
	hasOrientation bool     // whether the orientation was kept
	colors         bool     // whether the color profile was kept
}

// scanWebP processes all chunks of a WebP and corrects its headers.
func scanWebP(s *source, e *Edits) error {
	p, err := s.peek(0, 12)
	if err != nil {
		return err
	}
	length := int64(binary.LittleEndian.Uint32(p[4:]))
	if length < 4 {
		return errBrokenStructure
	}
	if length > s.size-8 {
		return errTruncated
	}
	w := &webpScan{source: s, Edits: e}
	shrunk, err := w.chunks(12, 8+length, w.chunk)
	if err == nil && w.flags != 0 {
		err = w.setFlags()
	}
	if err == nil && shrunk != 0 {
		err = w.resize(4, length-shrunk)
	}
	if err == nil {
		err = e.remove(8+length, s.size)
	}
	return err
}

// chunks calls visit for each chunk between at and end. It returns the total number of bytes by which the chunks
// shrink.
func (w *webpScan) chunks(at, end int64, visit func(kind string, at, end int64) (int64, error)) (int64, error) {
	var total int64
	for end-at >= 8 {
		p, err := w.peek(at, 8)
		if err != nil {
			return 0, err
		}
		kind, n := string(p[:4]), int64(binary.LittleEndian.Uint32(p[4:]))
		if n > end-at-8 {
			return 0, errTruncated
		}
		next := min(at+8+n+n&1, end) // some files omit the padding of the last chunk
		shrunk, err := visit(kind, at, next)
		if err != nil {
			return 0, err
		}
		total += shrunk
		at = next
	}
	return total + end - at, w.remove(at, end)
}

func (w *webpScan) chunk(kind string, at, end int64) (int64, error) {
	if kind == "ANMF" {
		return w.frame(at, end)
	}
	size, fixed := fixedChunks[kind]
	known := fixed || kind == "EXIF" || kind == "ICCP" || slices.Contains(pictureChunks, kind)
	if !known || slices.Contains(w.seen, kind) {
		return end - at, w.remove(at, end)
	}
	w.seen = append(w.seen, kind)
	switch {
	case fixed:
		return w.fixedChunk(kind, at, end, size)
	case kind == "EXIF":
		return w.cut(at, end)
	case kind == "ICCP":
		return w.colorProfile(at, end)
	}
	return 0, nil
}

// fixedChunk shortens a chunk to its fixed size.
func (w *webpScan) fixedChunk(kind string, at, end, size int64) (int64, error) {
	if end-at < 8+size {
		return 0, errBrokenStructure
	}
	if kind == "VP8X" {
		w.flags = at + 8
	}
	if end-at == 8+size {
		return 0, nil
	}
	if err := w.resize(at+4, size); err != nil {
		return 0, err
	}
	return end - at - 8 - size, w.remove(at+8+size, end)
}

// colorProfile cleans a color profile, or removes it if it is invalid.
func (w *webpScan) colorProfile(at, end int64) (int64, error) {
	p, err := w.peek(at+4, 4)
	if err != nil {
		return 0, err
	}
	raw, clean, err := w.profile(at+8, int64(binary.LittleEndian.Uint32(p)))
	if err != nil {
		return 0, err
	}
	if clean == nil {
		return end - at, w.remove(at, end)
	}
	w.colors = true
	if bytes.Equal(raw, clean) {
		return 0, nil
	}
	want := binary.LittleEndian.AppendUint32([]byte("ICCP"), uint32(len(clean))) //nolint:gosec // a few MB at most
	want = append(want, clean...)
	want = append(want, make([]byte, len(clean)&1)...)
	return end - at - int64(len(want)), w.replace(at, end, want)
}

// frame removes everything except the picture from a frame of an animation.
func (w *webpScan) frame(at, end int64) (int64, error) {
	if end-at < 8+16 {
		return 0, errBrokenStructure
	}
	p, err := w.peek(at+4, 4)
	if err != nil {
		return 0, err
	}
	n := int64(binary.LittleEndian.Uint32(p))
	var seen []string
	shrunk, err := w.chunks(at+8+16, at+8+n, func(kind string, at, end int64) (int64, error) {
		if slices.Contains(pictureChunks, kind) && !slices.Contains(seen, kind) {
			seen = append(seen, kind)
			return 0, nil
		}
		return end - at, w.remove(at, end)
	})
	if err != nil || shrunk == 0 {
		return 0, err
	}
	if n&1 != 0 || shrunk&1 != 0 {
		return 0, errBrokenStructure // with padding, all chunks in a frame have an even length
	}
	return shrunk, w.resize(at+4, n-shrunk)
}

// cut reduces an EXIF chunk to its orientation, or removes it if the image is upright.
func (w *webpScan) cut(at, end int64) (int64, error) {
	content := at + 8
	hasPrefix, err := w.has(content, exif) // not allowed by the specification, but common
	if err != nil {
		return 0, err
	}
	if hasPrefix {
		content += int64(len(exif))
	}
	orientation := w.orientationOnly(content, max(end-content, 0))
	if orientation == nil {
		return end - at, w.remove(at, end)
	}
	w.hasOrientation = true
	want := binary.LittleEndian.AppendUint32([]byte("EXIF"), uint32(len(orientation))) //nolint:gosec // 26
	want = append(want, orientation...)
	same, err := w.has(at, want)
	if err != nil || same && int64(len(want)) == end-at {
		return 0, err
	}
	return end - at - int64(len(want)), w.replace(at, end, want)
}

// setFlags sets the VP8X flags according to the remaining chunks, and clears reserved bits.
func (w *webpScan) setFlags() error {
	p, err := w.peek(w.flags, 4)
	if err != nil {
		return err
	}
	want := []byte{p[0] & (vp8xAnimation | vp8xAlpha), 0, 0, 0}
	if w.hasOrientation {
		want[0] |= vp8xEXIF
	}
	if w.colors {
		want[0] |= vp8xICC
	}
	if bytes.Equal(want, p) {
		return nil
	}
	return w.replace(w.flags, w.flags+4, want)
}

// resize writes the new length of a chunk or of the file at the offset at.
func (w *webpScan) resize(at, length int64) error {
	if length < 0 || length > math.MaxUint32 {
		return errBrokenStructure
	}
	return w.replace(at, at+4, binary.LittleEndian.AppendUint32(nil, uint32(length)))
}
