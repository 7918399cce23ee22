package compose

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/domain/media"
	"pressroom.example/pressroom/internal/web/shell"
)

const pickerSize = 24

// picker is the state of the library picker.
type picker struct {
	Open   bool
	Query  string
	Kind   string // image or video; empty for both
	Folder string // ID of a folder; 0 for items without a folder; empty for all items
	Cursor string
	Into   mediaList // list to which items are added
	Picked []int64   // selected items
}

// any reports whether the picker filters the library.
func (p picker) any() bool { return strings.TrimSpace(p.Query)+p.Kind+p.Folder != "" }

// mediaPicker is the page of the media library that the picker shows.
type mediaPicker struct {
	Items     []media.MediaItem
	Elsewhere []int64 // selected items that are not on this page
	Folders   []folderChoice
	Filtered  bool
	Next      string // cursor of the next page; empty on the last page
	Error     string
}

// folderChoice is an option of the folder filter.
type folderChoice struct{ Value, Name string }

// arguments returns the arguments for list_media. It ignores an unknown kind or folder.
func (p picker) arguments() operation.Arguments {
	args := operation.Arguments{"limit": int64(pickerSize)}
	if q := strings.TrimSpace(p.Query); q != "" {
		args["query"] = q
	}
	if p.Kind == media.Image || p.Kind == media.Video {
		args["kind"] = p.Kind
	}
	if folder, err := strconv.ParseInt(p.Folder, 10, 64); err == nil && folder >= 0 {
		args["folder_id"] = folder
	}
	if p.Cursor != "" {
		args["cursor"] = p.Cursor
	}
	return args
}

// pickerPage returns the library page for the picker. If the cursor belongs to another search, it returns the first
// page. If the folder was deleted, it returns the first page of all items.
func (p *Handlers) pickerPage(r *http.Request, s *formData) (mediaPicker, error) {
	list, got, err := shell.Run[media.MediaList](p.Shell, r, "list_media", s.Picker.arguments())
	if err != nil && (s.Picker.Cursor != "" && apierr.Is(err, apierr.ValidationFailed) || apierr.Is(err, apierr.FolderNotFound)) {
		s.Picker.Cursor = ""
		if apierr.Is(err, apierr.FolderNotFound) {
			s.Picker.Folder = ""
		}
		list, got, err = shell.Run[media.MediaList](p.Shell, r, "list_media", s.Picker.arguments())
	}
	if apierr.Is(err, apierr.ValidationFailed) {
		return mediaPicker{Error: p.Detail(r, err)}, nil
	}
	if err != nil {
		return mediaPicker{}, err
	}
	out := mediaPicker{Items: list.Media, Filtered: s.Picker.any()}
	for _, f := range list.Folders {
		out.Folders = append(out.Folders, folderChoice{strconv.FormatInt(f.ID, 10), f.Name})
	}
	for _, id := range s.Picker.Picked {
		if !slices.ContainsFunc(out.Items, func(m media.MediaItem) bool { return m.ID == id }) {
			out.Elsewhere = append(out.Elsewhere, id)
		}
	}
	if got.Page != nil && got.Page.HasMore {
		out.Next = got.Page.Cursor
	}
	return out, nil
}

// Kinds returns the options of the kind filter.
func (*view) Kinds() []option {
	return []option{{"", "All"}, {media.Image, "Images"}, {media.Video, "Videos"}}
}

// addPicked adds the items that are selected in the picker, and closes the picker if there are any.
func (s *formData) addPicked() {
	for _, id := range s.Picker.Picked {
		s.add(id)
	}
	s.Picker.Picked, s.Picker.Open = nil, len(s.Picker.Picked) == 0
}
