// Package thumbnail makes smaller pictures out of images, for people to look at and for networks that take no larger
// ones. What it makes is upright and without metadata: a photograph says where and when it was taken and with whose
// camera, which nobody means to publish.
package thumbnail

import (
	"context"
	"errors"
	"image"
	"io"
	"math"
	"slices"

	"pressroom/internal/platform/loadshed"
	"pressroom/internal/platform/mediainfo"
)

// The errors besides mediainfo.ErrDamaged, of an image that turns out to be cut short or broken, and those of reading
// it.
var (
	ErrTooLarge    = errors.New("the image needs more memory than there is for images")
	ErrUnsupported = errors.New("the image is of a variant that cannot be decoded")
	ErrCannot      = errors.New("the image cannot be made to fit")
	ErrBusy        = loadshed.ErrBusy // too many calls of the share wait for memory
)

// ErrSlow is the error about an image whose decoding took longer than 30 seconds. It is an ErrBusy, as a busy machine
// is a more likely reason than the image, whose work is bounded.
var ErrSlow error = slowError{}

type slowError struct{}

func (slowError) Error() string        { return "decoding the image took too long" }
func (slowError) Is(target error) bool { return target == ErrBusy }

// Maker makes pictures, with a bound on the memory that pixels take in all its calls together. Every call belongs to a
// share, such as a team, and shares take turns: a backlog of one delays the others by one picture each.
type Maker struct {
	turns *loadshed.Turns
	limit int64
}

// New makes a Maker that holds that many bytes of pixels at most. An image that needs more by itself is refused.
func New(memory int64) *Maker {
	return &Maker{turns: loadshed.NewTurns(memory), limit: memory}
}

// Made is an image that was made.
type Made struct {
	Bytes         []byte
	Type          string // mediainfo.JPEG or mediainfo.PNG
	Width, Height int    // pixels
}

// Want is what an image has to fit.
type Want struct {
	Types    []string // MIME; every type where empty
	MaxBytes int64    // no bound where 0
	MaxSide  int      // longest side in pixels, no bound where 0
}

// Type is the MIME type of what Fit makes for it; empty where it makes none of the types that are wanted.
func (w Want) Type() string {
	switch {
	case len(w.Types) == 0 || slices.Contains(w.Types, mediainfo.JPEG):
		return mediainfo.JPEG
	case slices.Contains(w.Types, mediainfo.PNG):
		return mediainfo.PNG
	}
	return ""
}

// thumbnailQuality is that of a JPEG of few pixels.
const thumbnailQuality = 82

// Thumbnail makes a picture whose longest side is side pixels, or as it is where it is smaller: a JPEG, or a PNG where
// something is transparent. Of an animation it is the first frame. info is what mediainfo.Read said of r's bytes. The
// errors are mediainfo.ErrDamaged, ErrTooLarge, ErrUnsupported, ErrBusy, ErrSlow, the context's, and those of reading.
func (m *Maker) Thumbnail(ctx context.Context, share int64, r io.Reader, info mediainfo.Info, side int) (Made, error) {
	size := within(info, side)
	release, err := m.hold(ctx, share, need(info, size))
	if err != nil {
		return Made{}, err
	}
	defer release()
	small, err := pixels(ctx, r, info, size)
	if err != nil {
		return Made{}, err
	}
	mime := mediainfo.JPEG
	if !small.Opaque() {
		mime = mediainfo.PNG
	}
	made, _, err := encode(small, mime, thumbnailQuality, 0)
	return made, err
}

// Fit makes a picture that fits: a JPEG on white, or a PNG where only that is wanted. It lowers the quality before the
// size, but makes what there is no memory for smaller from the beginning, down to half its sides. Of an animation it is
// the first frame. info is what mediainfo.Read said of r's bytes. The errors are those of Thumbnail and ErrCannot.
func (m *Maker) Fit(ctx context.Context, share int64, r io.Reader, info mediainfo.Info, want Want) (Made, error) {
	mime := want.Type()
	if mime == "" {
		return Made{}, ErrCannot
	}
	size := m.affordable(info, within(info, want.MaxSide))
	release, err := m.hold(ctx, share, max(need(info, size), 2*rgba(size)))
	if err != nil {
		return Made{}, err
	}
	defer release()
	whole, err := pixels(ctx, r, info, size)
	if err != nil {
		return Made{}, err
	}
	if mime == mediainfo.JPEG {
		onWhite(whole)
	}
	return fit(ctx, whole, mime, want.MaxBytes)
}

// hold waits until there is memory, and returns how to give it back.
func (m *Maker) hold(ctx context.Context, share, bytes int64) (func(), error) {
	err := m.turns.Acquire(ctx, share, bytes)
	if errors.Is(err, loadshed.ErrTooMuch) {
		return nil, ErrTooLarge
	}
	if err != nil {
		return nil, err
	}
	return func() { m.turns.Release(share, bytes) }, nil
}

// need is how many bytes of pixels there are at most at once, first while an image is decoded, then while it is made
// into one of that size.
func need(info mediainfo.Info, size image.Point) int64 {
	return max(info.DecodeBytes, kept(info)+rgba(size))
}

// kept is how many bytes a decoded image takes at most. What a progressive JPEG took for its coefficients is gone.
func kept(info mediainfo.Info) int64 {
	if info.Type == mediainfo.JPEG {
		return min(info.DecodeBytes, 4*int64(info.Width)*int64(info.Height))
	}
	return info.DecodeBytes
}

// affordable is that size, or a smaller one of which there is memory for one picture beside the decoded image, and for
// two after that.
func (m *Maker) affordable(info mediainfo.Info, size image.Point) image.Point {
	most := min(m.limit-kept(info), m.limit/2)
	if rgba(size) <= most {
		return size
	}
	by := math.Sqrt(float64(max(most, 0)) / float64(rgba(size)))
	return scaled(size, max(0.05, 0.99*by)) // a little less, as sides are rounded up
}

func rgba(size image.Point) int64 { return 4 * int64(size.X) * int64(size.Y) }

// within is the size of an image as shown whose longest side is side pixels at most.
func within(info mediainfo.Info, side int) image.Point {
	longest := max(info.Width, info.Height)
	if side < 1 || longest <= side {
		return image.Pt(info.Width, info.Height)
	}
	return scaled(image.Pt(info.Width, info.Height), float64(side)/float64(longest))
}

func scaled(size image.Point, by float64) image.Point {
	return image.Pt(max(1, int(float64(size.X)*by+0.5)), max(1, int(float64(size.Y)*by+0.5)))
}

// pixels decodes an image and makes it upright and of that size as shown.
func pixels(ctx context.Context, r io.Reader, info mediainfo.Info, size image.Point) (*image.RGBA, error) {
	from, err := decode(ctx, r, info)
	if err != nil {
		return nil, err
	}
	return upright(from, info.Orientation, size), nil
}
