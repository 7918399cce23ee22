package library

import (
	"cmp"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"

	"github.com/google/uuid"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/web/shell"
)

// Composer stores the unsaved forms of posts.
type Composer interface {
	// ReplaceMedia replaces an item in the visitor's form. It returns a not_found error if the form was saved or
	// discarded in the meantime, or no longer has the item.
	ReplaceMedia(r *http.Request, f PostForm, item, replacement int64) error
}

// PostForm identifies an unsaved form of a post from which an image is cropped. It contains no path, so that the crop
// page can lead only to the composer.
type PostForm struct {
	Draft string   // ID of the form
	Post  string   // ID of the post; empty for a new post
	List  string   // the list of the form that contains the image: 0, the ID of an account, or a part such as part-1
	For   []string // the networks of the list, or Story
}

// Story replaces a network in PostForm.For if the post is a story there.
const Story = "story"

// CropPath returns the path of the page that crops an image of the form.
func (f *PostForm) CropPath(image int64) string {
	q := url.Values{"draft": {f.Draft}, "list": {f.List}, "for": f.For}
	if f.Post != "" {
		q.Set("post", f.Post)
	}
	return pathOf(image) + "/crop?" + q.Encode()
}

// Path returns the path of the form.
func (f *PostForm) Path() string {
	page := "/posts/new"
	if f.Post != "" {
		page = "/posts/" + f.Post + "/edit"
	}
	return page + "?unsaved=" + f.Draft
}

// ImagePath returns the path of the form and of one of its images in it.
func (f *PostForm) ImagePath(image int64) string {
	return f.Path() + "#item-" + f.List + "-" + strconv.FormatInt(image, 10)
}

var (
	draftPattern = regexp.MustCompile(`^[A-Z2-7]{26}$`)
	listPattern  = regexp.MustCompile(`^(part-)?[0-9]{1,19}$`)
)

// postFormOf returns the form that a request names, or nil if it names none. It rejects invalid IDs.
func postFormOf(values url.Values) (*PostForm, error) {
	if !values.Has("draft") {
		return nil, nil //nolint:nilnil // most images are cropped without a form
	}
	f := &PostForm{Draft: values.Get("draft"), Post: values.Get("post"), List: values.Get("list"), For: values["for"]}
	id, err := uuid.Parse(f.Post)
	if !draftPattern.MatchString(f.Draft) || !listPattern.MatchString(f.List) ||
		f.Post != "" && (err != nil || id.String() != f.Post) {
		return nil, apierr.ItemNotFound()
	}
	return f, nil
}

// suggestedShapes returns the shapes of the form's networks, those of most networks first, and the other shapes. Both
// leave out the first shape, which allows any ratio.
func (f *PostForm) suggestedShapes() ([]shape, []shape) {
	var suggested, others []shape
	for _, s := range shapes[1:] {
		if f != nil && f.networksOf(s) > 0 {
			suggested = append(suggested, s)
		} else {
			others = append(others, s)
		}
	}
	slices.SortStableFunc(suggested, func(a, b shape) int { return cmp.Compare(f.networksOf(b), f.networksOf(a)) })
	return suggested, others
}

// networksOf returns the number of the form's networks that show a shape in full.
func (f *PostForm) networksOf(s shape) int {
	n := 0
	for _, network := range s.networks {
		if slices.Contains(f.For, network) {
			n++
		}
	}
	return n
}

// returnToForm replaces an image of a form by its cropped copy and redirects to the form.
func (h *Handlers) returnToForm(w http.ResponseWriter, req itemRequest, f PostForm, replacement int64) error {
	err := h.composer.ReplaceMedia(req.Request, f, req.id, replacement)
	switch {
	case err == nil:
		shell.Redirect(w, req.Request, f.ImagePath(replacement))
	case apierr.Is(err, apierr.NotFound):
		h.Flash(req.Request, "The new image is in the library, but not in the post: the changes to the post were saved or "+
			"discarded in the meantime.")
		shell.Redirect(w, req.Request, pathOf(replacement))
	case !apierr.FromError(err).IsServerError():
		h.FlashText(req.Request, h.Detail(req.Request, err))
		shell.Redirect(w, req.Request, f.Path()) // without the image, so that the message is visible
	default:
		return err
	}
	return nil
}
