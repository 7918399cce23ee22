// Package thumbnail scales images down, for previews and for networks that limit sizes. The results are upright. They
// do not contain metadata, such as the place and time of a photo.
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
	ErrBusy        = loadshed.ErrBusy // too many calls by the owner are waiting for memory
)

// ErrSlow means that decoding an image took longer than 30 seconds. It matches ErrBusy, because the work per image is
// limited, so the likely cause is a busy machine.
var ErrSlow error = slowError{}

type slowError struct{}

func (slowError) Error() string        { return "decoding the image took too long" }
func (slowError) Is(target error) bool { return target == ErrBusy }

// Maker scales images. It limits the memory for pixels that all calls use together. Every call belongs to an owner,
// such as a team. Owners take turns, so a backlog of one owner delays each of the others by only one image.
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

// Limits are the limits that an image must not exceed.
type Limits struct {
	Types    []string // allowed MIME types; all types if empty
	MaxBytes int64    // 0 means no limit
	MaxSide  int      // longest side in pixels; 0 means no limit
}

// Type returns the MIME type of Fit's result, or an empty string if Fit supports none of the types.
func (l Limits) Type() string {
	switch {
	case len(l.Types) == 0 || slices.Contains(l.Types, mediainfo.JPEG):
		return mediainfo.JPEG
	case slices.Contains(l.Types, mediainfo.PNG):
		return mediainfo.PNG
	}
	return ""
}

// thumbnailQuality is the JPEG quality of thumbnails.
const thumbnailQuality = 82

// Thumbnail returns an image whose longest side is at most side pixels: a JPEG, or a PNG if it has transparency. For an
// animation, Thumbnail uses the first frame. info is the result of mediainfo.Read for r. The error is
// mediainfo.ErrDamaged, ErrTooLarge, ErrUnsupported, ErrBusy, ErrSlow, the context's error or a read error.
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

// Fit returns an image within the limits: a JPEG on a white background, or a PNG if JPEG is not allowed. It reduces the
// quality before the size. If there is not enough memory, it starts with a smaller size. For an animation, Fit uses the
// first frame. info is the result of mediainfo.Read for r. The error is ErrCannotFit or one of the errors of Thumbnail.
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

// memoryFor returns the maximum number of bytes that pixels use at any one time while an image is decoded and scaled to
// size.
func memoryFor(info mediainfo.Info, size image.Point) int64 {
	return max(info.DecodeBytes, decodedBytes(info)+rgbaBytes(size))
}

// decodedBytes returns the maximum size of a decoded image in bytes. It does not include the coefficients of a
// progressive JPEG, because the decoder has freed them.
func decodedBytes(info mediainfo.Info) int64 {
	if info.Type == mediainfo.JPEG {
		return min(info.DecodeBytes, 4*int64(info.Width)*int64(info.Height))
	}
	return info.DecodeBytes
}

// affordableSize returns size, or a smaller size if there is not enough memory. Scaling needs one picture in addition
// to the decoded image. Encoding then needs two pictures.
func (m *Maker) affordableSize(info mediainfo.Info, size image.Point) image.Point {
	maxBytes := min(m.limit-decodedBytes(info), m.limit/2)
	if rgbaBytes(size) <= maxBytes {
		return size
	}
	by := math.Sqrt(float64(max(maxBytes, 0)) / float64(rgbaBytes(size)))
	return scale(size, max(0.05, 0.99*by)) // slightly smaller, because sides are rounded up
}

func rgbaBytes(size image.Point) int64 { return 4 * int64(size.X) * int64(size.Y) }

// fitSize returns the displayed size of an image, scaled down such that its longest side is at most side pixels.
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
