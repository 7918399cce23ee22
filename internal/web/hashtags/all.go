package hashtags

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/domain/hashtag/list"
	"pressroom.example/pressroom/internal/web/shell"
)

// allView is a page of hashtag lists.
type allView struct {
	Own, Ready      []list.HashtagListEntry
	Foreign         []list.HashtagListEntry // ready-made lists in other languages than the team's
	Scope, Platform string
	Filtered        bool
	Writes          bool
	Pager           pager
}

// pager holds paths of other pages, empty if there is none.
type pager struct{ First, Next string }

func (p *Handlers) all(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	v := allView{
		Scope: q.Get("scope"), Platform: q.Get("platform"), Writes: shell.VisitorOf(r.Context()).Is(shell.Writers),
	}
	args := operation.Arguments{"limit": int64(50)}
	keep := url.Values{}
	for name, value := range map[string]string{"scope": v.Scope, "platform": v.Platform} {
		if value != "" {
			args[name], v.Filtered = value, true
			keep.Set(name, value)
		}
	}
	if cursor := q.Get("cursor"); cursor != "" {
		args["cursor"], v.Pager.First = cursor, "/hashtags?"+keep.Encode()
	}
	outcome, err := p.Do(r, "list_hashtag_lists", args)
	if err != nil {
		p.ShowError(w, r, err)
		return
	}
	found, err := shell.Result[list.HashtagLists](outcome)
	if err != nil {
		p.ServerError(w, r, err)
		return
	}
	call, err := p.Call(r, "hashtag_lists")
	if err != nil {
		p.ShowError(w, r, err)
		return
	}
	p.group(&v, found.HashtagLists, call.Language)
	if outcome.Page != nil {
		keep.Set("cursor", outcome.Page.Cursor)
		v.Pager.Next = "/hashtags?" + keep.Encode()
	}
	p.Show(w, r, http.StatusOK, pages["all"], "Hashtags", v)
}

// group sorts lists into the team's, the ready-made ones in its language, and other ready-made ones.
func (p *Handlers) group(v *allView, found []list.HashtagListEntry, language string) {
	base := func(tag string) string {
		first, _, _ := strings.Cut(strings.ToLower(tag), "-")
		return first
	}
	for _, e := range found {
		switch {
		case !e.ReadyMade:
			v.Own = append(v.Own, e)
		case base(p.lists.ReadyMadeLanguage(e.ID)) == base(language):
			v.Ready = append(v.Ready, e)
		default:
			v.Foreign = append(v.Foreign, e)
		}
	}
	byName := func(a, b list.HashtagListEntry) int { return strings.Compare(a.Name, b.Name) }
	slices.SortStableFunc(v.Ready, byName)
	slices.SortStableFunc(v.Foreign, byName)
}

// None reports whether there is nothing to show.
func (v allView) None() bool { return len(v.Own)+len(v.Ready)+len(v.Foreign) == 0 }

// Start reports whether the team seems to have no own list: this is the first page, without filters.
func (v allView) Start() bool {
	return len(v.Own) == 0 && v.Pager.First == "" && v.Platform == "" && v.Scope != "system"
}
