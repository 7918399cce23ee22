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

	"pressroom.example/pressroom/internal/platform/mediainfo"
)

// layer is a picture at its position on a transparent canvas. The first frame of an animation may be smaller than the
// canvas.
type layer struct {
	image.Image

	at     image.Point
	canvas image.Point // size
}

// decodeTimeout is the maximum time for decoding one image. It is limited because other images wait for the memory.
const decodeTimeout = 30 * time.Second

var errDamaged = &mediainfo.DamageError{Reason: "the image is incomplete or broken"}

type readerFunc func([]byte) (int, error)

func (r readerFunc) Read(p []byte) (int, error) { return r(p) }

// decode returns the first frame as it is stored, without rotating it. It stops at the first read after the context has
// ended or decodeTimeout has passed.
func decode(ctx context.Context, r io.Reader, info mediainfo.Info) (layer, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, decodeTimeout, ErrSlow)
	defer cancel()
	if info.Type == mediainfo.JPEG {
		r = newScanReader(r, info)
	}
	var readErr error // an error from r, as opposed to an error about the image
	in := bufio.NewReader(readerFunc(func(p []byte) (int, error) {
		if readErr = context.Cause(ctx); readErr != nil {
			return 0, readErr
		}
		n, err := r.Read(p)
		if err != nil && !errors.Is(err, io.EOF) {
			readErr = err
		}
		return n, err //nolint:wrapcheck // io.EOF must stay unwrapped
	}))
	decoded, err := decodeSafely(in, info)
	var jpegErr jpeg.UnsupportedError
	var pngErr png.UnsupportedError
	switch {
	case readErr != nil:
		return layer{}, fmt.Errorf("reading the image: %w", readErr)
	case errors.As(err, &jpegErr), errors.As(err, &pngErr), errors.Is(err, ErrUnsupported):
		return layer{}, ErrUnsupported
	case err != nil:
		return layer{}, errDamaged
	}
	decoded.canvas = image.Pt(info.Width, info.Height)
	if info.Orientation >= 5 {
		decoded.canvas = image.Pt(info.Height, info.Width)
	}
	if end := decoded.at.Add(decoded.Bounds().Size()); end.X > decoded.canvas.X || end.Y > decoded.canvas.Y {
		return layer{}, errDamaged // info may describe a different image
	}
	return decoded, nil
}

// decodeSafely decodes an image. If a decoder panics, it returns an error, so that a bug in a decoder does not crash
// the process.
func decodeSafely(r io.Reader, info mediainfo.Info) (layer, error) {
	var out layer
	var err error
	func() {
		defer func() {
			if recover() != nil {
				err = errDamaged
			}
		}()
		out, err = decodeImage(r, info)
	}()
	return out, err
}

func decodeImage(r io.Reader, info mediainfo.Info) (layer, error) {
	var out layer
	var err error
	switch info.Type {
	case mediainfo.JPEG:
		out.Image, err = jpeg.Decode(r)
	case mediainfo.PNG:
		out.Image, err = png.Decode(r)
	case mediainfo.GIF:
		out.Image, err = gif.Decode(r)
		if err == nil {
			out.at = out.Bounds().Min
		}
	case mediainfo.WebP:
		if info.Animated {
			return firstFrame(r, info)
		}
		out.Image, err = webp.Decode(r)
	default:
		err = ErrUnsupported
	}
	return out, err
}

// firstFrame decodes the first frame of an animated WebP. Package x/image does not support animations, so firstFrame
// passes it a file with only that frame and the headers from RFC 9649, 2.7.
func firstFrame(r io.Reader, info mediainfo.Info) (layer, error) {
	length, err := findFrame(r)
	if err != nil {
		return layer{}, err
	}
	head := make([]byte, 16+4) // the frame's header and the type of its first chunk
	if _, err := io.ReadFull(r, head); err != nil || length < int64(len(head)) {
		return layer{}, errDamaged
	}
	// The decoder allocates memory for this size, but the memory was reserved for the size in info.
	if (1+uint24(head[6:]))*(1+uint24(head[9:])) > info.Width*info.Height {
		return layer{}, errDamaged
	}
	file := []byte("RIFF\x00\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x00\x00\x00\x00")
	binary.LittleEndian.PutUint32(file[4:], uint32(4+18+length-16)) //nolint:gosec // length is 20 to 2³²-1
	if string(head[16:]) == "ALPH" {
		file[20] = 1 << 4
	}
	file = append(file, head[6:12]...) // width and height have the same format
	file = append(file, head[16:]...)
	img, err := webp.Decode(io.MultiReader(bytes.NewReader(file), io.LimitReader(r, length-int64(len(head)))))
	if err != nil {
		return layer{}, errDamaged
	}
	return layer{Image: img, at: image.Pt(2*uint24(head), 2*uint24(head[3:]))}, nil
}

func uint24(p []byte) int { return int(p[0]) | int(p[1])<<8 | int(p[2])<<16 }

// findFrame reads up to the content of the first frame, and returns the length of that content.
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
