package library

import (
	"net/http"
	"slices"
	"strconv"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/domain/media"
	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/web/shell"
)

// folderView is the page for renaming or deleting a folder, or for creating one.
type folderView struct {
	media.MediaFolder

	Move  []int64 // IDs of files to move to the new folder
	Back  string  // query of the library page where the files were selected
	Error shell.FormError

	CancelPath string
}

// folderPage shows the folder in the query, or a form for a new folder.
func (h *Handlers) folderPage(w http.ResponseWriter, r *http.Request) {
	h.showFolder(w, r, http.StatusOK, parseNumber(r.URL.Query().Get("folder")), shell.FormError{})
}

func (h *Handlers) showFolder(w http.ResponseWriter, r *http.Request, status int, id int64, formErr shell.FormError) {
	form := r.PostForm
	if r.Method == http.MethodGet {
		form = r.URL.Query()
	}
	v := folderView{Move: selectedIDs(form), Back: form.Get("back"), CancelPath: libraryPath(form), Error: formErr}
	if id != 0 {
		v.CancelPath = folderPath(id)
	}
	if id != 0 {
		folders, err := h.folders(r)
		i := slices.IndexFunc(folders, func(f media.MediaFolder) bool { return f.ID == id })
		if err == nil && i < 0 {
			err = apierr.ItemNotFound()
		}
		if err != nil {
			h.ShowError(w, r, err)
			return
		}
		v.MediaFolder = folders[i]
	}
	if r.PostForm.Has("name") {
		v.Name = r.PostForm.Get("name")
	}
	h.Show(w, r, status, pages["folder"], "Folder", v)
}

// changeFolder calls fn with the ID of the folder in the form. Then it redirects to the path that fn returns, with the
// message that fn returns.
func (h *Handlers) changeFolder(
	w http.ResponseWriter, r *http.Request, fn func(operation.Call, int64) (locale.Key, string, error),
) {
	if !h.ReadForm(w, r) {
		return
	}
	id := parseNumber(r.PostForm.Get("folder"))
	call, err := h.NewCall(r, "media_folders")
	message, next := locale.Key(""), ""
	if err == nil {
		message, next, err = fn(call, id)
	}
	if err != nil {
		if formErr, ok := h.FormErrorOf(w, r, err, fieldNames); ok {
			h.showFolder(w, r, shell.StatusOf(err), id, formErr)
		}
		return
	}
	h.Flash(r, message)
	shell.Redirect(w, r, next)
}

func folderPath(id int64) string { return "/media?folder=" + strconv.FormatInt(id, 10) }

func (h *Handlers) createFolder(w http.ResponseWriter, r *http.Request) {
	h.changeFolder(w, r, func(call operation.Call, _ int64) (locale.Key, string, error) {
		f, err := h.media.CreateFolder(r.Context(), call, r.PostForm.Get("name"))
		if ids := selectedIDs(r.PostForm); err == nil && len(ids) > 0 {
			err = h.storeResults(r, ids, h.moveAction(f.ID))
		}
		return "The folder was created.", folderPath(f.ID), err
	})
}

func (h *Handlers) renameFolder(w http.ResponseWriter, r *http.Request) {
	h.changeFolder(w, r, func(call operation.Call, id int64) (locale.Key, string, error) {
		return "The folder was renamed.", folderPath(id), h.media.RenameFolder(r.Context(), call, id,
			r.PostForm.Get("name"))
	})
}

func (h *Handlers) deleteFolder(w http.ResponseWriter, r *http.Request) {
	h.changeFolder(w, r, func(call operation.Call, id int64) (locale.Key, string, error) {
		return "The folder was deleted.", "/media", h.media.DeleteFolder(r.Context(), call, id)
	})
}
