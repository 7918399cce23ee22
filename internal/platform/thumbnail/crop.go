package thumbnail

import (
	"context"
	"errors"
	"image"
	"io"

	"pressroom.example/pressroom/internal/platform/mediainfo"
)

// cropQuality is the JPEG quality of cropped images. It is high because an image may have to be encoded again for a
// network that limits sizes.
const cropQuality = 92

// ErrOutOfBounds means that the part to crop is empty or extends beyond the image.
var ErrOutOfBounds = errors.New("the part is not within the image")

// Crop returns a part of an image, rotated clockwise by a number of quarter turns. The part is given in pixels of the
// displayed image. The result is a PNG if the image is a PNG or GIF, or if the result has transparency. Otherwise, it
// is a JPEG. For an animation, Crop uses the first frame. info is the result of mediainfo.Read for r. The error is
// ErrOutOfBounds or one of the errors of Thumbnail.
func (m *Maker) Crop(
	ctx context.Context, owner int64, r io.Reader, info mediainfo.Info, part image.Rectangle, quarterTurns int,
) (Result, error) {
	size := image.Pt(info.Width, info.Height)
	if part.Empty() || !part.In(image.Rectangle{Max: size}) {
		return Result{}, ErrOutOfBounds
	}
	release, err := m.reserve(ctx, owner, max(memoryFor(info, size), 2*rgbaBytes(size)))
	if err != nil {
		return Result{}, err
	}
	defer release()
	img, err := decodeScaled(ctx, r, info, size)
	if err != nil {
		return Result{}, err
	}
	orientation := [4]int{1, 6, 3, 8}[(quarterTurns%4+4)%4]
	shownSize := part.Size()
	if orientation >= 5 {
		shownSize = image.Pt(shownSize.Y, shownSize.X)
	}
	cut := upright(layer{Image: img.SubImage(part), canvas: part.Size()}, orientation, shownSize)
	mime := mediainfo.JPEG
	if info.Type == mediainfo.PNG || info.Type == mediainfo.GIF || !cut.Opaque() {
		mime = mediainfo.PNG
	}
	made, _, err := encode(cut, mime, cropQuality, 0)
	return made, err
}
