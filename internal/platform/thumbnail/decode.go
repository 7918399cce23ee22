package thumbnail

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"time"

	"golang.org/x/image/webp"

	"pressroom/internal/platform/mediainfo"
)

// layer is a picture at its place on a canvas that is transparent elsewhere: the first frame of an animation may be
// smaller than the whole.
type layer struct {
	image.Image

	at     image.Point
	canvas image.Point // its size
}

// decodeWithin bounds the time that decoding one image takes. Other images wait for its memory.
const decodeWithin = 30 * time.Second

var errDamaged = &mediainfo.DamageError{Reason: "the image is cut short or broken"}

// reading is a reader of a function.
type reading func([]byte) (int, error)

func (r reading) Read(p []byte) (int, error) { return r(p) }

// decode decodes the first frame as it is stored. It stops at the next read once the context is done, or decodeWithin
// has passed.
func decode(ctx context.Context, r io.Reader, info mediainfo.Info) (layer, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, decodeWithin, ErrSlow)
	defer cancel()
	if info.Type == mediainfo.JPEG {
		r = newScanReader(r, info)
	}
	var failed error // to read, which is not the image's fault
	in := bufio.NewReader(reading(func(p []byte) (int, error) {
		if failed = context.Cause(ctx); failed != nil {
			return 0, failed
		}
		n, err := r.Read(p)
		if err != nil && !errors.Is(err, io.EOF) {
			failed = err
		}
		return n, err //nolint:wrapcheck // a reader hands on the very io.EOF
	}))
	from, err := guarded(in, info)
	var jpegCannot jpeg.UnsupportedError
	var pngCannot png.UnsupportedError
	switch {
	case failed != nil:
		return layer{}, fmt.Errorf("reading the image: %w", failed)
	case errors.As(err, &jpegCannot), errors.As(err, &pngCannot), errors.Is(err, ErrUnsupported):
		return layer{}, ErrUnsupported
	case err != nil:
		return layer{}, errDamaged
	}
	from.canvas = image.Pt(info.Width, info.Height)
	if info.Orientation >= 5 {
		from.canvas = image.Pt(info.Height, info.Width)
	}
	if end := from.at.Add(from.Bounds().Size()); end.X > from.canvas.X || end.Y > from.canvas.Y {
		return layer{}, errDamaged // or not the image that info is about
	}
	return from, nil
}

// guarded makes an error of a decoder's panic: there have been some, and one image must not end the program.
func guarded(r io.Reader, info mediainfo.Info) (layer, error) {
	var from layer
	var err error
	func() {
		defer func() {
			if recover() != nil {
				err = errDamaged
			}
		}()
		from, err = decoded(r, info)
	}()
	return from, err
}

func decoded(r io.Reader, info mediainfo.Info) (layer, error) {
	var whole layer
	var err error
	switch info.Type {
	case mediainfo.JPEG:
		whole.Image, err = jpeg.Decode(r)
	case mediainfo.PNG:
		whole.Image, err = png.Decode(r)
	case mediainfo.GIF:
		whole.Image, err = gif.Decode(r)
		if err == nil {
			whole.at = whole.Bounds().Min
		}
	case mediainfo.WebP:
		if info.Animated {
			return firstFrame(r, info)
		}
		whole.Image, err = webp.Decode(r)
	default:
		err = ErrUnsupported
	}
	return whole, err
}

// firstFrame decodes the first frame of an animated WebP, which x/image does not: it makes a file of that frame alone,
// with what RFC 9649 2.7 puts before it.
func firstFrame(r io.Reader, info mediainfo.Info) (layer, error) {
	length, err := findFrame(r)
	if err != nil {
		return layer{}, err
	}
	head := make([]byte, 16+4) // of the frame, and the type of its first chunk
	if _, err := io.ReadFull(r, head); err != nil || length < int64(len(head)) {
		return layer{}, errDamaged
	}
	// the decoder believes it, and info is what memory is held for
	if (1+uint24(head[6:]))*(1+uint24(head[9:])) > info.Width*info.Height {
		return layer{}, errDamaged
	}
	file := []byte("RIFF\x00\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x00\x00\x00\x00")
	binary.LittleEndian.PutUint32(file[4:], uint32(4+18+length-16)) //nolint:gosec // length was read from 32 bits, and is at least 20
	if string(head[16:]) == "ALPH" {
		file[20] = 1 << 4
	}
	file = append(file, head[6:12]...) // width and height, as both have them
	file = append(file, head[16:]...)
	img, err := webp.Decode(io.MultiReader(bytes.NewReader(file), io.LimitReader(r, length-int64(len(head)))))
	if err != nil {
		return layer{}, errDamaged
	}
	return layer{Image: img, at: image.Pt(2*uint24(head), 2*uint24(head[3:]))}, nil
}

func uint24(p []byte) int { return int(p[0]) | int(p[1])<<8 | int(p[2])<<16 }

// findFrame reads up to the content of the first frame and returns its length.
func findFrame(r io.Reader) (int64, error) {
	if _, err := io.CopyN(io.Discard, r, 12); err != nil {
		return 0, errDamaged
	}
	var head [8]byte
	for {
		if _, err := io.ReadFull(r, head[:]); err != nil {
			return 0, errDamaged
		}
		length := int64(binary.LittleEndian.Uint32(head[4:]))
		if string(head[:4]) == "ANMF" {
			return length, nil
		}
		if _, err := io.CopyN(io.Discard, r, length+length&1); err != nil {
			return 0, errDamaged
		}
	}
}
