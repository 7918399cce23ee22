package library

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/domain/media"
	"pressroom.example/pressroom/internal/domain/media/gallery"
	"pressroom.example/pressroom/internal/domain/post"
	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/teamtime"
	"pressroom.example/pressroom/internal/web/shell"
)

// view is the page of a media item.
type view struct {
	media.ItemView
	List          filters // filters of the list that the item was opened from
	Before, After int64   // IDs of the neighbors in that list; 0 if there is none
	Uses          []media.Use
	Folders       []media.MediaFolder
	CanWrite      bool
	Error         shell.FormError
	Typed         formValues
}

// formValues holds the values of an item's form: the stored or the entered ones.
type formValues struct {
	Name, Alt string
	Folder    int64
}

// At returns when the item was added.
func (v view) At() *teamtime.Moment { return &v.CreatedAt }

// More reports whether more posts use the item than are shown.
func (v view) More() bool { return len(v.Uses) >= media.MaxUses }

// BackFolder returns the name of the item's folder if Back returns its path, or "".
func (v view) BackFolder() string {
	if v.Folder == nil || v.List != (filters{}) && parseNumber(v.List.Folder) != v.Folder.ID {
		return ""
	}
	return v.Folder.Name
}

// Back returns the path of the list that the item was opened from, or of the item's folder.
func (v view) Back() string {
	if v.List == (filters{}) && v.Folder != nil {
		return filters{Folder: strconv.FormatInt(v.Folder.ID, 10)}.Address()
	}
	return v.List.Address()
}

// FolderID returns the ID of the item's folder, or 0 if the item is not in a folder.
func (v view) FolderID() int64 {
	if v.Folder == nil {
		return 0
	}
	return v.Folder.ID
}

// BeingPublished returns the posts that block deletion because they are being published.
func (v view) BeingPublished() []media.Use { return v.usesOf(media.UseSending) }

// ScheduledPosts returns the scheduled posts that use the item.
func (v view) ScheduledPosts() []media.Use { return v.usesOf(media.UseScheduled) }

// Drafts returns the drafts that use the item.
func (v view) Drafts() []media.Use { return v.usesOf(media.UseInDraft) }

// PublishedPosts returns the published posts that use the item.
func (v view) PublishedPosts() []media.Use { return v.usesOf(media.UsePublished) }

func (v view) usesOf(kind media.UseKind) []media.Use {
	var out []media.Use
	for _, u := range v.Uses {
		if u.Kind == kind {
			out = append(out, u)
		}
	}
	return out
}

func (h *Handlers) page(w http.ResponseWriter, r *http.Request) {
	h.withItem(func(w http.ResponseWriter, req itemRequest) {
		req.PostForm = h.SavedForm(r)
		h.show(w, req, http.StatusOK, "item", shell.FormError{})
	})(w, r)
}

func (h *Handlers) show(w http.ResponseWriter, req itemRequest, status int, page string, formErr shell.FormError) {
	v, err := h.load(req)
	if err != nil {
		h.switchTeam(w, req.Request, err, req.id)
		return
	}
	v.Error, v.Typed = formErr, formValues{v.Name, v.AltText, v.FolderID()}
	if req.PostForm.Has("name") {
		v.Typed = formValues{req.PostForm.Get("name"), req.PostForm.Get("alt"), parseNumber(req.PostForm.Get("folder"))}
	}
	h.ShowTitled(w, req.Request, status, pages[page], v.Name, v)
}

func (h *Handlers) load(req itemRequest) (view, error) {
	v := view{CanWrite: shell.VisitorOf(req.Context()).Is(shell.Writers)}
	var err error
	if v.ItemView, err = h.media.View(req.Context(), req.call, req.id); err != nil {
		return v, err
	}
	if v.Uses, err = h.media.Uses(req.Context(), req.call, req.id); err != nil {
		return v, err
	}
	if v.Folders, err = h.folders(req.Request); err != nil {
		return v, err
	}
	return v, h.findNeighbors(req, &v)
}

// findNeighbors sets the neighbors in the list that the item was opened from. It ignores invalid filters.
func (h *Handlers) findNeighbors(req itemRequest, v *view) error {
	v.List = filtersOf(req.URL.Query())
	f, err := v.List.filter()
	if err != nil {
		v.List, f = filters{}, gallery.Filter{}
	}
	v.Before, v.After, err = gallery.Neighbors(req.Context(), h.DB, req.call.TeamID, f, req.id)
	return err
}

// save saves the name, alt text and folder of an item. It saves only the fields that the visitor changed, because
// somebody else may have changed the others in the meantime.
func (h *Handlers) save(w http.ResponseWriter, req itemRequest) {
	if !h.ReadForm(w, req.Request) {
		return
	}
	err := h.saveChanges(req)
	if err != nil {
		if formErr, ok := h.FormErrorOf(w, req.Request, err, fieldNames); ok {
			h.show(w, req, shell.StatusOf(err), "item", formErr)
		}
		return
	}
	h.Flash(req.Request, "Saved.")
	shell.Redirect(w, req.Request, filtersOf(req.URL.Query()).ItemPath(req.id))
}

func (h *Handlers) saveChanges(req itemRequest) error {
	ctx, form := req.Context(), req.PostForm
	changed := func(name string) bool {
		return form.Has(name) && strings.TrimSpace(form.Get(name)) != strings.TrimSpace(form.Get("was-"+name))
	}
	if changed("name") {
		if err := h.media.Rename(ctx, req.call, req.id, form.Get("name")); err != nil {
			return err
		}
	}
	if changed("alt") {
		if err := h.media.Describe(ctx, req.call.PersonID, req.id, form.Get("alt")); err != nil {
			return err
		}
	}
	if changed("folder") {
		return h.media.Move(ctx, req.call, req.id, parseNumber(form.Get("folder")))
	}
	return nil
}

func (h *Handlers) deletePage(w http.ResponseWriter, req itemRequest) {
	h.show(w, req, http.StatusOK, "delete", shell.FormError{})
}

// delete deletes the item, after removing it from scheduled posts if requested.
func (h *Handlers) delete(w http.ResponseWriter, req itemRequest) {
	if !h.ReadForm(w, req.Request) {
		return
	}
	out, err := removal{}, error(nil)
	choice := req.PostForm.Get("posts")
	if choice == "take_out" {
		out, err = h.removeFromPosts(req)
	}
	if err == nil {
		err = h.media.Delete(req.Context(), req.call, req.id)
	}
	switch {
	case err != nil && choice == "" && apierr.FromError(err).Context["state"] == "in_use":
		h.show(w, req, shell.StatusOf(err), "delete",
			shell.FormError{Text: h.T(req.Request, "Choose below what happens to the posts."), Field: "posts"})
	case err != nil:
		if formErr, ok := h.FormErrorOf(w, req.Request, err, fieldNames); ok {
			h.show(w, req, shell.StatusOf(err), "delete", formErr)
		}
	case len(out.Waiting) > 0:
		h.Show(w, req.Request, http.StatusOK, pages["taken"], "The file was deleted", out)
	default:
		h.FlashText(req.Request, out.text(h.Language(req.Request)))
		shell.Redirect(w, req.Request, "/media")
	}
}

// removal describes the posts that an item was removed from.
type removal struct {
	post.RemovedMedia

	// Shown lists the posts that need approval again, limited to those that the deletion page listed.
	Shown []media.Use
}

// More reports whether more posts need approval again than are shown.
func (r removal) More() bool { return len(r.Waiting) > len(r.Shown) }

func (r removal) text(l *locale.Language) string {
	if r.Posts == 0 {
		return l.T("The file was deleted.")
	}
	return l.N(r.Posts, "The file was deleted and removed from %d post.", "The file was deleted and removed from %d posts.")
}

// removeFromPosts removes the item from all unpublished posts. It does nothing if a post that uses the item is being
// published.
func (h *Handlers) removeFromPosts(req itemRequest) (removal, error) {
	uses, err := h.media.Uses(req.Context(), req.call, req.id)
	if err != nil || len(uses) > 0 && uses[0].Kind == media.UseSending {
		return removal{}, err // Delete then returns an error that explains why
	}
	removed, err := h.posts.RemoveMedia(req.Context(), req.call, req.id)
	out := removal{RemovedMedia: removed}
	for _, u := range uses {
		if slices.Contains(removed.Waiting, u.PostID) {
			u.Status = string(post.Draft) // scheduled posts became drafts
			out.Shown = append(out.Shown, u)
		}
	}
	return out, err
}
