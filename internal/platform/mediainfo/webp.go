package mediainfo

import "encoding/binary"

// vp8lTables is the memory in bytes for the Huffman tables of a lossless image from an ordinary encoder. A malicious
// image can need 140 MB, because the decoder allows 2,600 groups of codes.
const vp8lTables = 16 << 20

var errBrokenFrame = newDamageError("the image's frame header is broken")

// webpImage holds the content of a WebP file's chunks (RFC 9649).
type webpImage struct {
	f             *file
	width, height int64
	extended      bool // whether a VP8X chunk declares the size
	animated      bool
	orientation   int
	lossy         bool
	lossless      bool
	alpha         bool // whether the lossy frame has a separate alpha channel
	lossyBytes    int64
}

func readWebP(f *file) (Info, error) {
	p, err := f.peek(0, 12)
	if err != nil {
		return Info{}, err
	}
	length := int64(binary.LittleEndian.Uint32(p[4:]))
	if length > f.size-8 {
		return Info{}, errTruncated
	}
	w := &webpImage{f: f, orientation: 1}
	if err := w.chunks(12, 8+length, w.chunk); err != nil {
		return Info{}, err
	}
	if !w.lossy && !w.lossless {
		return Info{}, newDamageError("the image has no picture")
	}
	info, err := imageInfo(WebP, w.width, w.height, w.orientation)
	info.Animated = w.animated
	info.DecodeBytes = w.decodeBytes()
	return info, err
}

// chunks calls visit for the chunks between at and end. It returns an error for a chunk that extends beyond end,
// because the decoder allocates the declared size of a lossy chunk.
func (w *webpImage) chunks(at, end int64, visit func(kind string, at, n int64) error) error {
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
			return errTruncated
		}
		if err := visit(kind, at+8, n); err != nil {
			return err
		}
		at += 8 + n + n&1
	}
	return nil // an animation with thousands of frames; of the chunks that are read, only EXIF can follow the frames
}

func (w *webpImage) chunk(kind string, at, n int64) error {
	switch kind {
	case "VP8X":
		return w.canvas(at, n)
	case "EXIF":
		if p, err := w.f.peek(at, 6); err == nil && string(p) == "Exif\x00\x00" {
			at, n = at+6, n-6 // not allowed by the specification, but common
		}
		w.orientation = readOrientation(w.f, at, n)
	case "ANMF":
		if n >= 16 && !w.lossy && !w.lossless {
			return w.chunks(at+16, at+n, w.frame)
		}
	}
	return w.frame(kind, at, n)
}

// canvas reads a VP8X chunk (RFC 9649, 2.7).
func (w *webpImage) canvas(at, n int64) error {
	if n < 10 || w.extended || w.lossy || w.lossless {
		return errBrokenFrame
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

func (w *webpImage) frame(kind string, at, n int64) error {
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

// lossyFrame reads the header of a key frame (RFC 6386, 9.1).
func (w *webpImage) lossyFrame(at, n int64) error {
	if n < 10 {
		return errBrokenFrame
	}
	p, err := w.f.peek(at, 10)
	if err != nil {
		return err
	}
	if string(p[3:6]) != "\x9d\x01\x2a" {
		return errBrokenFrame
	}
	w.lossy, w.lossyBytes = true, max(w.lossyBytes, n)
	return w.setSize(int64(binary.LittleEndian.Uint16(p[6:])&0x3fff), int64(binary.LittleEndian.Uint16(p[8:])&0x3fff))
}

// losslessFrame reads the header of a lossless image (RFC 9649, 3.4).
func (w *webpImage) losslessFrame(at, n int64) error {
	if n < 5 {
		return errBrokenFrame
	}
	p, err := w.f.peek(at, 5)
	if err != nil {
		return err
	}
	if p[0] != 0x2f {
		return errBrokenFrame
	}
	w.lossless = true
	size := binary.LittleEndian.Uint32(p[1:])
	return w.setSize(1+int64(size&0x3fff), 1+int64(size>>14&0x3fff))
}

// setSize checks that a picture is not larger than the canvas. If there is no canvas, it sets the size of the image to
// the size of the picture.
func (w *webpImage) setSize(width, height int64) error {
	if !w.extended && w.width == 0 {
		w.width, w.height = width, height
	}
	if width > w.width || height > w.height {
		return newDamageError("the image's picture is larger than the image")
	}
	return nil
}

// decodeBytes returns the number of bytes of memory that decoding needs. A lossy picture needs planes of whole
// macroblocks and a copy of the compressed bytes. A lossless picture or an alpha channel needs the pixels before and
// after the transforms.
func (w *webpImage) decodeBytes() int64 {
	pixels := w.width * w.height
	var total int64
	if w.lossy {
		macroblocks := (w.width + 15) / 16 * ((w.height + 15) / 16)
		total += 400*macroblocks + w.lossyBytes // 384 for samples, the rest for filters
	}
	if w.lossless || w.alpha {
		total += 9*pixels + vp8lTables
	}
	return total
}
