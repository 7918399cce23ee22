package library

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/domain/media"
	"pressroom.example/pressroom/internal/domain/media/gallery"
	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/web/shell"
)

// result is the result of a bulk action for one file.
type result struct {
	ID      int64        `json:"id"`
	Name    string       `json:"name"`
	Said    string       `json:"said"`
	Done    bool         `json:"done"`
	Deleted bool         `json:"deleted"`
	Posts   []resultPost `json:"posts"` // posts that lost the file and need approval again
}

// resultPost is a post that a file was removed from.
type resultPost struct {
	ID   string `json:"id"`
	Text string `json:"text"`
}

// resultsKey is the session key for the results that the library page shows next.
const resultsKey = "media results"

// bulkAction changes one file and describes the change in the result.
type bulkAction func(itemRequest, *result) error

// bulk applies the requested action to all selected files, and redirects to the library, which shows the results.
func (h *Handlers) bulk(w http.ResponseWriter, r *http.Request) {
	if !h.ReadForm(w, r) {
		return
	}
	ids, back := selectedIDs(r.PostForm), libraryPath(r.PostForm)
	action := r.PostForm.Get("action")
	selected := url.Values{"media": r.PostForm["media"]}
	problem := locale.Key("")
	var apply bulkAction
	switch folder := r.PostForm.Get("into"); {
	case len(ids) == 0:
		problem = "Select at least one file."
	case action == "post":
		shell.Redirect(w, r, "/posts/new?"+selected.Encode())
		return
	case action == "alt":
		selected.Set("back", r.PostForm.Get("back"))
		shell.Redirect(w, r, "/media/alt?"+selected.Encode())
		return
	case folder == "new":
		selected.Set("back", r.PostForm.Get("back"))
		shell.Redirect(w, r, "/media/folder?"+selected.Encode())
		return
	case folder != "":
		apply = h.moveAction(parseNumber(folder))
	case action == "delete" && r.PostForm.Get("sure") == "":
		h.confirmDeletion(w, r, http.StatusOK, ids, shell.FormError{})
		return
	case action == "delete":
		if h.confirmPostChoice(w, r, ids) {
			return
		}
		apply = h.deleteOne
	default:
		problem = "Choose what to do with the selected files."
	}
	if problem != "" {
		h.Flash(r, problem)
		shell.Redirect(w, r, back)
		return
	}
	h.finishBulk(w, r, ids, apply, back)
}

// finishBulk applies an action to the files and redirects to the library, which shows the results.
func (h *Handlers) finishBulk(w http.ResponseWriter, r *http.Request, ids []int64, apply bulkAction, path string) {
	if err := h.storeResults(r, ids, apply); err != nil {
		h.ShowError(w, r, err)
		return
	}
	shell.Redirect(w, r, path)
}

// storeResults applies an action to the files and stores the results in the session, for the library page.
func (h *Handlers) storeResults(r *http.Request, ids []int64, apply bulkAction) error {
	out, err := h.doAll(r, ids, apply)
	if err != nil {
		return err
	}
	data, err := json.Marshal(out)
	if err != nil {
		return fmt.Errorf("encoding the results of a bulk action: %w", err)
	}
	h.Put(r.Context(), resultsKey, data)
	return nil
}

// doAll applies an action to each file. A missing file gets a result that says so. After an internal error, it does
// not try the remaining files.
func (h *Handlers) doAll(r *http.Request, ids []int64, apply bulkAction) ([]result, error) {
	call, err := h.NewCall(r, "media")
	if err != nil {
		return nil, err
	}
	items, err := gallery.Items(r.Context(), h.DB, call.TeamID, ids)
	if err != nil {
		return nil, err
	}
	out, anyFailed := make([]result, len(ids)), false
	for n, id := range ids {
		out[n] = result{ID: id, Name: h.T(r, "A file"), Said: h.T(r, "Not tried.")}
		itemIndex := slices.IndexFunc(items, func(i gallery.Item) bool { return i.ID == id })
		if itemIndex >= 0 {
			out[n].Name = items[itemIndex].Name
		}
		if anyFailed {
			continue
		}
		err := error(apierr.ItemNotFound())
		if itemIndex >= 0 {
			err = apply(itemRequest{r, call, id}, &out[n])
		}
		apiErr := apierr.FromError(err)
		switch {
		case err == nil:
			out[n].Done = true
		case apiErr.IsServerError():
			anyFailed, out[n].Said = true, h.T(r, "An internal error occurred. Check the file, then try again.")
			h.Log.ErrorContext(r.Context(), "bulk action on media failed", "media", id, "error", err)
		case apiErr.Code == apierr.NotFound:
			out[n].Said, out[n].Deleted = h.T(r, "It no longer exists."), true
		default:
			out[n].Said = h.Detail(r, err)
		}
	}
	return out, nil
}

// moveAction returns the action that moves a file to the given folder, or out of its folder if folder is 0.
func (h *Handlers) moveAction(folder int64) bulkAction {
	return func(req itemRequest, out *result) error {
		out.Said = h.T(req.Request, "Moved.")
		return h.media.Move(req.Context(), req.call, req.id, folder)
	}
}

// deleteOne deletes a file, after removing it from scheduled posts if requested.
func (h *Handlers) deleteOne(req itemRequest, out *result) error {
	var removed removal
	var err error
	if req.PostForm.Get("posts") == "take_out" {
		removed, err = h.removeFromPosts(req)
	}
	if err == nil {
		err = h.media.Delete(req.Context(), req.call, req.id)
	}
	if err != nil {
		return err
	}
	out.Deleted, out.Said = true, h.T(req.Request, "Deleted.")
	for _, u := range removed.Shown {
		out.Posts = append(out.Posts, resultPost{u.PostID, u.Excerpt})
	}
	if removed.Posts > 0 {
		out.Said = h.Language(req.Request).N(removed.Posts, "Deleted and removed from %d post.",
			"Deleted and removed from %d posts.")
	}
	return nil
}

// deletion is the page that asks for confirmation before files are deleted.
type deletion struct {
	Files    []deletedFile
	Blocked  []deletedFile // files that cannot be deleted because posts that use them are being published
	Ahead    bool          // scheduled posts use some of the files
	Size     int64         // bytes
	Back, To string
	Error    shell.FormError
}

// deletedFile is a file to delete, with the posts that use it.
type deletedFile struct {
	gallery.Item

	Uses []media.Use
}

// deletionOf returns the page that confirms deleting files.
func (h *Handlers) deletionOf(r *http.Request, ids []int64) (deletion, error) {
	v := deletion{Back: r.PostForm.Get("back"), To: libraryPath(r.PostForm)}
	call, err := h.NewCall(r, "media")
	if err != nil {
		return v, err
	}
	items, err := gallery.Items(r.Context(), h.DB, call.TeamID, ids)
	if err != nil {
		return v, err
	}
	for _, i := range items {
		uses, err := h.media.Uses(r.Context(), call, i.ID)
		switch {
		case err != nil:
			return v, err
		case len(uses) > 0 && uses[0].Kind == media.UseSending:
			v.Blocked = append(v.Blocked, deletedFile{i, uses})
			continue
		}
		v.Ahead = v.Ahead || len(uses) > 0 && uses[0].Kind == media.UseScheduled
		v.Files, v.Size = append(v.Files, deletedFile{i, uses}), v.Size+i.Size
	}
	return v, nil
}

// confirmPostChoice reports whether scheduled posts use the files and the form does not say what happens to these
// posts. In that case, it shows the confirmation page again. If an error occurs, it writes the error response and
// returns true.
func (h *Handlers) confirmPostChoice(w http.ResponseWriter, r *http.Request, ids []int64) bool {
	if r.PostForm.Get("posts") != "" {
		return false
	}
	v, err := h.deletionOf(r, ids)
	if err != nil {
		h.ShowError(w, r, err)
		return true
	}
	if v.Ahead {
		h.confirmDeletion(w, r, http.StatusUnprocessableEntity, ids,
			shell.FormError{Text: h.T(r, "Choose below what happens to the posts."), Field: "posts"})
	}
	return v.Ahead
}

func (h *Handlers) confirmDeletion(w http.ResponseWriter, r *http.Request, status int, ids []int64, formErr shell.FormError) {
	v, err := h.deletionOf(r, ids)
	if err != nil {
		h.ShowError(w, r, err)
		return
	}
	if len(v.Files)+len(v.Blocked) == 0 {
		h.Flash(r, "The selected files no longer exist.")
		shell.Redirect(w, r, v.To)
		return
	}
	v.Error = formErr
	h.Show(w, r, status, pages["bulkdelete"], "Delete files", v)
}

// selectedIDs returns the IDs of the selected files, at most perPage of them, in the order of the page.
func selectedIDs(form url.Values) []int64 {
	var out []int64
	for _, text := range form["media"] {
		id, err := strconv.ParseInt(text, 10, 64)
		if err == nil && id > 0 && !slices.Contains(out, id) && len(out) < perPage {
			out = append(out, id)
		}
	}
	return out
}

// libraryPath returns the path of the library page that a form was sent from.
func libraryPath(form url.Values) string {
	query, err := url.ParseQuery(form.Get("back"))
	if err != nil || len(query) == 0 {
		return "/media"
	}
	return "/media?" + query.Encode()
}

// popResults returns the results of the last bulk action and removes them from the session.
func (h *Handlers) popResults(r *http.Request) []result {
	var out []result
	if data := h.Pop(r.Context(), resultsKey); len(data) > 0 && json.Unmarshal(data, &out) != nil {
		return nil
	}
	return out
}
