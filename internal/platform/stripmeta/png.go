package stripmeta

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"math"
	"slices"
)

// pngChunks maps the chunks that are needed for rendering to the minimum and maximum length of their content (PNG third
// edition, 11). Drafts of that edition used the names mDCv and cLLi. Each of these chunks may occur only once. IDAT and
// the chunks of an animation, which may occur several times, are not listed.
var pngChunks = map[string]span{
	"PLTE": {3, 768}, "tRNS": {1, 256}, "gAMA": {4, 4}, "cHRM": {32, 32}, "sRGB": {1, 1}, "cICP": {4, 4},
	"mDCV": {24, 24}, "mDCv": {24, 24}, "cLLI": {8, 8}, "cLLi": {8, 8}, "sBIT": {1, 4}, "bKGD": {1, 6}, "pHYs": {9, 9},
	"acTL": {8, 8}, "iCCP": {13, math.MaxInt32}, "eXIf": {0, math.MaxInt32},
}

// maxInflatedBytes is the maximum number of bytes to decompress for all frames of an image combined.
const maxInflatedBytes = 1 << 30

// colorTypeIndexed is the color type of images with a palette.
const colorTypeIndexed = 3

var errPixels = newDamageError("the image's compressed pixels are broken")

type pngScan struct {
	*source
	*Edits

	seen         []string // chunks that may occur once
	depth, color byte
	interlaced   bool
	image, frame size // size of the image, and of the frame whose pixels come next
	pixels       zlibReader
	inflated     int64 // number of decompressed bytes so far
}

type size struct{ width, height int64 }

// sizeAt returns the width and the height at the beginning of p.
func sizeAt(p []byte) size {
	return size{int64(binary.BigEndian.Uint32(p)), int64(binary.BigEndian.Uint32(p[4:]))}
}

// scanPNG processes all chunks of a PNG or APNG.
func scanPNG(s *source, e *Edits) error {
	p, err := s.peek(8, 25)
	if err != nil {
		return err
	}
	g := &pngScan{source: s, Edits: e, depth: p[16], color: p[17], interlaced: p[20] != 0, image: sizeAt(p[8:])}
	if binary.BigEndian.Uint32(p) != 13 || string(p[4:8]) != "IHDR" {
		return errBrokenStructure
	}
	for at := int64(33); ; {
		p, err := s.peek(at, 8)
		if err != nil {
			return err
		}
		length, kind := int64(binary.BigEndian.Uint32(p)), string(p[4:])
		end := at + 12 + length
		switch {
		case length > math.MaxInt32:
			return errBrokenStructure
		case end > s.size:
			return errTruncated
		case kind == "IEND":
			return g.removeTrailer(at, end)
		case kind == "IDAT", kind == "fdAT":
			at, err = g.readPixels(kind, at)
		default:
			err = g.cleanChunk(kind, at, end)
			at = end
		}
		if err != nil {
			return err
		}
	}
}

// removeTrailer removes the content of the last chunk and everything after that chunk.
func (g *pngScan) removeTrailer(at, end int64) error {
	if end-at == 12 {
		return g.remove(end, g.size)
	}
	return g.replace(at, g.size, newPNGChunk("IEND", nil))
}

func newPNGChunk(kind string, content []byte) []byte {
	p := binary.BigEndian.AppendUint32(nil, uint32(len(content))) //nolint:gosec // a few MB at most
	p = slices.Concat(p, []byte(kind), content)
	return binary.BigEndian.AppendUint32(p, crc32.ChecksumIEEE(p[4:]))
}

// cleanChunk keeps, cleans or removes the chunk from at to end.
func (g *pngScan) cleanChunk(kind string, at, end int64) error {
	n := end - at - 12
	size, known := pngChunks[kind]
	switch {
	case kind == "fcTL":
		return g.readFrameControl(at, n)
	case !known && kind[0]&0x20 == 0: // decoders cannot render a file with an unknown critical chunk
		return errBrokenStructure
	case !known, n < size.at, n > size.end, slices.Contains(g.seen, kind), !g.isValidChunk(kind, n):
		return g.remove(at, end)
	}
	g.seen = append(g.seen, kind)
	switch kind {
	case "eXIf":
		return g.cleanOrientation(at, end)
	case "iCCP":
		return g.cleanColorProfile(at, end)
	case "cHRM":
		return g.cleanChromaticities(at, end)
	}
	return nil
}

// isValidChunk reports whether a chunk of this kind with n bytes is valid for the image's color type. In a truecolor
// image, PLTE is not needed: it is only a suggestion for devices with few colors.
func (g *pngScan) isValidChunk(kind string, n int64) bool {
	switch kind {
	case "PLTE":
		return g.color == colorTypeIndexed && n%3 == 0
	case "tRNS":
		return g.color == colorTypeIndexed || n == map[byte]int64{0: 2, 2: 6}[g.color]
	case "bKGD":
		return n == map[byte]int64{0: 2, 2: 6, colorTypeIndexed: 1, 4: 2, 6: 6}[g.color]
	case "sBIT":
		return n == map[byte]int64{0: 1, 2: 3, colorTypeIndexed: 3, 4: 2, 6: 4}[g.color]
	}
	return true
}

// cleanChromaticities removes a cHRM chunk that contains impossible values. The unit is 1/100,000.
func (g *pngScan) cleanChromaticities(at, end int64) error {
	p, err := g.peek(at+8, 32)
	if err != nil {
		return err
	}
	for ; len(p) > 0; p = p[4:] {
		if binary.BigEndian.Uint32(p) > 200_000 {
			return g.remove(at, end)
		}
	}
	return nil
}

// cleanOrientation reduces the eXIf chunk from at to end to its orientation, or removes it if the image is upright.
func (g *pngScan) cleanOrientation(at, end int64) error {
	turned := g.orientationOnly(at+8, end-at-12)
	if turned == nil {
		return g.remove(at, end)
	}
	return g.replaceIfChanged(at, end, newPNGChunk("eXIf", turned))
}

// replaceIfChanged replaces the bytes from at to end with want, unless they are equal.
func (g *pngScan) replaceIfChanged(at, end int64, want []byte) error {
	if int64(len(want)) == end-at {
		have, err := g.read(nil, at, end-at)
		if err != nil || bytes.Equal(have, want) {
			return err
		}
	}
	return g.replace(at, end, want)
}

// profileName replaces the name of a color profile, which could be any text of up to 79 bytes.
const profileName = "ICC profile"

// cleanColorProfile cleans a color profile, or removes it if it is invalid.
func (g *pngScan) cleanColorProfile(at, end int64) error {
	p, err := g.peek(at+8, int(min(81, end-at-12)))
	if err != nil {
		return err
	}
	name, _, hasProfileName := bytes.Cut(p, []byte{0})
	hasProfileName = hasProfileName && string(name) == profileName
	start := int64(bytes.IndexByte(p, 0)) + 2 // offset after the compression method, which is always 0
	if start < 2 || end-at-12 > maxProfile {
		return g.remove(at, end)
	}
	in := &byteReader{source: g.source, at: at + 8 + start, end: end - 4}
	raw, err := inflate(in)
	if g.err != nil {
		return g.err
	}
	clean := cleanProfile(raw)
	if err != nil || clean == nil {
		return g.remove(at, end)
	}
	if hasProfileName && in.at == in.end && bytes.Equal(raw, clean) {
		return nil
	}
	var out bytes.Buffer
	out.WriteString(profileName + "\x00\x00")
	w := zlib.NewWriter(&out)
	if _, err = w.Write(clean); err == nil {
		err = w.Close()
	}
	if err != nil {
		return err
	}
	return g.replace(at, end, newPNGChunk("iCCP", out.Bytes()))
}

// inflate decompresses a color profile.
func inflate(in *byteReader) ([]byte, error) {
	z, err := zlib.NewReader(in)
	if err != nil {
		return nil, err //nolint:wrapcheck // the caller only checks whether the error is nil
	}
	raw, err := io.ReadAll(io.LimitReader(z, maxProfile+1))
	if err == nil && len(raw) > maxProfile {
		err = errBrokenStructure
	}
	return raw, err
}

// readFrameControl reads the size of an animation's frame from its fcTL chunk of n bytes.
func (g *pngScan) readFrameControl(at, n int64) error {
	if n != 26 {
		return errBrokenStructure
	}
	p, err := g.peek(at+12, 8)
	if err == nil {
		g.frame = sizeAt(p)
	}
	return err
}

// readPixels reads the compressed pixels of the image or of a frame, starting with the chunk at the offset at. It
// returns the end of the last chunk with pixels. It removes further image data after the first, because decoders do not
// read it.
func (g *pngScan) readPixels(kind string, at int64) (int64, error) {
	if kind == "IDAT" && slices.Contains(g.seen, kind) {
		n, err := g.peek(at, 4)
		if err != nil {
			return 0, err
		}
		end := at + 12 + int64(binary.BigEndian.Uint32(n))
		return end, g.remove(at, end)
	}
	dimensions, skip := g.frame, int64(4) // skips a sequence number
	if kind == "IDAT" {
		dimensions, skip = g.image, 0
		g.seen = append(g.seen, kind)
	}
	in := &pixelChunks{byteReader: byteReader{source: g.source}, kind: kind, next: at, skip: skip}
	if err := g.inflatePixels(in, g.rawSize(dimensions)); err != nil {
		return 0, err
	}
	return in.next, nil
}

// inflatePixels decompresses pixels. It returns an error unless the result has exactly n bytes and the compressed data
// ends at the end of a chunk.
func (g *pngScan) inflatePixels(in *pixelChunks, n int64) error {
	if g.inflated += n; g.inflated > maxInflatedBytes {
		return errTooManyParts
	}
	err := g.pixels.open(in)
	if err == nil {
		_, err = io.CopyN(io.Discard, g.pixels, n)
	}
	if err == nil {
		if _, err = io.CopyN(io.Discard, g.pixels, 1); err == nil {
			return errPixels
		}
	}
	if g.err != nil {
		return g.err
	}
	if !errors.Is(err, io.EOF) || in.at != in.end {
		return errPixels
	}
	return nil
}

// rawSize returns the number of bytes in a frame's pixels. Each row is padded to whole bytes and is preceded by its
// filter type. An interlaced frame consists of seven smaller images.
func (g *pngScan) rawSize(dimensions size) int64 {
	bits := int64(g.depth) * map[byte]int64{0: 1, 2: 3, colorTypeIndexed: 1, 4: 2, 6: 4}[g.color]
	image := func(width, height int64) int64 {
		if width <= 0 || height <= 0 {
			return 0
		}
		return height * (1 + (width*bits+7)/8)
	}
	if !g.interlaced {
		return image(dimensions.width, dimensions.height)
	}
	var total int64
	for _, p := range [][4]int64{
		{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4}, {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2},
	} {
		total += image((dimensions.width-p[0]+p[2]-1)/p[2], (dimensions.height-p[1]+p[3]-1)/p[3])
	}
	return total
}
