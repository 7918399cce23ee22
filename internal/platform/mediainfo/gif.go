package mediainfo

import (
	"encoding/binary"
	"errors"
)

// The blocks of a GIF (GIF89a, appendix A).
const (
	extension = 0x21
	separator = 0x2c // begins a picture
)

func readGIF(f *file) (Info, error) {
	p, err := f.peek(0, 13)
	if err != nil {
		return Info{}, err
	}
	info, err := imageInfo(GIF, int64(binary.LittleEndian.Uint16(p[6:])), int64(binary.LittleEndian.Uint16(p[8:])), 1)
	if err != nil {
		return Info{}, err
	}
	info.DecodeBytes = 2 * int64(info.Width) * int64(info.Height) // an interlaced frame needs a second copy
	info.Animated, err = animatedGIF(f, 13+colorTableSize(p[10]))
	return info, err
}

// colorTableSize returns the size of the color table in bytes. flags are the flags of a screen or picture.
func colorTableSize(flags byte) int64 {
	if flags&0x80 == 0 {
		return 0
	}
	return 3 << (1 + flags&7)
}

// animatedGIF reports whether a second picture follows the first. The first picture must be complete, but the second
// need not be. A file with too many blocks to read counts as animated, because large still images are rarely GIFs.
func animatedGIF(f *file, at int64) (bool, error) {
	at, err := nextPicture(f, at)
	if err != nil {
		return false, err
	}
	p, err := f.peek(at, 10)
	if err != nil {
		return false, err
	}
	at, err = skipBlocks(f, at+10+colorTableSize(p[9])+1)
	if err == nil {
		_, err = nextPicture(f, at)
		return err == nil || errors.Is(err, errTooManyReads), nil
	}
	if errors.Is(err, errTooManyReads) {
		return true, nil
	}
	return false, err
}

// nextPicture returns the offset of the next picture's descriptor.
func nextPicture(f *file, at int64) (int64, error) {
	for {
		p, err := f.peek(at, 1)
		if err != nil {
			return 0, err
		}
		if p[0] == separator {
			return at, nil
		}
		if p[0] != extension {
			return 0, newDamageError("the image has no picture")
		}
		if at, err = skipBlocks(f, at+2); err != nil {
			return 0, err
		}
	}
}

// skipBlocks returns the offset after data sub-blocks and their terminator.
func skipBlocks(f *file, at int64) (int64, error) {
	for {
		p, err := f.peek(at, 1)
		if err != nil {
			return 0, err
		}
		at += 1 + int64(p[0])
		if p[0] == 0 {
			return at, nil
		}
	}
}
