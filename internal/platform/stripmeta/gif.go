package stripmeta

import (
	"compress/lzw"
	"errors"
	"io"
	"slices"

	"pressroom.example/pressroom/internal/platform/mediainfo"
)

// The blocks of a GIF (GIF89a, appendix A).
const (
	gifExtension   = 0x21
	gifImage       = 0x2c
	gifTrailer     = 0x3b
	graphicControl = 0xf9
	application    = 0xff
)

// gifLoops lists the application extensions that contain the number of repetitions of an animation.
var gifLoops = []string{"NETSCAPE2.0", "ANIMEXTS1.0"}

// controlBytes is the size of a graphic control extension in bytes, without its terminator.
const controlBytes = 7

type gifScan struct {
	*source
	*Edits

	control span  // the graphic control for the next image
	looped  bool  // whether an extension with the number of repetitions was kept
	pixels  int64 // number of pixels decompressed so far
}

// scanGIF reads all blocks of a GIF. Decoders accept a GIF that is damaged after its first image, so scanGIF ends the
// file before the damage.
func scanGIF(s *source, e *Edits) error {
	p, err := s.peek(0, 13)
	if err != nil {
		return err
	}
	g := &gifScan{source: s, Edits: e}
	at := 13 + colorTableSize(p[10])
	hasImage := false
	for {
		next, kind, err := g.block(at)
		if errors.Is(err, mediainfo.ErrDamaged) && !errors.Is(err, errTooManyParts) && hasImage {
			return errors.Join(g.dropControl(), e.replace(at, s.size, []byte{gifTrailer}))
		}
		if err != nil {
			return err
		}
		if kind == gifTrailer {
			return errors.Join(g.dropControl(), e.remove(next, s.size))
		}
		hasImage = hasImage || kind == gifImage
		at = next
	}
}

// colorTableSize returns the size of the color table in bytes. flags are the flags of a screen or image.
func colorTableSize(flags byte) int64 {
	if flags&0x80 == 0 {
		return 0
	}
	return 3 << (1 + flags&7)
}

// block returns the end and the type of the block at offset at. It removes the block if it is not needed for rendering.
func (g *gifScan) block(at int64) (int64, byte, error) {
	p, err := g.peek(at, 1)
	if err != nil {
		return 0, 0, err
	}
	kind := p[0]
	switch kind {
	case gifTrailer:
		return at + 1, kind, nil
	case gifImage:
		end, err := g.image(at)
		return end, kind, err
	case gifExtension:
		end, err := g.skipBlocks(at + 2)
		if err != nil {
			return 0, 0, err
		}
		return end, kind, g.extension(at, end)
	}
	return 0, 0, errBrokenStructure
}

// image reads the compressed pixels of the image at offset at. It removes the bytes after the pixels, because decoders
// do not read them.
func (g *gifScan) image(at int64) (int64, error) {
	p, err := g.peek(at, 10)
	if err != nil {
		return 0, err
	}
	data := at + 10 + colorTableSize(p[9])
	if p, err = g.peek(data, 1); err != nil {
		return 0, err
	}
	bits := int(p[0])
	if bits < 2 || bits > 8 {
		return 0, errBrokenStructure
	}
	end, err := g.skipBlocks(data + 1)
	if err != nil {
		return 0, err
	}
	blocks := &subBlocks{source: g.source, next: data + 1}
	if err := g.decompress(blocks, bits); err != nil {
		return 0, err
	}
	control := g.control
	g.control = span{}
	return end, errors.Join(g.cut(control.at+controlBytes, control.end), g.cutBlocks(blocks, end))
}

// decompress reads pixels up to the end code or an invalid code, as decoders do.
func (g *gifScan) decompress(blocks *subBlocks, bits int) error {
	n, err := io.CopyN(io.Discard, lzw.NewReader(blocks, lzw.LSB, bits), maxInflatedBytes-g.pixels)
	g.pixels += n
	if g.err == nil && err == nil {
		return errTooManyParts
	}
	return g.err
}

// cutBlocks removes the data that blocks has not read, up to end, and terminates the data sub-blocks there.
func (g *gifScan) cutBlocks(blocks *subBlocks, end int64) error {
	if blocks.left == 0 && blocks.next == end-1 {
		return nil
	}
	if blocks.left > 0 {
		if err := g.replace(blocks.length, blocks.length+1, []byte{blocks.size - blocks.left}); err != nil {
			return err
		}
	}
	return g.replace(blocks.at, end, []byte{0})
}

// extension keeps the graphic control of an image and the first extension with the number of repetitions. It removes
// other extensions.
func (g *gifScan) extension(at, end int64) error {
	p, err := g.peek(at+1, int(min(end-at-1, 18)))
	if err != nil {
		return err
	}
	switch {
	case p[0] == graphicControl && len(p) >= 6 && p[1] == 4:
		if err := g.dropControl(); err != nil {
			return err
		}
		g.control = span{at, end}
		return nil
	case p[0] == application && len(p) == 18 && p[1] == 11 && slices.Contains(gifLoops, string(p[2:13])) &&
		p[13] == 3 && p[14] == 1 && !g.looped:
		g.looped = true
		return g.cut(at+18, end)
	}
	return g.remove(at, end)
}

// cut shortens an extension such that it ends at the offset at.
func (g *gifScan) cut(at, end int64) error {
	if end-at <= 1 {
		return nil
	}
	return g.replace(at, end, []byte{0})
}

// dropControl removes a graphic control that is not followed by an image.
func (g *gifScan) dropControl() error {
	c := g.control
	g.control = span{}
	return g.remove(c.at, c.end)
}

// skipBlocks returns the offset after the data sub-blocks at offset at, including their terminator.
func (s *source) skipBlocks(at int64) (int64, error) {
	for {
		p, err := s.peek(at, 1)
		if err != nil {
			return 0, err
		}
		at += 1 + int64(p[0])
		if p[0] == 0 {
			return at, nil
		}
	}
}

// subBlocks reads the contents of data sub-blocks byte by byte.
type subBlocks struct {
	*source

	at, next   int64 // offsets of the next byte and of the next sub-block
	length     int64 // offset of the length byte of the current sub-block
	size, left byte  // size of the current sub-block, and number of its unread bytes
}

// ReadByte implements io.ByteReader.
func (b *subBlocks) ReadByte() (byte, error) {
	if b.left == 0 {
		p, err := b.peek(b.next, 1)
		if err != nil {
			return 0, err
		}
		b.at = b.next
		if p[0] == 0 {
			return 0, io.EOF
		}
		b.length, b.size, b.left = b.next, p[0], p[0]
		b.at, b.next = b.next+1, b.next+1+int64(p[0])
	}
	p, err := b.peek(b.at, 1)
	if err != nil {
		return 0, err
	}
	b.at++
	b.left--
	return p[0], nil
}

// Read implements io.Reader, as package lzw requires. It reads one byte at a time.
func (b *subBlocks) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	c, err := b.ReadByte()
	if err != nil {
		return 0, err
	}
	p[0] = c
	return 1, nil
}
