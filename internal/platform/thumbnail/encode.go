package thumbnail

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"math"

	"pressroom/internal/platform/mediainfo"
)

// qualities are those of a JPEG that are tried before it is made smaller; lower ones show.
var qualities = []int{90, 82, 72}

// hopeless is how many times too long a JPEG is that no lower quality makes short enough.
const hopeless = 3

// smallest is the longest side below which a picture shows nothing any more, in pixels.
const smallest = 32

// fit encodes a picture in maxBytes, as well and as large as can be. The context is looked at before each try.
func fit(ctx context.Context, whole *image.RGBA, mime string, maxBytes int64) (Made, error) {
	picture := whole
	for {
		made, took, err := best(ctx, picture, mime, maxBytes)
		if err != nil || made.Bytes != nil {
			return made, err
		}
		// The pixels that would just fit if each took as much as it did, and always fewer than there were.
		size := scaled(picture.Rect.Max, min(0.9, math.Sqrt(float64(maxBytes)/float64(took))))
		if max(size.X, size.Y) < smallest {
			return Made{}, ErrCannot
		}
		picture = upright(layer{Image: whole, canvas: whole.Rect.Max}, 1, size)
	}
}

// best tries the qualities in turn. Where none fits nothing is made, and it says how many bytes the last try took.
func best(ctx context.Context, picture *image.RGBA, mime string, maxBytes int64) (Made, int64, error) {
	var took int64
	for _, quality := range qualities {
		if err := context.Cause(ctx); err != nil {
			return Made{}, 0, fmt.Errorf("making an image fit: %w", err)
		}
		made, n, err := encode(picture, mime, quality, maxBytes)
		if err != nil || made.Bytes != nil {
			return made, n, err
		}
		took = n
		if mime == mediainfo.PNG || took > hopeless*maxBytes {
			break // a PNG knows no quality
		}
	}
	return Made{}, took, nil
}

// encode encodes a picture, of whose bytes it keeps none where they are more than maxBytes, and says how many they
// are. There is no bound where that is 0.
func encode(picture *image.RGBA, mime string, quality int, maxBytes int64) (Made, int64, error) {
	out := &bounded{most: maxBytes}
	var err error
	if mime == mediainfo.PNG {
		err = png.Encode(out, picture)
	} else {
		err = jpeg.Encode(out, picture, &jpeg.Options{Quality: quality})
	}
	if err != nil {
		return Made{}, 0, fmt.Errorf("encoding an image: %w", err)
	}
	if out.tooLong() {
		return Made{}, out.written, nil
	}
	return Made{Bytes: out.kept.Bytes(), Type: mime, Width: picture.Rect.Dx(), Height: picture.Rect.Dy()}, out.written,
		nil
}

// bounded keeps what is written until that is too long, and then counts.
type bounded struct {
	kept          bytes.Buffer
	most, written int64
}

func (b *bounded) tooLong() bool { return b.most > 0 && b.written > b.most }

func (b *bounded) Write(p []byte) (int, error) {
	b.written += int64(len(p))
	if b.tooLong() {
		return len(p), nil
	}
	return b.kept.Write(p) //nolint:wrapcheck // it never fails
}

// onWhite puts white behind what is transparent. The colours are multiplied by their opacity already.
func onWhite(picture *image.RGBA) {
	for p := picture.Pix; len(p) >= 4; p = p[4:] {
		behind := 255 - p[3]
		p[0], p[1], p[2], p[3] = p[0]+behind, p[1]+behind, p[2]+behind, 255
	}
}
