// Package crop crops and rotates images in a team's media library. The result is a new item. The original is kept.
package crop

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"io"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/domain/media"
	"pressroom.example/pressroom/internal/platform/blob"
	"pressroom.example/pressroom/internal/platform/mediainfo"
	"pressroom.example/pressroom/internal/platform/thumbnail"
)

// MinSide is the minimum side of a cropped image, in pixels.
const MinSide = 16

// AspectRatio is an aspect ratio. The zero AspectRatio means any ratio.
type AspectRatio struct{ Width, Height int }

// Edit describes how to crop and rotate an image.
type Edit struct {
	Part         image.Rectangle // in pixels of the image as displayed; empty for the whole image
	Ratio        AspectRatio     // aspect ratio of the result; the part is cropped around its center to match it
	QuarterTurns int             // clockwise, after cropping
}

// Within returns the part that the edit keeps of an image with the given size.
func (e Edit) Within(size image.Point) image.Rectangle {
	part := e.Part
	if part.Empty() {
		part = image.Rectangle{Max: size}
	}
	ratio := e.Ratio
	if ratio == (AspectRatio{}) {
		return part
	}
	if e.QuarterTurns%2 != 0 {
		ratio = AspectRatio{ratio.Height, ratio.Width}
	}
	width, height := part.Dx(), part.Dy()
	switch fittingWidth := height * ratio.Width / ratio.Height; {
	case fittingWidth < width:
		width = max(1, fittingWidth)
	case fittingWidth > width:
		height = max(1, width*ratio.Height/ratio.Width)
	}
	corner := part.Min.Add(image.Pt((part.Dx()-width)/2, (part.Dy()-height)/2))
	return image.Rectangle{Min: corner, Max: corner.Add(image.Pt(width, height))}
}

// Service edits images.
type Service struct{ media *media.Service }

// New returns a Service.
func New(m *media.Service) *Service { return &Service{m} }

const retryAfter = 5 * time.Second // suggested delay while the team's other images are processed

var (
	errNoImage  = apierr.BadState("not_image", "Only images can be cropped.")
	errAnimated = apierr.BadState("animated", "An animated image cannot be cropped.")
	errOutside  = apierr.Invalid(apierr.OutOfRange, "part", "The crop area extends beyond the image.")
	errSmall    = apierr.Invalidf(apierr.OutOfRange, "part",
		"The crop area is too small. It needs at least %d pixels per side.", MinSide)
	errUnchanged = apierr.Invalid(apierr.MissingArgument, "part",
		"This is the whole image. Choose an aspect ratio, a smaller crop area or a rotation.")
	errBusy = apierr.New(apierr.Unavailable, "Too many of this team’s images are being processed. Wait, then try again.").
		With("reason", apierr.Busy).WithRetryAfter(retryAfter)
	errTooLarge = apierr.BadState("too_large", "The image has too many pixels to be cropped here. Make it smaller and upload it again.")
	errDamaged  = apierr.BadState("damaged", "The image is damaged, or its format cannot be cropped.")
)

// Crop adds an edited copy of an image to the library, in the same folder and with the same alternative text. If the
// library already has the result, it returns that item. If the folder or the text could not be copied, it returns the
// new item and an error.
func (s *Service) Crop(ctx context.Context, call operation.Call, id int64, e Edit) (media.AddResult, error) {
	if err := call.Require(access.Write); err != nil {
		return media.AddResult{}, err
	}
	original, err := s.media.View(ctx, call, id)
	if err != nil {
		return media.AddResult{}, err
	}
	result, err := s.applyEdit(ctx, call.TeamID, original, e)
	if err != nil {
		return media.AddResult{}, err
	}
	added, err := s.media.Add(ctx, media.Owner{TeamID: call.TeamID, PersonID: call.PersonID}, media.Incoming{
		Name: editedName(original.Name, e) + ".image", Type: result.Type, Size: int64(len(result.Bytes)),
		Body: bytes.NewReader(result.Bytes),
	})
	if err != nil || added.AlreadyExists {
		return added, err
	}
	if original.Folder != nil {
		err = s.media.Move(ctx, call, added.MediaID, original.Folder.ID)
	}
	if original.AltText != "" {
		err = errors.Join(err, s.media.Describe(ctx, call.PersonID, added.MediaID, original.AltText))
	}
	return added, err
}

// editedName returns the name of the edited copy.
func editedName(name string, e Edit) string {
	switch {
	case e.Ratio != (AspectRatio{}):
		return fmt.Sprintf("%s %s", name, e.Ratio)
	case e.Part.Empty():
		return name + " rotated"
	}
	return name + " cropped"
}

// String returns the aspect ratio as part of a name, such as 4x5 or 1.91x1.
func (r AspectRatio) String() string {
	if r.Height == 100 {
		return fmt.Sprintf("%gx1", float64(r.Width)/float64(r.Height))
	}
	return fmt.Sprintf("%dx%d", r.Width, r.Height)
}

// applyEdit returns the edited image. It returns an error if the edit does not change the image or is not possible.
func (s *Service) applyEdit(ctx context.Context, team int64, original media.ItemView, e Edit) (thumbnail.Result, error) {
	if original.Kind != media.Image {
		return thumbnail.Result{}, errNoImage
	}
	size := image.Pt(original.Width, original.Height)
	part := e.Within(size)
	switch {
	case !part.In(image.Rectangle{Max: size}):
		return thumbnail.Result{}, errOutside
	case min(part.Dx(), part.Dy()) < MinSide:
		return thumbnail.Result{}, errSmall
	case part.Size() == size && e.QuarterTurns%4 == 0:
		return thumbnail.Result{}, errUnchanged
	}
	file, err := s.media.OpenForTeam(ctx, team, original.ID)
	if err != nil {
		return thumbnail.Result{}, err
	}
	defer file.Close()
	info, err := mediainfo.Read(blob.NewBlockReader(file), file.Size())
	if err == nil && info.Animated {
		return thumbnail.Result{}, errAnimated
	}
	if err == nil {
		_, err = file.Seek(0, io.SeekStart)
	}
	if err != nil {
		return thumbnail.Result{}, toUserError(err)
	}
	result, err := s.media.Pictures().Crop(ctx, team, file, info, part, e.QuarterTurns)
	return result, toUserError(err)
}

// toUserError converts an error of image processing to the error that people see.
func toUserError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, thumbnail.ErrTooLarge):
		return errTooLarge.Wrap(err)
	case errors.Is(err, thumbnail.ErrBusy):
		return errBusy.Wrap(err)
	case errors.Is(err, mediainfo.ErrDamaged), errors.Is(err, mediainfo.ErrType), errors.Is(err, thumbnail.ErrUnsupported),
		errors.Is(err, thumbnail.ErrOutOfBounds):
		return errDamaged.Wrap(err)
	}
	return fmt.Errorf("cropping an image: %w", err)
}
