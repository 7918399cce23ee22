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

// perPage is how many hashtags a page shows.
const perPage = 100

// view is the page of a list or of one of its subcategories.
type view struct {
	list.HashtagListEntry

	Shown   []list.ListedHashtag
	Groups  []string
	Group   string // selected subcategory; empty for all
	Matches int    // hashtags in the subcategory
	Sort    string
	Page    int // from 1
	Writes  bool
	Pager   pager
	Fields  url.Values
	Wrong   shell.FormError
}

// Of returns the value of a field.
func (v *view) Of(name string) string { return v.Fields.Get(name) }

// Adds reports whether the visitor may add hashtags to the list.
func (v *view) Adds() bool { return v.Writes && !v.ReadyMade }

// IsUnmeasured reports whether the hashtags shown are of a ready-made list, and none of them has a metric.
func (v *view) IsUnmeasured() bool {
	return v.ReadyMade && !slices.ContainsFunc(v.Shown, func(h list.ListedHashtag) bool {
		return h.Posts != nil || h.PostsPerDay != nil || h.Score != nil
	})
}

// chapter is the hashtags of a subcategory.
type chapter struct {
	Name     string
	Hashtags []string
}

// Chapters returns the hashtags shown by subcategory, in the order in which subcategories first appear.
func (v *view) Chapters() []chapter {
	var out []chapter
	for _, h := range v.Shown {
		i := slices.IndexFunc(out, func(c chapter) bool { return c.Name == h.Subcategory })
		if i < 0 {
			i, out = len(out), append(out, chapter{Name: h.Subcategory})
		}
		out[i].Hashtags = append(out[i].Hashtags, h.Hashtag)
	}
	return out
}

// By returns the path of the list in another order.
func (v *view) By(sort string) string { return v.at(sort, v.Group, 1) }

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

func (v *view) at(sort, group string, page int) string {
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

// orders are the numeric sort orders. Unknown values come last.
var orders = map[string]func(a, b list.ListedHashtag) int{
	"posts": func(a, b list.ListedHashtag) int {
		known := func(h list.ListedHashtag) float64 {
			if h.Posts == nil {
				return -1
			}
			return float64(h.Posts.Count)
		}
		return cmp.Compare(known(b), known(a))
	},
	"day": func(a, b list.ListedHashtag) int {
		return cmp.Compare(figureOf(b.PostsPerDay), figureOf(a.PostsPerDay))
	},
	"score": func(a, b list.ListedHashtag) int { return cmp.Compare(figureOf(b.Score), figureOf(a.Score)) },
}

// figureOf returns a sort key. Unknown values sort below all others.
func figureOf(n *float64) float64 {
	if n == nil {
		return -1
	}
	return *n
}

func (p *Handlers) page(w http.ResponseWriter, r *http.Request) {
	id, err := shell.PathID(r, "id")
	if err != nil {
		p.ShowError(w, r, err)
		return
	}
	p.show(w, r, id, http.StatusOK, p.SavedForm(r), shell.FormError{})
}

func (p *Handlers) show(
	w http.ResponseWriter, r *http.Request, id int64, status int, fields url.Values, wrong shell.FormError,
) {
	q := r.URL.Query()
	v := &view{
		Group: q.Get("group"), Sort: q.Get("sort"), Writes: shell.VisitorOf(r.Context()).Is(shell.Writers),
		Fields: fields, Wrong: wrong,
	}
	v.Page, _ = strconv.Atoi(q.Get("page")) // an invalid number is the first page
	if err := p.fill(r, id, v); err != nil {
		p.elsewhere(w, r, err, id)
		return
	}
	p.ShowTitled(w, r, status, pages["list"], v.Name, v)
}

// fill reads the requested page. Sorting by a number requires the whole list.
func (p *Handlers) fill(r *http.Request, id int64, v *view) error {
	var l list.HashtagList
	var err error
	if order := orders[v.Sort]; order != nil {
		if l, err = p.fullList(r, id); err != nil {
			return err
		}
		slices.SortStableFunc(l.Hashtags, order)
		l.Hashtags = v.among(l.Hashtags)
	} else {
		var call operation.Call
		if call, err = p.Call(r, "hashtag_lists"); err == nil {
			l, err = p.lists.Select(r.Context(), call.TeamID, id, v.arrange)
		}
	}
	v.HashtagListEntry, v.Shown = l.HashtagListEntry, l.Hashtags
	v.lead()
	return err
}

// among returns the page's hashtags of a sorted list.
func (v *view) among(all []list.ListedHashtag) []list.ListedHashtag {
	items, of := make([]list.Item, len(all)), map[string]list.ListedHashtag{}
	for i, h := range all {
		items[i], of[h.Hashtag] = list.Item{Hashtag: h.Hashtag, Subcategory: h.Subcategory}, h
	}
	shown := []list.ListedHashtag{}
	for _, i := range v.arrange(items) {
		shown = append(shown, of[i.Hashtag])
	}
	return shown
}

// arrange returns the page's hashtags of a list, and sets the subcategories.
func (v *view) arrange(all []list.Item) []list.Item {
	groups := map[string]bool{"": true}
	for _, i := range all {
		if !groups[i.Subcategory] {
			groups[i.Subcategory], v.Groups = true, append(v.Groups, i.Subcategory)
		}
	}
	if v.Group != "" {
		all = slices.DeleteFunc(all, func(i list.Item) bool { return i.Subcategory != v.Group })
	}
	switch {
	case v.Sort == "name":
		slices.SortFunc(all, func(a, b list.Item) int { return cmp.Compare(a.Hashtag, b.Hashtag) })
	case orders[v.Sort] == nil:
		v.Sort = ""
	}
	v.Matches = len(all)
	v.Page = min(max(v.Page, 1), v.last())
	return all[(v.Page-1)*perPage : min(len(all), v.Page*perPage)]
}

// last returns the number of the last page.
func (v *view) last() int { return max(1, (v.Matches+perPage-1)/perPage) }

// lead sets the paths of the other pages.
func (v *view) lead() {
	if v.Page > 1 {
		v.Pager.First = v.at(v.Sort, v.Group, 1)
	}
	if v.Page < v.last() {
		v.Pager.Next = v.at(v.Sort, v.Group, v.Page+1)
	}
}

func (p *Handlers) add(w http.ResponseWriter, a asked) {
	if !p.ReadLongForm(w, a.Request, maxForm) {
		return
	}
	args := operation.Arguments{"list_id": a.list, "hashtags": tagsIn(a.PostForm.Get("hashtags"))}
	if s := a.PostForm.Get("subcategory"); s != "" {
		args["subcategory"] = s
	}
	c, err := p.changeList(a.Request, "add_hashtags", args)
	if err != nil {
		if wrong, ok := p.FormErrorOf(w, a.Request, err, fieldNames); ok {
			p.show(w, a.Request, a.list, shell.StatusOf(err), a.PostForm, wrong)
		}
		return
	}
	p.FlashText(a.Request, changeText(p.Language(a.Request), c))
	shell.Redirect(w, a.Request, pathOf(a.list))
}

func (p *Handlers) remove(w http.ResponseWriter, a asked) {
	if !p.ReadForm(w, a.Request) {
		return
	}
	hashtag := a.PostForm.Get("hashtag")
	if err := p.lists.Remove(a.Context(), a.call.TeamID, a.by(), a.list, hashtag); err != nil {
		p.ShowError(w, a.Request, err)
		return
	}
	p.Flash(a.Request, "#%s was removed.", hashtag)
	shell.Redirect(w, a.Request, shell.LocalPath(a.PostForm.Get("next")))
}

// Here returns the path of the current page.
func (v *view) Here() string { return v.at(v.Sort, v.Group, v.Page) }

// copyList copies a list to the team's own lists.
func (p *Handlers) copyList(w http.ResponseWriter, a asked) {
	if !p.ReadForm(w, a.Request) {
		return
	}
	l, err := p.fullList(a.Request, a.list)
	if err != nil {
		p.ShowError(w, a.Request, err)
		return
	}
	args := operation.Arguments{"name": l.Name}
	for name, value := range map[string]string{"platform": l.Platform, "color": l.Color, "icon": l.Icon} {
		if value != "" {
			args[name] = value
		}
	}
	made, err := p.changeList(a.Request, "create_hashtag_list", args)
	if err == nil {
		made, err = p.lists.CopyHashtags(a.Context(), a.call, a.list, made.ID)
	}
	if err != nil {
		if wrong, ok := p.FormErrorOf(w, a.Request, err, fieldNames); ok {
			p.show(w, a.Request, a.list, shell.StatusOf(err), nil, wrong)
		}
		return
	}
	in := p.Language(a.Request)
	p.FlashText(a.Request, in.T("This is your copy of the list.")+" "+changeText(in, made))
	shell.Redirect(w, a.Request, pathOf(made.ID))
}
