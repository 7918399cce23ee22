package library

import (
	"image"
	"net/http"
	"strconv"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/domain/media"
	"pressroom.example/pressroom/internal/domain/media/crop"
	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/web/shell"
)

// shape is an aspect ratio that people can choose.
type shape struct {
	Value, Text string // Text is empty if any ratio is allowed
	Use         locale.Key

	ratio    crop.AspectRatio
	networks []string // that show the ratio in full, or Story
}

// Ratio returns the width divided by the height, or "0" if any ratio is allowed.
func (s shape) Ratio() string {
	if s.ratio == (crop.AspectRatio{}) {
		return "0"
	}
	return strconv.FormatFloat(float64(s.ratio.Width)/float64(s.ratio.Height), 'f', -1, 64)
}

// shapes lists the aspect ratios that networks show without cropping.
var shapes = []shape{
	{"", "", "Any size", crop.AspectRatio{}, nil},
	{"1x1", "1:1", "Square: Instagram, Facebook, LinkedIn",
		crop.AspectRatio{Width: 1, Height: 1}, []string{"instagram", "facebook", "linkedin"},
	},
	{"4x5", "4:5", "Portrait: Instagram, Facebook, Threads",
		crop.AspectRatio{Width: 4, Height: 5}, []string{"instagram", "facebook", "threads"},
	},
	{"1.91x1", "1.91:1", "Landscape: Facebook, LinkedIn, links",
		crop.AspectRatio{Width: 191, Height: 100}, []string{"facebook", "linkedin"},
	},
	{"9x16", "9:16", "Full screen: stories, Reels, TikTok",
		crop.AspectRatio{Width: 9, Height: 16}, []string{Story, "tiktok"},
	},
	{"16x9", "16:9", "Wide: X, Bluesky, YouTube",
		crop.AspectRatio{Width: 16, Height: 9}, []string{"x", "bluesky", "youtube"},
	},
	{"2x3", "2:3", "Pin: Pinterest",
		crop.AspectRatio{Width: 2, Height: 3}, []string{"pinterest"},
	},
}

// rotations lists the rotations, in quarter turns to the right.
var rotations = []option{
	{"0", "None"}, {"1", "90° to the right"}, {"2", "180°"}, {"3", "90° to the left"},
}

// cropView is the page that crops an image.
type cropView struct {
	media.ItemView

	Form                             *PostForm // the form that the copy is for; nil if it is only for the library
	Shape, Turn                      string
	Left, Top, PartWidth, PartHeight string // in pixels, as typed
	Error                            shell.FormError
}

// Free returns the option for any aspect ratio.
func (cropView) Free() shape { return shapes[0] }

// Suggested returns the aspect ratios for the networks of the form.
func (v cropView) Suggested() []shape { suggested, _ := v.Form.suggestedShapes(); return suggested }

// Others returns the other aspect ratios.
func (v cropView) Others() []shape { _, others := v.Form.suggestedShapes(); return others }

// Turns returns the options for the rotation.
func (cropView) Turns() []option { return rotations }

// Back returns the path of the page from which the person came.
func (v cropView) Back() string {
	if v.Form != nil {
		return v.Form.ImagePath(v.ID)
	}
	return pathOf(v.ID)
}

func (h *Handlers) cropPage(w http.ResponseWriter, req itemRequest) {
	form, err := postFormOf(req.URL.Query())
	if err != nil {
		h.ShowError(w, req.Request, err)
		return
	}
	h.showCrop(w, req, form, http.StatusOK, shell.FormError{})
}

func (h *Handlers) showCrop(w http.ResponseWriter, req itemRequest, f *PostForm, status int, formErr shell.FormError) {
	v := cropView{Form: f, Turn: "0", Left: "0", Top: "0", Error: formErr}
	var err error
	if v.ItemView, err = h.media.View(req.Context(), req.call, req.id); err == nil && v.Kind != media.Image {
		err = apierr.ItemNotFound()
	}
	if err != nil {
		h.switchTeam(w, req.Request, err, req.id)
		return
	}
	v.PartWidth, v.PartHeight = strconv.Itoa(v.Width), strconv.Itoa(v.Height)
	if form := req.PostForm; form.Has("shape") {
		v.Shape, v.Turn = form.Get("shape"), form.Get("turn")
		v.Left, v.Top, v.PartWidth, v.PartHeight = form.Get("left"), form.Get("top"), form.Get("width"), form.Get("height")
	}
	h.ShowTitled(w, req.Request, status, pages["crop"], h.T(req.Request, "Crop %s", v.Name), v)
}

// crop adds a cropped copy of an image and shows it, or the form of a post in which it replaces the image.
func (h *Handlers) crop(w http.ResponseWriter, req itemRequest) {
	if !h.ReadForm(w, req.Request) {
		return
	}
	form, err := postFormOf(req.PostForm)
	if err != nil {
		h.ShowError(w, req.Request, err)
		return
	}
	edit, err := h.parseEdit(req)
	var addResult media.AddResult
	if err == nil {
		addResult, err = h.crops.Crop(req.Context(), req.call, req.id, edit)
	}
	switch {
	case err != nil && addResult.MediaID != 0:
		h.Log.ErrorContext(req.Context(), "copying the details of a cropped image failed", "media", addResult.MediaID, "error", err)
		h.Flash(req.Request, "The new image was saved, but its folder or alt text could not be copied. Check both.")
	case err != nil:
		if formErr, ok := h.FormErrorOf(w, req.Request, err, fieldNames); ok {
			h.showCrop(w, req, form, shell.StatusOf(err), formErr)
		}
		return
	case form != nil:
		h.Flash(req.Request, "The new image is in the post. The original is unchanged.")
	case addResult.AlreadyExists:
		h.Flash(req.Request, "The library already had this image.")
	default:
		h.Flash(req.Request, "This is the new image. The original is unchanged.")
	}
	if form == nil {
		shell.Redirect(w, req.Request, pathOf(addResult.MediaID))
		return
	}
	if err := h.returnToForm(w, req, *form, addResult.MediaID); err != nil {
		h.ShowError(w, req.Request, err)
	}
}

// parseEdit returns the edit that the form describes.
func (h *Handlers) parseEdit(req itemRequest) (crop.Edit, error) {
	out := crop.Edit{QuarterTurns: int(parseNumber(req.PostForm.Get("turn")) % 4)}
	validShape := false
	for _, s := range shapes {
		if s.Value == req.PostForm.Get("shape") {
			out.Ratio, validShape = s.ratio, true
		}
	}
	if !validShape {
		return out, apierr.Invalid(apierr.NotAllowedValue, "shape", "Choose an aspect ratio.")
	}
	var area [4]int
	for n, name := range []string{"left", "top", "width", "height"} {
		value, err := strconv.Atoi(req.PostForm.Get(name))
		if err != nil || value < 0 || value > maxPixels || n >= 2 && value == 0 {
			return out, apierr.Invalid(apierr.OutOfRange, name, "Enter the crop area in whole pixels.")
		}
		area[n] = value
	}
	original, err := h.media.View(req.Context(), req.call, req.id)
	out.Part = image.Rect(area[0], area[1], area[0]+area[2], area[1]+area[3])
	if out.Part == image.Rect(0, 0, original.Width, original.Height) {
		out.Part = image.Rectangle{}
	}
	return out, err
}

// maxPixels is greater than the width and height of any image in the library.
const maxPixels = 1 << 20
