package hashtags

import (
	"context"
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
	Own, Ready             []card
	OtherLanguage          []card // ready-made lists that are not in the team's language
	Scope, Platform, Query string
	CanWrite               bool
	Pager                  pager
}

// card is a list with some of its hashtags.
type card struct {
	list.HashtagListEntry

	Matches []string // hashtags that match the search
	Samples []string // further hashtags
}

// cardOf returns a list with up to maxSamples of its hashtags. Hashtags that match the query come first.
func cardOf(e list.HashtagListEntry, hashtags []string, query string) card {
	out := card{HashtagListEntry: e}
	for _, h := range hashtags {
		if query != "" && len(out.Matches) < maxSamples && strings.Contains(strings.ToLower(h), strings.ToLower(query)) {
			out.Matches = append(out.Matches, h)
		} else if len(out.Samples) < maxSamples {
			out.Samples = append(out.Samples, h)
		}
	}
	out.Samples = out.Samples[:min(len(out.Samples), maxSamples-len(out.Matches))]
	return out
}

// pager holds the paths of other pages; "" if there is none.
type pager struct{ First, Next string }

const (
	maxSamples  = 4    // maximum number of a list's hashtags on its card
	maxSearched = 2000 // maximum number of a list's hashtags that are searched for matches to show
	maxMatches  = 100  // maximum number of lists of each kind that a search shows
)

func (h *Handlers) listPage(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	v := allView{
		Scope: q.Get("scope"), Platform: q.Get("platform"), Query: strings.TrimSpace(q.Get("q")),
		CanWrite: shell.VisitorOf(r.Context()).Is(shell.Writers),
	}
	lists, err := h.listsOf(r, &v)
	if err != nil {
		h.ShowError(w, r, err)
		return
	}
	call, err := h.NewCall(r, "hashtag_lists")
	if err == nil && v.Query != "" {
		in := list.ListInput{Scope: v.Scope, Platform: v.Platform}
		lists, err = h.lists.Search(r.Context(), call.TeamID, in, v.Query, maxMatches)
		v.Pager = pager{}
	}
	if err == nil {
		err = h.groupLists(r.Context(), &v, lists, call)
	}
	if err != nil {
		h.ShowError(w, r, err)
		return
	}
	h.Show(w, r, http.StatusOK, pages["all"], "Hashtags", v)
}

// listsOf returns a page of lists that match the filters, and sets the pager. It returns an error if a filter is
// invalid.
func (h *Handlers) listsOf(r *http.Request, v *allView) ([]list.HashtagListEntry, error) {
	args := operation.Arguments{"limit": int64(50)}
	query := url.Values{}
	for name, value := range map[string]string{"scope": v.Scope, "platform": v.Platform} {
		if value != "" {
			args[name] = value
			query.Set(name, value)
		}
	}
	if cursor := r.URL.Query().Get("cursor"); cursor != "" {
		args["cursor"], v.Pager.First = cursor, "/hashtags?"+query.Encode()
	}
	outcome, err := h.Do(r, "list_hashtag_lists", args)
	if err != nil {
		return nil, err
	}
	result, err := shell.Result[list.HashtagLists](outcome)
	if outcome.Page != nil {
		query.Set("cursor", outcome.Page.Cursor)
		v.Pager.Next = "/hashtags?" + query.Encode()
	}
	return result.HashtagLists, err
}

// groupLists sorts lists into the team's lists, ready-made lists in the team's language, and other ready-made lists.
func (h *Handlers) groupLists(ctx context.Context, v *allView, lists []list.HashtagListEntry, call operation.Call) error {
	limit := maxSamples
	if v.Query != "" {
		limit = maxSearched
	}
	samples, err := h.lists.Samples(ctx, call.TeamID, lists, limit)
	if err != nil {
		return err
	}
	for _, e := range lists {
		c := cardOf(e, samples[e.ID], strings.TrimPrefix(v.Query, "#"))
		switch {
		case !e.ReadyMade:
			v.Own = append(v.Own, c)
		case h.lists.IsReadyMadeIn(e.ID, call.Language):
			v.Ready = append(v.Ready, c)
		default:
			v.OtherLanguage = append(v.OtherLanguage, c)
		}
	}
	byName := func(a, b card) int { return strings.Compare(a.Name, b.Name) }
	slices.SortStableFunc(v.Ready, byName)
	slices.SortStableFunc(v.OtherLanguage, byName)
	return nil
}

// None reports whether there are no lists to show.
func (v allView) None() bool { return len(v.Own)+len(v.Ready)+len(v.OtherLanguage) == 0 }

// Start reports whether the page shows that the team has no lists of its own: there are none on it, it is the first
// page, and it does not filter them out.
func (v allView) Start() bool {
	return len(v.Own) == 0 && v.Pager.First == "" && v.Query == "" && v.Platform == "" && v.Scope != "system"
}
