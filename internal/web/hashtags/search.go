package hashtags

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/domain/hashtag/list"
	"pressroom.example/pressroom/internal/domain/hashtag/search"
	"pressroom.example/pressroom/internal/domain/job"
	"pressroom.example/pressroom/internal/domain/report/hashtaganalysis"
	"pressroom.example/pressroom/internal/web/shell"
)

type (
	// searchView is the page with the search form.
	searchView struct {
		Price  int64
		Spends bool
		Recent []search.RecentQuery
		Fields url.Values
		Error  shell.FormError
	}
	// resultsView is the page of a search and its results.
	resultsView struct {
		job.Job

		SearchQuery search.Query
		Result      search.SearchResult
		Notes       []string
		Lists       []list.HashtagListEntry // the team's own lists
		CanWrite    bool
		Pager       pager
		Fields      url.Values
		Error       shell.FormError
	}
)

const maxRecent = 8 // maximum number of recent searches next to the form

// example is an example hashtag on the search page of a team without searches.
type example struct {
	Hashtag, Tier      string
	Posts              *hashtaganalysis.TagPosts
	PostsPerDay, Score *float64
}

// Examples returns hashtags that a search for "latte art" might find.
func (searchView) Examples() []example {
	newExample := func(tag, tier string, posts int64, perDay, score float64) example {
		return example{tag, tier, &hashtaganalysis.TagPosts{Count: posts, Basis: "estimated"}, &perDay, &score}
	}
	return []example{
		newExample("latteart", "huge", 12_400_000, 2936, 49.9), newExample("latteartlove", "medium", 310_000, 74, 66.8),
		newExample("pourover", "medium", 294_000, 93, 62), newExample("flatwhite", "small", 96_000, 41, 65.6),
	}
}

// Value returns the value of a field.
func (v searchView) Value(name string) string { return v.Fields.Get(name) }

// Value returns the value of a field.
func (v resultsView) Value(name string) string { return v.Fields.Get(name) }

// Found reports whether there are hashtags to add to a list.
func (v resultsView) Found() bool {
	return len(v.Result.Hashtags)+len(v.Result.Incomplete)+len(v.Result.Related) > 0
}

// Number returns an ID as a form value.
func (resultsView) Number(id int64) string { return strconv.FormatInt(id, 10) }

// searchPage shows the search form or, if the query has a job ID, the search of that job.
func (h *Handlers) searchPage(w http.ResponseWriter, r *http.Request) {
	if id := r.URL.Query().Get("job"); id != "" {
		h.showResults(w, r, id, http.StatusOK, nil, shell.FormError{})
		return
	}
	h.showSearch(w, r, http.StatusOK, url.Values{}, shell.FormError{})
}

func (h *Handlers) showSearch(w http.ResponseWriter, r *http.Request, status int, fields url.Values,
	formErr shell.FormError) {
	visitor := shell.VisitorOf(r.Context())
	recent, err := search.RecentQueries(r.Context(), h.DB, visitor.Team.ID, maxRecent)
	if err != nil {
		h.ServerError(w, r, err)
		return
	}
	h.Show(w, r, status, pages["search"], "Search hashtags",
		searchView{h.lists.Catalog.Prices.HashtagSearch, visitor.Is(shell.Spenders), recent, fields, formErr})
}

func (h *Handlers) search(w http.ResponseWriter, r *http.Request) {
	if !h.ReadForm(w, r) {
		return
	}
	outcome, err := h.Do(r, "search_hashtags",
		operation.Arguments{"query": r.PostForm.Get("query"), "platform": r.PostForm.Get("platform")})
	if err != nil {
		if formErr, ok := h.FormErrorOf(w, r, err, fieldNames); ok {
			h.showSearch(w, r, shell.StatusOf(err), r.PostForm, formErr)
		}
		return
	}
	started, err := shell.Result[job.Job](outcome)
	if err != nil {
		h.ServerError(w, r, err)
		return
	}
	if len(outcome.Notes) > 0 {
		h.FlashText(r, strings.Join(shell.TranslateNotes(h.Language(r), outcome.Notes), " "))
	}
	shell.Redirect(w, r, resultsPath(started.JobID, ""))
}

// resultsPath returns the path of the page of a search.
func resultsPath(id, cursor string) string {
	q := url.Values{"job": {id}}
	if cursor != "" {
		q.Set("cursor", cursor)
	}
	return "/hashtags/search?" + q.Encode()
}

func (h *Handlers) showResults(
	w http.ResponseWriter, r *http.Request, id string, status int, fields url.Values, formErr shell.FormError,
) {
	v, err := h.readSearch(r, id)
	if err != nil {
		h.SwitchToTeamOf(w, r, err, func(ctx context.Context, teams []int64) (int64, error) {
			if !strings.HasPrefix(id, string(job.HashtagSearch)+":") || !utf8.ValidString(id) {
				return 0, apierr.ItemNotFound()
			}
			return h.jobs.FindTeam(ctx, id, teams)
		})
		return
	}
	if v.Finished && v.CanWrite {
		if v.Lists, err = h.ownLists(r); err != nil {
			h.ShowError(w, r, err)
			return
		}
	}
	v.Fields, v.Error = fields, formErr
	h.ShowTitled(w, r, status, pages["found"], h.T(r, "Hashtags for %s", v.SearchQuery.Words), v)
}

// readSearch returns the search with the given job ID, and its results. It returns a not_found error if the job is not
// a hashtag search.
func (h *Handlers) readSearch(r *http.Request, id string) (resultsView, error) {
	args := operation.Arguments{"job_id": id, "limit": int64(50)}
	v := resultsView{CanWrite: shell.VisitorOf(r.Context()).Is(shell.Writers)}
	if cursor := r.URL.Query().Get("cursor"); cursor != "" {
		args["cursor"], v.Pager.First = cursor, resultsPath(id, "")
	}
	outcome, err := h.Do(r, "get_job", args)
	if err != nil {
		if apierr.Is(err, apierr.ValidationFailed) {
			err = apierr.ItemNotFound()
		}
		return v, err
	}
	if v.Job, err = shell.Result[job.Job](outcome); err != nil {
		return v, err
	}
	if v.Type != job.HashtagSearch {
		return v, apierr.ItemNotFound()
	}
	if v.SearchQuery, err = search.ReadQuery(r.Context(), h.DB, shell.VisitorOf(r.Context()).Team.ID, id); err != nil {
		return v, err
	}
	// The page does not need IncompleteNote, because a heading says the same.
	notes := slices.DeleteFunc(slices.Clone(outcome.Notes), func(note string) bool { return note == search.IncompleteNote })
	v.Notes = shell.TranslateNotes(h.Language(r), notes)
	if result, ok := v.Job.Result.(search.SearchResult); ok {
		v.Result = result
	}
	if outcome.Page != nil {
		v.Pager.Next = resultsPath(id, outcome.Page.Cursor)
	}
	return v, nil
}

// ownLists returns the team's 50 newest lists.
func (h *Handlers) ownLists(r *http.Request) ([]list.HashtagListEntry, error) {
	outcome, err := h.Do(r, "list_hashtag_lists", operation.Arguments{"scope": "own", "limit": int64(50)})
	if err != nil {
		return nil, err
	}
	found, err := shell.Result[list.HashtagLists](outcome)
	return found.HashtagLists, err
}

var errNoneSelected = apierr.Invalid(apierr.MissingArgument, "hashtags", "Select the hashtags to add.")

var errNoName = apierr.Invalid(apierr.MissingArgument, "name", "Enter a name for the new list.")

// addResults handles the form that adds selected hashtags to a list, and redirects to the list.
func (h *Handlers) addResults(w http.ResponseWriter, r *http.Request) {
	if !h.ReadForm(w, r) {
		return
	}
	c, err := h.addSelected(r)
	if err != nil {
		if formErr, ok := h.FormErrorOf(w, r, err, fieldNames); ok {
			h.showResults(w, r, r.PostForm.Get("job"), shell.StatusOf(err), r.PostForm, formErr)
		}
		return
	}
	l := h.Language(r)
	message := changeText(l, c)
	if r.PostForm.Get("new") != "" {
		message = l.T("The list was created.") + " " + message
	}
	h.FlashText(r, message)
	shell.Redirect(w, r, pathOf(c.ID))
}

// addSelected adds the selected hashtags to the list in the form, or to a new list if the form requests one.
func (h *Handlers) addSelected(r *http.Request) (list.HashtagListChange, error) {
	selected := r.PostForm["hashtag"]
	if len(selected) == 0 {
		return list.HashtagListChange{}, errNoneSelected
	}
	tags := make([]any, len(selected))
	for i, t := range selected {
		tags[i] = t
	}
	if r.PostForm.Get("new") != "" {
		return h.createFromResults(r, r.PostForm.Get("name"), tags)
	}
	listID, err := strconv.ParseInt(r.PostForm.Get("list"), 10, 64)
	if err != nil {
		return list.HashtagListChange{}, apierr.ItemNotFound()
	}
	args := operation.Arguments{"list_id": listID, "hashtags": tags}
	if s := r.PostForm.Get("subcategory"); s != "" {
		args["subcategory"] = s
	}
	return h.changeList(r, "add_hashtags", args)
}

// createFromResults creates a list of found hashtags for the search's network.
func (h *Handlers) createFromResults(r *http.Request, name string, tags []any) (list.HashtagListChange, error) {
	if name == "" {
		return list.HashtagListChange{}, errNoName
	}
	query, err := search.ReadQuery(r.Context(), h.DB, shell.VisitorOf(r.Context()).Team.ID, r.PostForm.Get("job"))
	if err != nil {
		return list.HashtagListChange{}, err
	}
	return h.changeList(r, "create_hashtag_list",
		operation.Arguments{"name": name, "platform": query.Platform, "hashtags": tags})
}
