package library

import (
	"net/http"
	"slices"
	"strconv"

	"pressroom/internal/apierr"
	"pressroom/internal/core/operation"
	"pressroom/internal/domain/media"
	"pressroom/internal/web/shell"
)

// folderView is the page of a folder, or of one that is to be made.
type folderView struct {
	media.MediaFolder

	Wrong shell.Wrong
}

// folderPage shows the folder whose id the address holds, or a form for a new one.
func (p *Part) folderPage(w http.ResponseWriter, r *http.Request) {
	p.showFolder(w, r, http.StatusOK, numberOf(r.URL.Query().Get("folder")), shell.Wrong{})
}

func (p *Part) showFolder(w http.ResponseWriter, r *http.Request, status int, id int64, wrong shell.Wrong) {
	v := folderView{Wrong: wrong}
	if id != 0 {
		all, err := p.folders(r)
		at := slices.IndexFunc(all, func(f media.MediaFolder) bool { return f.ID == id })
		if err == nil && at < 0 {
			err = apierr.Missing()
		}
		if err != nil {
			p.Refuse(w, r, err)
			return
		}
		v.MediaFolder = all[at]
	}
	if r.PostForm.Has("name") {
		v.Name = r.PostForm.Get("name")
	}
	p.Show(w, r, status, pages["folder"], "Folder", v)
}

// inFolder does something with the folder that a form names.
func (p *Part) inFolder(
	w http.ResponseWriter, r *http.Request, do func(operation.Call, int64) (string, string, error),
) {
	if !p.ReadForm(w, r) {
		return
	}
	id := numberOf(r.PostForm.Get("folder"))
	call, err := p.Acting(r, "media_folders")
	said, next := "", ""
	if err == nil {
		said, next, err = do(call, id)
	}
	if err != nil {
		if wrong, ok := p.WrongAt(w, r, err, fieldNames); ok {
			p.showFolder(w, r, shell.StatusOf(err), id, wrong)
		}
		return
	}
	p.Say(r, said)
	shell.Redirect(w, r, next)
}

func folderPath(id int64) string { return "/media?folder=" + strconv.FormatInt(id, 10) }

func (p *Part) makeFolder(w http.ResponseWriter, r *http.Request) {
	p.inFolder(w, r, func(call operation.Call, _ int64) (string, string, error) {
		f, err := p.media.MakeFolder(r.Context(), call, r.PostForm.Get("name"))
		return "The folder is made.", folderPath(f.ID), err
	})
}

func (p *Part) renameFolder(w http.ResponseWriter, r *http.Request) {
	p.inFolder(w, r, func(call operation.Call, id int64) (string, string, error) {
		return "The folder has another name.", folderPath(id), p.media.RenameFolder(r.Context(), call, id,
			r.PostForm.Get("name"))
	})
}

func (p *Part) deleteFolder(w http.ResponseWriter, r *http.Request) {
	p.inFolder(w, r, func(call operation.Call, id int64) (string, string, error) {
		return "The folder is deleted.", "/media", p.media.DeleteFolder(r.Context(), call, id)
	})
}
