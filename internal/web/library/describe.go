package library

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/domain/media"
	"pressroom.example/pressroom/internal/domain/media/gallery"
	"pressroom.example/pressroom/internal/web/shell"
)

// maxTextsForm is the maximum size in bytes of a form with the alt texts of a page of images.
const maxTextsForm = 400 << 10

// textsView is the page for editing the alt texts of several images.
type textsView struct {
	Images   []imageText
	Videos   int // number of selected videos, which have no alt text
	Problems int
	Saved    int
	Back, To string
}

// imageText is an image with its stored alt text or the entered alt text.
type imageText struct {
	gallery.Item

	Typed string
	Seen  string // digest of the stored text when the page showed it; see textDigest
	Error string
	Saved bool
}

// textDigest returns a digest of a text. saveText uses it to detect that somebody else has changed the text.
func textDigest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}

// textsPage shows the selected images and their alt texts.
func (h *Handlers) textsPage(w http.ResponseWriter, r *http.Request) {
	form := h.SavedForm(r)
	if form == nil {
		form = r.URL.Query()
	}
	_, v, err := h.textsOf(r, form)
	if err != nil {
		h.ShowError(w, r, err)
		return
	}
	h.showTexts(w, r, http.StatusOK, v)
}

func (h *Handlers) showTexts(w http.ResponseWriter, r *http.Request, status int, v textsView) {
	if len(v.Images) == 0 {
		h.Flash(r, "Select at least one image. Videos have no alt text.")
		shell.Redirect(w, r, v.To)
		return
	}
	h.Show(w, r, status, pages["texts"], "Alt text", v)
}

// textsOf returns the selected images with the entered or stored alt texts.
func (h *Handlers) textsOf(r *http.Request, form url.Values) (operation.Call, textsView, error) {
	v := textsView{Back: form.Get("back"), To: libraryPath(form)}
	call, err := h.NewCall(r, "media")
	if err != nil {
		return call, v, err
	}
	items, err := gallery.Items(r.Context(), h.DB, call.TeamID, selectedIDs(form))
	for _, i := range items {
		if i.Kind != media.Image {
			v.Videos++
			continue
		}
		image, id := imageText{Item: i, Typed: i.Alt, Seen: textDigest(i.Alt)}, strconv.FormatInt(i.ID, 10)
		if form.Has("alt-" + id) {
			image.Typed, image.Seen = form.Get("alt-"+id), form.Get("seen-"+id)
		}
		v.Images = append(v.Images, image)
	}
	return call, v, err
}

// saveTexts saves the changed alt texts of several images. If some could not be saved, it shows the page again.
func (h *Handlers) saveTexts(w http.ResponseWriter, r *http.Request) {
	if !h.ReadLongForm(w, r, maxTextsForm) {
		return
	}
	call, v, err := h.textsOf(r, r.PostForm)
	if err != nil {
		h.ShowError(w, r, err)
		return
	}
	for n := range v.Images {
		image := &v.Images[n]
		if err := h.saveText(r, call, image); err != nil {
			v.Problems++
			image.Error = h.Detail(r, err)
			if apierr.FromError(err).IsServerError() {
				image.Error = h.T(r, "It could not be saved. Try again in a moment.")
				h.Log.ErrorContext(r.Context(), "saving an alt text failed", "media", image.ID, "error", err)
			}
		} else if image.Saved {
			v.Saved++
		}
	}
	switch {
	case v.Problems > 0:
		h.showTexts(w, r, http.StatusUnprocessableEntity, v)
		return
	case v.Saved == 0:
		h.Flash(r, "No alt text was changed.")
	default:
		h.FlashText(r, h.Language(r).N(v.Saved, "The alt text of %d image was saved.", "The alt text of %d images was saved."))
	}
	shell.Redirect(w, r, v.To)
}

// saveText saves the alt text of an image if it was changed. If somebody else has changed it in the meantime,
// saveText returns an error, and submitting the form again overwrites that change.
func (h *Handlers) saveText(r *http.Request, call operation.Call, image *imageText) error {
	seenDigest, currentDigest := image.Seen, textDigest(image.Alt)
	if strings.TrimSpace(image.Typed) == image.Alt {
		return nil
	}
	image.Seen = currentDigest
	if seenDigest != currentDigest {
		return apierr.BadStatef("changed", "Somebody else has changed this text to “%s”. Save again to replace it.", image.Alt)
	}
	err := h.media.Describe(r.Context(), call.PersonID, image.ID, image.Typed)
	if err == nil {
		image.Saved, image.Seen = true, textDigest(strings.TrimSpace(image.Typed))
	}
	return err
}
