// Package thumbnail scales images down, for previews and for networks that limit sizes. The results are upright and
// contain no metadata, such as the place and time of a photo.
package thumbnail

import (
	"context"
	"errors"
	"image"
	"io"
	"math"
	"slices"

	"pressroom.example/pressroom/internal/platform/loadshed"
	"pressroom.example/pressroom/internal/platform/mediainfo"
)

// The errors of this package. Its functions also return mediainfo.ErrDamaged and read errors.
var (
	ErrTooLarge    = errors.New("the image needs more memory than the limit for images")
	ErrUnsupported = errors.New("this variant of the format is not supported")
	ErrCannotFit   = errors.New("the image cannot be made small enough")
	ErrBusy        = loadshed.ErrBusy // too many calls of the owner wait for memory
)

// ErrSlow is the error about an image whose decoding took longer than 30 seconds. It matches ErrBusy. The work per
// image is limited, so the likely cause is a busy machine.
var ErrSlow error = slowError{}

type slowError struct{}

func (slowError) Error() string        { return "decoding the image took too long" }
func (slowError) Is(target error) bool { return target == ErrBusy }

// Maker scales images with a limit on the memory for the pixels of all calls. Every call belongs to an owner, such as a
// team. Owners take turns, so one owner's backlog delays each of the others by only one picture.
type Maker struct {
	limiter *loadshed.FairLimiter
	limit   int64
}

// New returns a Maker that uses at most memory bytes for pixels.
func New(memory int64) *Maker {
	return &Maker{limiter: loadshed.NewFairLimiter(memory), limit: memory}
}

// Result is a scaled image.
type Result struct {
	Bytes         []byte
	Type          string // mediainfo.JPEG or mediainfo.PNG
	Width, Height int    // pixels
}

// Limits are the limits that an image has to fit.
type Limits struct {
	Types    []string // MIME; all types if empty
	MaxBytes int64    // 0 means no limit
	MaxSide  int      // longest side in pixels; 0 means no limit
}

// Type returns the MIME type of Fit's result, or an empty string if Fit supports none of the types.
func (w Limits) Type() string {
	switch {
	case len(w.Types) == 0 || slices.Contains(w.Types, mediainfo.JPEG):
		return mediainfo.JPEG
	case slices.Contains(w.Types, mediainfo.PNG):
		return mediainfo.PNG
	}
	return ""
}

// thumbnailQuality is the JPEG quality of thumbnails.
const thumbnailQuality = 82

// Thumbnail returns a picture whose longest side is at most side pixels: a JPEG, or a PNG if it has transparency. For
// an animation, Thumbnail uses the first frame. The parameter info is the result of mediainfo.Read for r. The errors
// are mediainfo.ErrDamaged, ErrTooLarge, ErrUnsupported, ErrBusy, ErrSlow, the context's error and read errors.
func (m *Maker) Thumbnail(ctx context.Context, owner int64, r io.Reader, info mediainfo.Info, side int) (Result, error) {
	size := fitSize(info, side)
	release, err := m.reserve(ctx, owner, memoryFor(info, size))
	if err != nil {
		return Result{}, err
	}
	defer release()
	small, err := decodeScaled(ctx, r, info, size)
	if err != nil {
		return Result{}, err
	}
	mime := mediainfo.JPEG
	if !small.Opaque() {
		mime = mediainfo.PNG
	}
	made, _, err := encode(small, mime, thumbnailQuality, 0)
	return made, err
}

// Fit returns a picture within the limits: a JPEG on a white background, or a PNG if JPEG is not allowed. It reduces
// the quality before the size. If there is not enough memory, it starts with a smaller size. For an animation, Fit uses
// the first frame. The parameter info is the result of mediainfo.Read for r. The errors are the errors of Thumbnail and
// ErrCannotFit.
func (m *Maker) Fit(ctx context.Context, owner int64, r io.Reader, info mediainfo.Info, limits Limits) (Result, error) {
	mime := limits.Type()
	if mime == "" {
		return Result{}, ErrCannotFit
	}
	size := m.affordableSize(info, fitSize(info, limits.MaxSide))
	release, err := m.reserve(ctx, owner, max(memoryFor(info, size), 2*rgbaBytes(size)))
	if err != nil {
		return Result{}, err
	}
	defer release()
	img, err := decodeScaled(ctx, r, info, size)
	if err != nil {
		return Result{}, err
	}
	if mime == mediainfo.JPEG {
		flatten(img)
	}
	return fit(ctx, img, mime, limits.MaxBytes)
}

// reserve waits for memory, and returns a function that releases it.
func (m *Maker) reserve(ctx context.Context, owner, bytes int64) (func(), error) {
	err := m.limiter.Acquire(ctx, owner, bytes)
	if errors.Is(err, loadshed.ErrTooLarge) {
		return nil, ErrTooLarge
	}
	if err != nil {
		return nil, err
	}
	return func() { m.limiter.Release(owner, bytes) }, nil
}

// memoryFor returns the maximum number of bytes for pixels at any time while an image is decoded and then scaled to
// size.
func memoryFor(info mediainfo.Info, size image.Point) int64 {
	return max(info.DecodeBytes, decodedBytes(info)+rgbaBytes(size))
}

// decodedBytes returns the maximum size of a decoded image. The coefficients of a progressive JPEG do not count,
// because the decoder has freed them.
func decodedBytes(info mediainfo.Info) int64 {
	if info.Type == mediainfo.JPEG {
		return min(info.DecodeBytes, 4*int64(info.Width)*int64(info.Height))
	}
	return info.DecodeBytes
}

// affordableSize returns the size, or a smaller size for which there is enough memory. One picture is needed beside the
// decoded image, and two pictures afterwards.
func (m *Maker) affordableSize(info mediainfo.Info, size image.Point) image.Point {
	maxBytes := min(m.limit-decodedBytes(info), m.limit/2)
	if rgbaBytes(size) <= maxBytes {
		return size
	}
	by := math.Sqrt(float64(max(maxBytes, 0)) / float64(rgbaBytes(size)))
	return scale(size, max(0.05, 0.99*by)) // slightly less, because sides are rounded up
}

func rgbaBytes(size image.Point) int64 { return 4 * int64(size.X) * int64(size.Y) }

// fitSize returns the displayed size of an image, scaled down to a longest side of at most side pixels.
func fitSize(info mediainfo.Info, side int) image.Point {
	longest := max(info.Width, info.Height)
	if side < 1 || longest <= side {
		return image.Pt(info.Width, info.Height)
	}
	return scale(image.Pt(info.Width, info.Height), float64(side)/float64(longest))
}

func scale(size image.Point, factor float64) image.Point {
	return image.Pt(max(1, int(float64(size.X)*factor+0.5)), max(1, int(float64(size.Y)*factor+0.5)))
}

// decodeScaled returns the decoded image, upright and scaled to the displayed size.
func decodeScaled(ctx context.Context, r io.Reader, info mediainfo.Info, size image.Point) (*image.RGBA, error) {
	from, err := decode(ctx, r, info)
	if err != nil {
		return nil, err
	}
	return upright(from, info.Orientation, size), nil
}
