package hashtags

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/domain/hashtag/list"
	"pressroom.example/pressroom/internal/web/shell"
)

// perPage is the number of hashtags per page.
const perPage = 100

// view is the page of a list or of one of its subcategories.
type view struct {
	list.HashtagListEntry

	Shown    []list.ListedHashtag
	Groups   []string
	Group    string // selected subcategory; empty for all
	Matches  int    // number of hashtags in the subcategory
	Sort     string
	Page     int // from 1
	CanWrite bool
	Pager    pager
	Fields   url.Values
	Error    shell.FormError

	Removed, RemovedFrom string // the hashtag that was just removed, and its subcategory
}

// Value returns the value of a field.
func (v *view) Value(name string) string { return v.Fields.Get(name) }

// CanAdd reports whether the visitor may add hashtags to the list.
func (v *view) CanAdd() bool { return v.CanWrite && !v.ReadyMade }

// IsUnmeasured reports whether the list is ready-made and none of the visible hashtags has metrics.
func (v *view) IsUnmeasured() bool {
	return v.ReadyMade && !slices.ContainsFunc(v.Shown, func(h list.ListedHashtag) bool {
		return h.Posts != nil || h.PostsPerDay != nil || h.Score != nil
	})
}

// subcategory is a subcategory with its visible hashtags.
type subcategory struct {
	Name     string
	Hashtags []string
}

// BySubcategory returns the visible hashtags, grouped by subcategory in order of first appearance.
func (v *view) BySubcategory() []subcategory {
	var out []subcategory
	for _, h := range v.Shown {
		i := slices.IndexFunc(out, func(c subcategory) bool { return c.Name == h.Subcategory })
		if i < 0 {
			i, out = len(out), append(out, subcategory{Name: h.Subcategory})
		}
		out[i].Hashtags = append(out[i].Hashtags, h.Hashtag)
	}
	return out
}

// SortPath returns the path of the list in the given sort order.
func (v *view) SortPath(sort string) string { return v.pathFor(sort, v.Group, 1) }

// AriaSort returns the aria-sort value of a column, or "".
func (v *view) AriaSort(sort string) string {
	switch {
	case v.Sort != sort:
		return ""
	case sort == "name":
		return "ascending"
	}
	return "descending"
}

func (v *view) pathFor(sort, group string, page int) string {
	q := url.Values{}
	for name, value := range map[string]string{"sort": sort, "group": group} {
		if value != "" {
			q.Set(name, value)
		}
	}
	if page > 1 {
		q.Set("page", strconv.Itoa(page))
	}
	if len(q) == 0 {
		return pathOf(v.ID)
	}
	return pathOf(v.ID) + "?" + q.Encode()
}

// orders maps the numeric sort orders to comparison functions. Unknown values come last.
var orders = map[string]func(a, b list.ListedHashtag) int{
	"posts": func(a, b list.ListedHashtag) int {
		count := func(h list.ListedHashtag) float64 {
			if h.Posts == nil {
				return -1
			}
			return float64(h.Posts.Count)
		}
		return cmp.Compare(count(b), count(a))
	},
	"day": func(a, b list.ListedHashtag) int {
		return cmp.Compare(sortKey(b.PostsPerDay), sortKey(a.PostsPerDay))
	},
	"score": func(a, b list.ListedHashtag) int { return cmp.Compare(sortKey(b.Score), sortKey(a.Score)) },
}

// sortKey returns *n, or -1 if n is nil, so that unknown values come last.
func sortKey(n *float64) float64 {
	if n == nil {
		return -1
	}
	return *n
}

func (h *Handlers) page(w http.ResponseWriter, r *http.Request) {
	id, err := shell.PathID(r, "id")
	if err != nil {
		h.ShowError(w, r, err)
		return
	}
	h.show(w, r, id, http.StatusOK, h.SavedForm(r), shell.FormError{})
}

func (h *Handlers) show(
	w http.ResponseWriter, r *http.Request, id int64, status int, fields url.Values, formErr shell.FormError,
) {
	q := r.URL.Query()
	v := &view{
		Group: q.Get("group"), Sort: q.Get("sort"), CanWrite: shell.VisitorOf(r.Context()).Is(shell.Writers),
		Fields: fields, Error: formErr, Removed: q.Get("removed"), RemovedFrom: q.Get("from"),
	}
	v.Page, _ = strconv.Atoi(q.Get("page")) // an invalid number selects the first page
	if err := h.readPage(r, id, v); err != nil {
		h.switchTeam(w, r, err, id)
		return
	}
	h.ShowTitled(w, r, status, pages["list"], v.Name, v)
}

// readPage reads the requested page of the list. To sort by a number, it reads the whole list.
func (h *Handlers) readPage(r *http.Request, id int64, v *view) error {
	var l list.HashtagList
	var err error
	if order := orders[v.Sort]; order != nil {
		if l, err = h.readList(r, id); err != nil {
			return err
		}
		slices.SortStableFunc(l.Hashtags, order)
		l.Hashtags = v.pageOf(l.Hashtags)
	} else {
		var call operation.Call
		if call, err = h.NewCall(r, "hashtag_lists"); err == nil {
			l, err = h.lists.Select(r.Context(), call.TeamID, id, v.paginate)
		}
	}
	v.HashtagListEntry, v.Shown = l.HashtagListEntry, l.Hashtags
	v.setPager()
	return err
}

// pageOf returns the current page of a sorted list.
func (v *view) pageOf(hashtags []list.ListedHashtag) []list.ListedHashtag {
	items, byName := make([]list.Item, len(hashtags)), map[string]list.ListedHashtag{}
	for i, h := range hashtags {
		items[i], byName[h.Hashtag] = list.Item{Hashtag: h.Hashtag, Subcategory: h.Subcategory}, h
	}
	shown := []list.ListedHashtag{}
	for _, i := range v.paginate(items) {
		shown = append(shown, byName[i.Hashtag])
	}
	return shown
}

// paginate sorts and filters a list, returns the current page, and sets Groups, Matches and Page.
func (v *view) paginate(items []list.Item) []list.Item {
	groups := map[string]bool{"": true}
	for _, i := range items {
		if !groups[i.Subcategory] {
			groups[i.Subcategory], v.Groups = true, append(v.Groups, i.Subcategory)
		}
	}
	if v.Group != "" {
		items = slices.DeleteFunc(items, func(i list.Item) bool { return i.Subcategory != v.Group })
	}
	switch {
	case v.Sort == "name":
		slices.SortFunc(items, func(a, b list.Item) int { return cmp.Compare(a.Hashtag, b.Hashtag) })
	case orders[v.Sort] == nil:
		v.Sort = ""
	}
	v.Matches = len(items)
	v.Page = min(max(v.Page, 1), v.lastPage())
	return items[(v.Page-1)*perPage : min(len(items), v.Page*perPage)]
}

// lastPage returns the number of the last page.
func (v *view) lastPage() int { return max(1, (v.Matches+perPage-1)/perPage) }

// setPager sets the paths of the other pages.
func (v *view) setPager() {
	if v.Page > 1 {
		v.Pager.First = v.pathFor(v.Sort, v.Group, 1)
	}
	if v.Page < v.lastPage() {
		v.Pager.Next = v.pathFor(v.Sort, v.Group, v.Page+1)
	}
}

func (h *Handlers) add(w http.ResponseWriter, req listRequest) {
	if !h.ReadLongForm(w, req.Request, maxForm) {
		return
	}
	args := operation.Arguments{"list_id": req.list, "hashtags": parseHashtags(req.PostForm.Get("hashtags"))}
	if s := req.PostForm.Get("subcategory"); s != "" {
		args["subcategory"] = s
	}
	c, err := h.changeList(req.Request, "add_hashtags", args)
	if err != nil {
		if formErr, ok := h.FormErrorOf(w, req.Request, err, fieldNames); ok {
			h.show(w, req.Request, req.list, shell.StatusOf(err), req.PostForm, formErr)
		}
		return
	}
	h.FlashText(req.Request, changeText(h.Language(req.Request), c))
	shell.Redirect(w, req.Request, pathOf(req.list))
}

func (h *Handlers) remove(w http.ResponseWriter, req listRequest) {
	if !h.ReadForm(w, req.Request) {
		return
	}
	hashtag := req.PostForm.Get("hashtag")
	if err := h.lists.Remove(req.Context(), req.call.TeamID, req.actor(), req.list, hashtag); err != nil {
		h.ShowError(w, req.Request, err)
		return
	}
	next, err := url.Parse(shell.LocalPath(req.PostForm.Get("next")))
	if err != nil {
		next = &url.URL{Path: pathOf(req.list)}
	}
	q := next.Query()
	q.Set("removed", hashtag)
	if subcategory := req.URL.Query().Get("subcategory"); subcategory != "" {
		q.Set("from", subcategory)
	}
	next.RawQuery = q.Encode()
	shell.Redirect(w, req.Request, next.String())
}

// Path returns the path of the current page.
func (v *view) Path() string { return v.pathFor(v.Sort, v.Group, v.Page) }

// copyList copies a list to the team's own lists.
func (h *Handlers) copyList(w http.ResponseWriter, req listRequest) {
	if !h.ReadForm(w, req.Request) {
		return
	}
	l, err := h.readList(req.Request, req.list)
	if err != nil {
		h.ShowError(w, req.Request, err)
		return
	}
	args := operation.Arguments{"name": l.Name}
	for name, value := range map[string]string{"platform": l.Platform, "color": l.Color, "icon": l.Icon} {
		if value != "" {
			args[name] = value
		}
	}
	duplicate, err := h.changeList(req.Request, "create_hashtag_list", args)
	if err == nil {
		duplicate, err = h.lists.CopyHashtags(req.Context(), req.call, req.list, duplicate.ID)
	}
	if err != nil {
		if formErr, ok := h.FormErrorOf(w, req.Request, err, fieldNames); ok {
			h.show(w, req.Request, req.list, shell.StatusOf(err), nil, formErr)
		}
		return
	}
	lang := h.Language(req.Request)
	h.FlashText(req.Request, lang.T("This is your copy of the list.")+" "+changeText(lang, duplicate))
	shell.Redirect(w, req.Request, pathOf(duplicate.ID))
}
