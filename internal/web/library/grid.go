package library

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"

	"pressroom/internal/core/operation"
	"pressroom/internal/domain/media"
	"pressroom/internal/web/shell"
)

// gridView is a page of the library.
type gridView struct {
	media.MediaList

	Folder, Kind, Query string
	FolderName          string // selected folder; empty for none
	Filtered            bool
	Writes              bool
	Pager               pager
}

// pager holds paths of other pages, empty if there is none.
type pager struct{ First, Next string }

// perPage is how many items a page shows.
const perPage = 24

func (p *Handlers) grid(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	v := gridView{
		Folder: q.Get("folder"), Kind: q.Get("kind"), Query: q.Get("query"),
		Writes: shell.VisitorOf(r.Context()).Is(shell.Writers),
	}
	args, keep := operation.Arguments{"limit": int64(perPage)}, url.Values{}
	add := func(argument, field, value string, as any) {
		if value != "" {
			args[argument], v.Filtered = as, true
			keep.Set(field, value)
		}
	}
	add("folder_id", "folder", v.Folder, json.Number(v.Folder))
	add("kind", "kind", v.Kind, v.Kind)
	add("query", "query", v.Query, v.Query)
	if cursor := q.Get("cursor"); cursor != "" {
		args["cursor"], v.Pager.First = cursor, "/media?"+keep.Encode()
	}
	outcome, err := p.Do(r, "list_media", args)
	if err == nil {
		v.MediaList, err = shell.Result[media.MediaList](outcome)
	}
	if err != nil {
		p.ShowError(w, r, err)
		return
	}
	for _, f := range v.Folders {
		if strconv.FormatInt(f.ID, 10) == v.Folder {
			v.FolderName = f.Name
		}
	}
	if outcome.Page != nil {
		keep.Set("cursor", outcome.Page.Cursor)
		v.Pager.Next = "/media?" + keep.Encode()
	}
	p.Show(w, r, http.StatusOK, pages["grid"], "Media", v)
}

// Is reports whether a folder is selected.
func (v gridView) Is(folder int64) bool { return strconv.FormatInt(folder, 10) == v.Folder }

// Share returns how much of the plan's storage is used in percent, or -1 if unlimited.
func (v gridView) Share() int64 {
	if v.Storage.LimitBytes <= 0 {
		return -1
	}
	return min(100, v.Storage.UsedBytes*100/v.Storage.LimitBytes)
}

// folders returns the team's folders.
func (p *Handlers) folders(r *http.Request) ([]media.MediaFolder, error) {
	outcome, err := p.Do(r, "list_media", operation.Arguments{"limit": int64(1)})
	if err != nil {
		return nil, err
	}
	found, err := shell.Result[media.MediaList](outcome)
	return found.Folders, err
}
