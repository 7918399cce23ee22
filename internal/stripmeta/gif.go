package stripmeta

import (
	"errors"
	"slices"

	"pressroom/internal/probe"
)

// The blocks of GIF89a, appendix A.
const (
	gifExtension   = 0x21
	gifImage       = 0x2c
	gifTrailer     = 0x3b
	plainText      = 0x01 // is drawn
	graphicControl = 0xf9
	application    = 0xff
)

// gifApplications are the application extensions that rendering needs: loops and color profiles.
var gifApplications = []string{"NETSCAPE2.0", "ANIMEXTS1.0", "ICCRGBG1012"}

// scanGIF walks all blocks of a GIF. Decoders show a GIF that breaks off after its first image; it is ended there.
func scanGIF(s *source, e *Edits) error {
	p, err := s.peek(0, 13)
	if err != nil {
		return err
	}
	at := 13 + colorTable(p[10])
	shown := false
	for {
		next, kind, err := s.block(e, at)
		if errors.Is(err, probe.ErrDamaged) && shown {
			return e.replace(at, s.size, []byte{gifTrailer})
		}
		if err != nil {
			return err
		}
		if kind == gifTrailer {
			return e.remove(next, s.size)
		}
		shown = shown || kind == gifImage
		at = next
	}
}

// colorTable is the size of the table that the flags of a screen or an image announce, in bytes.
func colorTable(flags byte) int64 {
	if flags&0x80 == 0 {
		return 0
	}
	return 3 << (1 + flags&7)
}

// block returns where the block at at ends and what it is, and removes it if rendering does not need it.
func (s *source) block(e *Edits, at int64) (int64, byte, error) {
	p, err := s.peek(at, 1)
	if err != nil {
		return 0, 0, err
	}
	kind := p[0]
	switch kind {
	case gifTrailer:
		return at + 1, kind, nil
	case gifImage:
		if p, err = s.peek(at, 10); err != nil {
			return 0, 0, err
		}
		end, err := s.skipBlocks(at + 10 + colorTable(p[9]) + 1)
		return end, kind, err
	case gifExtension:
		end, err := s.skipBlocks(at + 2)
		if err != nil {
			return 0, 0, err
		}
		keep, err := s.rendered(at, end)
		if err == nil && !keep {
			err = e.remove(at, end)
		}
		return end, kind, err
	}
	return 0, 0, errStructure
}

// rendered reports whether rendering needs the extension from at to end.
func (s *source) rendered(at, end int64) (bool, error) {
	p, err := s.peek(at+1, int(min(end-at-1, 13)))
	if err != nil {
		return false, err
	}
	switch p[0] {
	case graphicControl, plainText:
		return true, nil
	case application:
		return len(p) == 13 && p[1] == 11 && slices.Contains(gifApplications, string(p[2:])), nil
	}
	return false, nil
}

// skipBlocks returns where the data sub-blocks at at end, behind their terminator.
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
