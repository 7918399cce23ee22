package library

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"unicode/utf8"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/domain/media"
	"pressroom.example/pressroom/internal/domain/media/gallery"
	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/web/shell"
)

const (
	perPage     = 24  // items on a page
	maxQuery    = 200 // maximum number of characters of a search
	folderTiles = 8   // number of folders that are shown before the list is expanded
)

// filters holds the filters and the sort order of the page, as in its URL.
type filters struct{ Folder, Kind, Query, Alt, Use, Sort string }

// filtersOf returns the filters in a query.
func filtersOf(q url.Values) filters {
	return filters{q.Get("folder"), q.Get("kind"), q.Get("query"), q.Get("alt"), q.Get("use"), q.Get("sort")}
}

// Address returns the path of the first page.
func (f filters) Address() string { return f.pathWith("", "") }

// pathWith returns the path of the first page with another value for one parameter, or without that parameter if
// value is empty.
func (f filters) pathWith(name, value string) string { return "/media" + f.queryWith(name, value) }

// ItemPath returns the path of an item's page. It contains the filters, so that the page can link to the neighboring
// items.
func (f filters) ItemPath(id int64) string { return pathOf(id) + f.queryWith("", "") }

// queryWith returns the query with another value for one parameter. It starts with a question mark unless it is
// empty.
func (f filters) queryWith(name, value string) string {
	q := url.Values{
		"folder": {f.Folder}, "kind": {f.Kind}, "query": {f.Query}, "alt": {f.Alt}, "use": {f.Use}, "sort": {f.Sort},
	}
	q.Set(name, value)
	maps.DeleteFunc(q, func(_ string, values []string) bool { return values[0] == "" })
	if len(q) == 0 {
		return ""
	}
	return "?" + q.Encode()
}

// Any reports whether the page is filtered within its folder.
func (f filters) Any() bool { return f.Kind+f.Query+f.Alt+f.Use != "" }

// filter converts the filters to a gallery.Filter. It returns an error if a value is invalid.
func (f filters) filter() (gallery.Filter, error) {
	out := gallery.Filter{
		Kind: f.Kind, Text: f.Query, WithoutAltText: f.Alt == "missing", Unused: f.Use == "none", Order: gallery.Order(f.Sort),
	}
	allowed := func(argument, value string, values ...string) error {
		if value != "" && !slices.Contains(values, value) {
			return apierr.Invalid(apierr.NotAllowedValue, argument, "The address of this page is invalid.")
		}
		return nil
	}
	for _, err := range []error{
		allowed("kind", f.Kind, media.Image, media.Video), allowed("alt", f.Alt, "missing"),
		allowed("use", f.Use, "none"),
		allowed("sort", f.Sort, string(gallery.Oldest), string(gallery.ByName)),
	} {
		if err != nil {
			return out, err
		}
	}
	if utf8.RuneCountInString(f.Query) > maxQuery {
		return out, apierr.Invalid(apierr.TooLong, "query", "Enter at most 200 characters.")
	}
	if f.Folder != "" {
		id, err := strconv.ParseInt(f.Folder, 10, 64)
		if err != nil || id < 0 {
			return out, apierr.Invalid(apierr.NotAllowedValue, "folder_id", "The address of this page is invalid.")
		}
		out.Folder = &id
	}
	return out, nil
}

// gridView is a page of the library.
type gridView struct {
	filters

	Items      []gallery.Item
	Count      int // number of matching items
	Missing    int // number of images without alt text
	Folders    []gallery.Folder
	FolderName string // name of the selected folder; empty if there is none
	Storage    media.MediaListStorage
	CanWrite   bool
	Results    []result
	Back       string // the query of the page's address
	Pager      pager
}

// pager holds the paths of other pages; "" if there is none.
type pager struct{ First, Next string }

// Is reports whether a folder is selected.
func (v gridView) Is(folder int64) bool { return strconv.FormatInt(folder, 10) == v.Folder }

// Share returns the percentage of the plan's storage that is used, or -1 if the storage is unlimited.
func (v gridView) Share() int64 {
	if v.Storage.LimitBytes <= 0 {
		return -1
	}
	return min(100, v.Storage.UsedBytes*100/v.Storage.LimitBytes)
}

// choice is a link that selects or removes a filter, or selects a sort order.
type choice struct {
	Text       locale.Key
	Icon, Path string
	Count      int // 0 is not shown
	Current    bool
}

// Chips returns the filters that are shown as links.
func (v gridView) Chips() []choice {
	toggle := func(text locale.Key, icon, name, current, value string, count int) choice {
		c := choice{text, icon, v.pathWith(name, value), count, current == value}
		if c.Current {
			c.Path = v.pathWith(name, "")
		}
		return c
	}
	out := []choice{
		toggle("Images", "image-line", "kind", v.Kind, media.Image, 0),
		toggle("Videos", "film-line", "kind", v.Kind, media.Video, 0),
		toggle("Missing alt text", "", "alt", v.Alt, "missing", v.Missing),
		toggle("Not used", "", "use", v.Use, "none", 0),
	}
	if v.FolderName == "" && len(v.Folders) > 0 {
		out = append(out, toggle("Not in a folder", "", "folder", v.Folder, "0", 0))
	}
	return out
}

// Orders returns the sort orders, starting with the current one.
func (v gridView) Orders() []choice {
	out := []choice{}
	for _, o := range []option{{"", "Newest first"}, {"oldest", "Oldest first"}, {"name", "By name"}} {
		c := choice{Text: o.Text, Path: v.pathWith("sort", o.Value), Current: o.Value == v.Sort}
		if c.Current {
			out = slices.Insert(out, 0, c)
		} else {
			out = append(out, c)
		}
	}
	return out
}

// Tiles returns the folders that are shown as tiles. A filtered library does not show tiles.
func (v gridView) Tiles() []gallery.Folder {
	if v.Folder != "" || v.Any() || v.Pager.First != "" {
		return nil
	}
	return v.Folders
}

// First returns the folders that are shown before the list is expanded.
func (v gridView) First() []gallery.Folder { return v.Tiles()[:min(len(v.Tiles()), folderTiles)] }

// Rest returns the folders that are shown after expanding the list.
func (v gridView) Rest() []gallery.Folder { return v.Tiles()[len(v.First()):] }

func (h *Handlers) grid(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	v := gridView{
		filters: filtersOf(q), CanWrite: shell.VisitorOf(r.Context()).Is(shell.Writers), Back: r.URL.RawQuery,
	}
	after := q.Get("after")
	if after != "" {
		v.Pager.First = v.Address()
	}
	if err := h.readPage(r, &v, after); err != nil {
		h.ShowError(w, r, err)
		return
	}
	v.Results = h.popResults(r)
	h.Show(w, r, http.StatusOK, pages["grid"], "Media", v)
}

// readPage reads the page that starts after a cursor.
func (h *Handlers) readPage(r *http.Request, v *gridView, cursor string) error {
	call, err := h.NewCall(r, "list_media")
	if err != nil {
		return err
	}
	f, err := v.filter()
	if err != nil {
		return err
	}
	ctx, team := r.Context(), call.TeamID
	if v.Folders, err = gallery.Folders(ctx, h.DB, team); err != nil {
		return err
	}
	if f.Folder != nil && *f.Folder != 0 {
		i := slices.IndexFunc(v.Folders, func(g gallery.Folder) bool { return g.ID == *f.Folder })
		if i < 0 {
			return apierr.New(apierr.FolderNotFound, "Folder not found in the media library.")
		}
		v.FolderName = v.Folders[i].Name
	}
	var next string
	if v.Items, next, err = gallery.List(ctx, h.DB, team, f, cursor, perPage); err != nil {
		return err
	}
	if next != "" {
		v.Pager.Next = v.pathWith("after", next)
	}
	v.Count = len(v.Items)
	if cursor != "" || next != "" {
		if v.Count, err = gallery.Count(ctx, h.DB, team, f); err != nil {
			return err
		}
	}
	if v.Missing, err = gallery.Count(ctx, h.DB, team, gallery.Filter{WithoutAltText: true}); err != nil {
		return err
	}
	v.Storage, err = h.storage(r, call)
	return err
}

func (h *Handlers) storage(r *http.Request, call operation.Call) (media.MediaListStorage, error) {
	plan, _ := h.media.Catalog.Plan(call.Plan)
	used, err := h.media.UsedBytes(r.Context(), call.TeamID)
	return media.MediaListStorage{UsedBytes: used, LimitBytes: plan.StorageBytes}, err
}

// folders returns the team's folders.
func (h *Handlers) folders(r *http.Request) ([]media.MediaFolder, error) {
	outcome, err := h.Do(r, "list_media", operation.Arguments{"limit": int64(1)})
	if err != nil {
		return nil, err
	}
	found, err := shell.Result[media.MediaList](outcome)
	return found.Folders, err
}
