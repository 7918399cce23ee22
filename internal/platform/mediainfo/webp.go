package mediainfo

import "encoding/binary"

// vp8lTables is what the Huffman tables of a lossless image take beside its pixels, in bytes, of any that an encoder
// makes. One made to hurt can take 140 MB, as the decoder stops at 2,600 groups of codes.
const vp8lTables = 16 << 20

var errFrame = damaged("the image's frame header is broken")

// webp is what the chunks of a WebP file say (RFC 9649).
type webp struct {
	f             *file
	width, height int64
	extended      bool // VP8X says the size
	animated      bool
	orientation   int
	lossy         bool
	lossless      bool
	alpha         bool // beside a lossy frame
	lossyBytes    int64
}

func readWebP(f *file) (Info, error) {
	p, err := f.peek(0, 12)
	if err != nil {
		return Info{}, err
	}
	length := int64(binary.LittleEndian.Uint32(p[4:]))
	if length > f.size-8 {
		return Info{}, errEnds
	}
	w := &webp{f: f, orientation: 1}
	if err := w.chunks(12, 8+length, w.chunk); err != nil {
		return Info{}, err
	}
	if !w.lossy && !w.lossless {
		return Info{}, damaged("the image has no picture")
	}
	info, err := still(WebP, w.width, w.height, w.orientation)
	info.Animated = w.animated
	info.DecodeBytes = w.decodeBytes()
	return info, err
}

// chunks shows what stands between at and end, chunk by chunk. A chunk that is longer than that is an error: the
// decoder takes as much memory as a lossy one claims to have bytes.
func (w *webp) chunks(at, end int64, visit func(kind string, at, n int64) error) error {
	for range maxChunks {
		if end-at < 8 {
			return nil
		}
		p, err := w.f.peek(at, 8)
		if err != nil {
			return err
		}
		kind, n := string(p[:4]), int64(binary.LittleEndian.Uint32(p[4:]))
		if n > end-at-8 {
			return errEnds
		}
		if err := visit(kind, at+8, n); err != nil {
			return err
		}
		at += 8 + n + n&1
	}
	return nil // an animation of thousands of frames: what matters stands before them, but for EXIF
}

func (w *webp) chunk(kind string, at, n int64) error {
	switch kind {
	case "VP8X":
		return w.canvas(at, n)
	case "EXIF":
		if p, err := w.f.peek(at, 6); err == nil && string(p) == "Exif\x00\x00" {
			at, n = at+6, n-6 // as some write it, against the specification
		}
		w.orientation = orientation(w.f, at, n)
	case "ANMF":
		if n >= 16 && !w.lossy && !w.lossless {
			return w.chunks(at+16, at+n, w.frame)
		}
	}
	return w.frame(kind, at, n)
}

// canvas reads a VP8X chunk, RFC 9649 2.7.
func (w *webp) canvas(at, n int64) error {
	if n < 10 || w.extended || w.lossy || w.lossless {
		return errFrame
	}
	p, err := w.f.peek(at, 10)
	if err != nil {
		return err
	}
	w.extended, w.animated = true, p[0]&2 != 0
	w.width, w.height = 1+uint24(p[4:]), 1+uint24(p[7:])
	return nil
}

func uint24(p []byte) int64 { return int64(p[0]) | int64(p[1])<<8 | int64(p[2])<<16 }

func (w *webp) frame(kind string, at, n int64) error {
	switch kind {
	case "ALPH":
		w.alpha = true
	case "VP8 ":
		return w.lossyFrame(at, n)
	case "VP8L":
		return w.losslessFrame(at, n)
	}
	return nil
}

// lossyFrame reads the header of a key frame, RFC 6386 9.1.
func (w *webp) lossyFrame(at, n int64) error {
	if n < 10 {
		return errFrame
	}
	p, err := w.f.peek(at, 10)
	if err != nil {
		return err
	}
	if string(p[3:6]) != "\x9d\x01\x2a" {
		return errFrame
	}
	w.lossy, w.lossyBytes = true, max(w.lossyBytes, n)
	return w.sized(int64(binary.LittleEndian.Uint16(p[6:])&0x3fff), int64(binary.LittleEndian.Uint16(p[8:])&0x3fff))
}

// losslessFrame reads the header of a lossless image, RFC 9649 3.4.
func (w *webp) losslessFrame(at, n int64) error {
	if n < 5 {
		return errFrame
	}
	p, err := w.f.peek(at, 5)
	if err != nil {
		return err
	}
	if p[0] != 0x2f {
		return errFrame
	}
	w.lossless = true
	size := binary.LittleEndian.Uint32(p[1:])
	return w.sized(1+int64(size&0x3fff), 1+int64(size>>14&0x3fff))
}

// sized takes the size of a picture: that of the whole where there is no canvas, which none may exceed.
func (w *webp) sized(width, height int64) error {
	if !w.extended && w.width == 0 {
		w.width, w.height = width, height
	}
	if width > w.width || height > w.height {
		return damaged("the image's picture is larger than the image")
	}
	return nil
}

// decodeBytes counts planes of whole macroblocks and a copy of the compressed bytes for a lossy picture, and the
// pixels before and after the transforms for a lossless one, which is what the transparency of a lossy one is too.
func (w *webp) decodeBytes() int64 {
	pixels := w.width * w.height
	var total int64
	if w.lossy {
		macroblocks := (w.width + 15) / 16 * ((w.height + 15) / 16)
		total += 400*macroblocks + w.lossyBytes // 384 for samples, the rest for how they are filtered
	}
	if w.lossless || w.alpha {
		total += 9*pixels + vp8lTables
	}
	return total
}
