package thumbnail

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"math"

	"pressroom.example/pressroom/internal/platform/mediainfo"
)

// qualities lists the JPEG qualities to try before the picture is scaled down. Lower qualities look visibly worse.
var qualities = []int{90, 82, 72}

// maxExcess is the highest ratio of encoded size to size limit at which trying a lower quality is still worthwhile.
const maxExcess = 3

// minSide is the minimum length of a picture's longest side, in pixels.
const minSide = 32

// fit encodes a picture in at most maxBytes, with the best possible quality and size.
func fit(ctx context.Context, img *image.RGBA, mime string, maxBytes int64) (Result, error) {
	picture := img
	for {
		result, encodedBytes, err := encodeBest(ctx, picture, mime, maxBytes)
		if err != nil || result.Bytes != nil {
			return result, err
		}
		// Estimate from the bytes per pixel how many pixels fit, and always reduce the size.
		size := scale(picture.Rect.Max, min(0.9, math.Sqrt(float64(maxBytes)/float64(encodedBytes))))
		if max(size.X, size.Y) < minSide {
			return Result{}, ErrCannotFit
		}
		picture = upright(layer{Image: img, canvas: img.Rect.Max}, 1, size)
	}
}

// encodeBest tries the qualities in order. If none fits, it returns the zero Result and the number of bytes of the last
// attempt.
func encodeBest(ctx context.Context, picture *image.RGBA, mime string, maxBytes int64) (Result, int64, error) {
	var encodedBytes int64
	for _, quality := range qualities {
		if err := context.Cause(ctx); err != nil {
			return Result{}, 0, fmt.Errorf("converting an image: %w", err)
		}
		result, n, err := encode(picture, mime, quality, maxBytes)
		if err != nil || result.Bytes != nil {
			return result, n, err
		}
		encodedBytes = n
		if mime == mediainfo.PNG || encodedBytes > maxExcess*maxBytes {
			break // PNG has no quality setting
		}
	}
	return Result{}, encodedBytes, nil
}

// encode returns an encoded picture and its number of bytes. If that number exceeds maxBytes, the Result is zero. A
// maxBytes of 0 means no limit.
func encode(picture *image.RGBA, mime string, quality int, maxBytes int64) (Result, int64, error) {
	out := &limitedBuffer{limit: maxBytes}
	var err error
	if mime == mediainfo.PNG {
		err = png.Encode(out, picture)
	} else {
		err = jpeg.Encode(out, picture, &jpeg.Options{Quality: quality})
	}
	if err != nil {
		return Result{}, 0, fmt.Errorf("encoding an image: %w", err)
	}
	if out.tooLong() {
		return Result{}, out.written, nil
	}
	return Result{Bytes: out.buffer.Bytes(), Type: mime, Width: picture.Rect.Dx(), Height: picture.Rect.Dy()}, out.written,
		nil
}

// limitedBuffer stores written bytes up to a limit. It counts the bytes beyond the limit, but does not store them.
type limitedBuffer struct {
	buffer         bytes.Buffer
	limit, written int64
}

func (b *limitedBuffer) tooLong() bool { return b.limit > 0 && b.written > b.limit }

func (b *limitedBuffer) Write(p []byte) (int, error) {
	b.written += int64(len(p))
	if b.tooLong() {
		return len(p), nil
	}
	return b.buffer.Write(p) //nolint:wrapcheck // it never fails
}

// flatten blends transparent pixels with white. The colors are alpha-premultiplied.
func flatten(picture *image.RGBA) {
	for p := picture.Pix; len(p) >= 4; p = p[4:] {
		behind := 255 - p[3]
		p[0], p[1], p[2], p[3] = p[0]+behind, p[1]+behind, p[2]+behind, 255
	}
}
