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
func (p *Handlers) bulk(w http.ResponseWriter, r *http.Request) {
	if !p.ReadForm(w, r) {
		return
	}
	ids, back := selectedIDs(r.PostForm), backTo(r.PostForm)
	action := r.PostForm.Get("action")
	selected := url.Values{"media": r.PostForm["media"]}
	problem := locale.Key("")
	var do bulkAction
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
		do = p.moveAction(numberOf(folder))
	case action == "delete" && r.PostForm.Get("sure") == "":
		p.confirmDeletion(w, r, http.StatusOK, ids, shell.FormError{})
		return
	case action == "delete":
		if p.confirmPostChoice(w, r, ids) {
			return
		}
		do = p.deleteOne
	default:
		problem = "Choose what to do with the selected files."
	}
	if problem != "" {
		p.Flash(r, problem)
		shell.Redirect(w, r, back)
		return
	}
	p.finishBulk(w, r, ids, do, back)
}

// finishBulk applies an action to the files and redirects to the library, which shows the results.
func (p *Handlers) finishBulk(w http.ResponseWriter, r *http.Request, ids []int64, do bulkAction, to string) {
	if err := p.storeResults(r, ids, do); err != nil {
		p.ShowError(w, r, err)
		return
	}
	shell.Redirect(w, r, to)
}

// storeResults applies an action to the files and stores the results in the session, for the library page.
func (p *Handlers) storeResults(r *http.Request, ids []int64, do bulkAction) error {
	out, err := p.doAll(r, ids, do)
	if err != nil {
		return err
	}
	kept, err := json.Marshal(out)
	if err != nil {
		return fmt.Errorf("encoding the results of a bulk action: %w", err)
	}
	p.Put(r.Context(), resultsKey, kept)
	return nil
}

// doAll applies an action to each file. A missing file gets a result that says so. After an internal error, it does
// not try the remaining files.
func (p *Handlers) doAll(r *http.Request, ids []int64, do bulkAction) ([]result, error) {
	call, err := p.NewCall(r, "media")
	if err != nil {
		return nil, err
	}
	items, err := gallery.Items(r.Context(), p.DB, call.TeamID, ids)
	if err != nil {
		return nil, err
	}
	out, anyFailed := make([]result, len(ids)), false
	for n, id := range ids {
		out[n] = result{ID: id, Name: p.T(r, "A file"), Said: p.T(r, "Not tried.")}
		at := slices.IndexFunc(items, func(i gallery.Item) bool { return i.ID == id })
		if at >= 0 {
			out[n].Name = items[at].Name
		}
		if anyFailed {
			continue
		}
		err := error(apierr.ItemNotFound())
		if at >= 0 {
			err = do(itemRequest{r, call, id}, &out[n])
		}
		apiErr := apierr.FromError(err)
		switch {
		case err == nil:
			out[n].Done = true
		case apiErr.IsServerError():
			anyFailed, out[n].Said = true, p.T(r, "An internal error occurred. Check the file, then try again.")
			p.Log.ErrorContext(r.Context(), "bulk action on media failed", "media", id, "error", err)
		case apiErr.Code == apierr.NotFound:
			out[n].Said, out[n].Deleted = p.T(r, "It no longer exists."), true
		default:
			out[n].Said = p.Detail(r, err)
		}
	}
	return out, nil
}

// moveAction returns the action that moves a file to the given folder, or out of its folder if folder is 0.
func (p *Handlers) moveAction(folder int64) bulkAction {
	return func(req itemRequest, out *result) error {
		out.Said = p.T(req.Request, "Moved.")
		return p.media.Move(req.Context(), req.call, req.id, folder)
	}
}

// deleteOne deletes a file, after removing it from scheduled posts if requested.
func (p *Handlers) deleteOne(req itemRequest, out *result) error {
	var removed removal
	var err error
	if req.PostForm.Get("posts") == "take_out" {
		removed, err = p.removeFromPosts(req)
	}
	if err == nil {
		err = p.media.Delete(req.Context(), req.call, req.id)
	}
	if err != nil {
		return err
	}
	out.Deleted, out.Said = true, p.T(req.Request, "Deleted.")
	for _, u := range removed.Shown {
		out.Posts = append(out.Posts, resultPost{u.PostID, u.Excerpt})
	}
	if removed.Posts > 0 {
		out.Said = p.Language(req.Request).N(removed.Posts, "Deleted and removed from %d post.",
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
func (p *Handlers) deletionOf(r *http.Request, ids []int64) (deletion, error) {
	v := deletion{Back: r.PostForm.Get("back"), To: backTo(r.PostForm)}
	call, err := p.NewCall(r, "media")
	if err != nil {
		return v, err
	}
	items, err := gallery.Items(r.Context(), p.DB, call.TeamID, ids)
	if err != nil {
		return v, err
	}
	for _, i := range items {
		uses, err := p.media.Uses(r.Context(), call, i.ID)
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
func (p *Handlers) confirmPostChoice(w http.ResponseWriter, r *http.Request, ids []int64) bool {
	if r.PostForm.Get("posts") != "" {
		return false
	}
	v, err := p.deletionOf(r, ids)
	if err != nil {
		p.ShowError(w, r, err)
		return true
	}
	if v.Ahead {
		p.confirmDeletion(w, r, http.StatusUnprocessableEntity, ids,
			shell.FormError{Text: p.T(r, "Choose below what happens to the posts."), Field: "posts"})
	}
	return v.Ahead
}

func (p *Handlers) confirmDeletion(w http.ResponseWriter, r *http.Request, status int, ids []int64, formErr shell.FormError) {
	v, err := p.deletionOf(r, ids)
	if err != nil {
		p.ShowError(w, r, err)
		return
	}
	if len(v.Files)+len(v.Blocked) == 0 {
		p.Flash(r, "The selected files no longer exist.")
		shell.Redirect(w, r, v.To)
		return
	}
	v.Error = formErr
	p.Show(w, r, status, pages["bulkdelete"], "Delete files", v)
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

// backTo returns the path of the library page that a form was sent from.
func backTo(form url.Values) string {
	query, err := url.ParseQuery(form.Get("back"))
	if err != nil || len(query) == 0 {
		return "/media"
	}
	return "/media?" + query.Encode()
}

// popResults returns the results of the last bulk action and removes them from the session.
func (p *Handlers) popResults(r *http.Request) []result {
	var out []result
	if kept := p.Pop(r.Context(), resultsKey); len(kept) > 0 && json.Unmarshal(kept, &out) != nil {
		return nil
	}
	return out
}
