package posts

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/domain/account"
	"pressroom.example/pressroom/internal/domain/analytics"
	"pressroom.example/pressroom/internal/domain/post"
	"pressroom.example/pressroom/internal/domain/post/approval"
	"pressroom.example/pressroom/internal/domain/post/calendar"
	"pressroom.example/pressroom/internal/domain/post/postlist"
	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/teamtime"
	"pressroom.example/pressroom/internal/web/shell"
)

const (
	postsPerPage      = 30  // number of posts per page
	maxNamedAccounts  = 5   // maximum number of accounts named per post
	maxOverdueDrafts  = 3   // maximum number of overdue drafts shown above the list
	maxAccountFilters = 200 // approximate maximum number of accounts offered as filters
	maxSearch         = 200 // maximum length of a search text in characters
	accountsPage      = 50  // number of accounts read at once
)

// filters holds the selected tab and the filters of the list, as in the list's URL. The days From and To are inclusive.
type filters struct {
	Status, Account, From, To, Query string
	Sort                             string // order of published posts; "" for newest first
	Error                            shell.FormError
}

// filtersOf returns the filters in the query of a URL.
func filtersOf(q url.Values) filters {
	return filters{Status: q.Get("status"), Account: q.Get("account"), From: q.Get("from"), To: q.Get("to"),
		Query: strings.TrimSpace(q.Get("q")), Sort: q.Get("sort")}
}

// Unfiltered returns the path of the same tab without filters.
func (f filters) Unfiltered() string { return filters{Status: f.Status}.path() }

// any reports whether a filter other than the tab is set.
func (f filters) any() bool { return f.Account+f.From+f.To+f.Query != "" }

// query returns the filters as the query of a URL.
func (f filters) query() url.Values {
	out := url.Values{}
	for name, value := range map[string]string{"status": f.Status, "account": f.Account, "from": f.From, "to": f.To,
		"q": f.Query, "sort": f.Sort} {
		if value != "" {
			out.Set(name, value)
		}
	}
	return out
}

// path returns the path of the first page of the filtered list.
func (f filters) path() string {
	if text := f.query().Encode(); text != "" {
		return "/posts?" + text
	}
	return "/posts"
}

// filter converts the filters for package postlist, or returns an error for an invalid filter. zone is the time zone of
// the days.
func (f filters) filter(zone *time.Location) (postlist.Filter, error) {
	out := postlist.Filter{Text: f.Query}
	var ok bool
	if out.Tab, ok = postlist.ParseTab(f.Status); !ok {
		return out, apierr.Invalid(apierr.NotAllowedValue, "status", "Select one of the tabs.")
	}
	var err error
	var first, last time.Time
	if out.Account, err = accountOf(f.Account); err != nil {
		return out, err
	}
	if utf8.RuneCountInString(f.Query) > maxSearch {
		return out, apierr.Invalid(apierr.TooLong, "q", "Enter a shorter search text.")
	}
	if first, err = parseDay("from", "Enter the first day as a date, such as 2026-03-29.", f.From); err != nil {
		return out, err
	}
	if last, err = parseDay("to", "Enter the last day as a date, such as 2026-03-29.", f.To); err != nil {
		return out, err
	}
	if f.From != "" {
		out.From = startOf(first, zone)
	}
	if f.To != "" {
		out.To = startOf(last.AddDate(0, 0, 1), zone)
	}
	return out, nil
}

// startOf returns the first instant of a date in a time zone. The date is midnight UTC.
func startOf(date time.Time, zone *time.Location) time.Time {
	return teamtime.StartOfDay(date.Year(), date.Month(), date.Day(), zone)
}

// parseDay parses the date in a field. It returns midnight UTC of that day, or the zero time if text is empty. detail
// is the error text for an invalid date.
func parseDay(field, detail, text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	day, err := time.Parse(time.DateOnly, text)
	if err != nil {
		return day, apierr.Invalid(apierr.Malformed, field, detail)
	}
	return day, nil
}

// accountOf parses the account ID of a filter. It returns 0 (all accounts) if text is empty.
func accountOf(text string) (int64, error) {
	if text == "" {
		return 0, nil
	}
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil || id < 1 {
		return 0, apierr.Invalid(apierr.Malformed, "account_id", "Select one of the accounts.")
	}
	return id, nil
}

// listView is a page of the list of posts.
type listView struct {
	filters

	Tabs  []tabLink
	Posts []listedPost
	// overdue drafts; only on the first page of the unfiltered list of all posts, for people who can reschedule them
	Passed      []calendar.Entry
	Choices     []choice     // accounts to filter by
	First, Next string       // paths of the first and next page; empty if this page is the first or last
	Any         bool         // whether a filter other than the tab is set
	Everything  string       // label of the option to select the posts on all pages
	Empty       locale.Key   // text for a tab without posts
	Results     []bulkResult // results of the last bulk action
	Back        string       // query of this page
	Order       locale.Key   // description of the order
	Zone        string
	Now         time.Time
}

type (
	// tabLink is a tab with its number of posts, such as "128" or "999+".
	tabLink struct {
		Name, Path, Count string
		Label             locale.Key
		Current, Alert    bool
	}
	listedPost struct {
		postlist.Entry
		analytics.PostSums

		When   locale.Key // label of the time; may be empty
		At     time.Time  // time to show; zero if there is none
		Day    time.Time  // planned day of a draft without a time, as midnight UTC
		Others int        // number of accounts that are not named
		// heading of the group that begins with the post; empty if the post does not begin a group
		Heading   locale.Key
		MayEdit   bool // whether it can be changed
		MayDelete bool // whether it can be deleted

		Link       approval.PostLink // the client's link; set only in the tab of posts that wait for approval
		Unanswered int               // number of comments to answer; set only in that tab
		Failures   Failures          // accounts on which it failed or its outcome is unknown

		MayUnschedule bool // whether it can be made a draft
		MayRetry      bool // whether it failed on an account and the visitor may publish
		Publishes     bool // whether the visitor may publish it now
	}
	choice struct{ Value, Text, Platform string }
)

func (p *Handlers) list(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	view := listView{filters: filtersOf(q), Zone: shell.VisitorOf(r.Context()).Zone.String(), Now: p.DB.Now()}
	view.Any, view.Results, view.Back = view.any(), p.popResults(r), r.URL.RawQuery
	call, err := p.NewCall(r, "list_posts")
	if err == nil {
		err = call.Require(access.Read)
	}
	if err == nil {
		view.Choices, err = p.choices(r, view.Account)
	}
	if err == nil {
		err = p.addTabs(r, &view)
	}
	if err != nil {
		p.ShowError(w, r, err)
		return
	}
	view.Everything = view.everything(p.Language(r))
	status := http.StatusOK
	if err := p.fill(r, &view, q.Get("cursor")); err != nil {
		var ok bool
		if view.Error, ok = p.FormErrorOf(w, r, err, nil); !ok {
			return
		}
		status = shell.StatusOf(err)
	}
	if v := shell.VisitorOf(r.Context()); v.Is(shell.Writers) && !view.Any && view.Status == "" && view.First == "" {
		if view.Passed, err = calendar.ListOverdueDrafts(r.Context(), p.DB, v.Team.ID, p.DB.Now(), maxOverdueDrafts); err != nil {
			p.ShowError(w, r, err)
			return
		}
	}
	p.Show(w, r, status, pages["list"], "Posts", view)
}

// fill reads the posts of the page at cursor. The cursor "" is the first page.
func (p *Handlers) fill(r *http.Request, view *listView, cursor string) error {
	zone := shell.VisitorOf(r.Context()).Zone
	f, err := view.filter(zone)
	if err != nil {
		return err
	}
	by, err := view.sorting()
	if err != nil {
		return err
	}
	view.Order = cmp.Or(by.order, orderOf(f))
	if cursor != "" {
		view.First = view.path()
	}
	team := shell.VisitorOf(r.Context()).Team.ID
	var entries []postlist.Entry
	var next string
	if by.metric != nil {
		entries, next, err = p.listSorted(r, f, by, cursor)
	} else {
		entries, next, err = postlist.List(r.Context(), p.DB, team, f, cursor, postsPerPage)
	}
	if err != nil {
		return err
	}
	if view.Posts, err = p.rows(r, entries); err != nil {
		return err
	}
	if f.Tab == postlist.NeedsApproval {
		if err := p.addLinks(r, view.Posts); err != nil {
			return err
		}
	}
	if next != "" {
		here := view.query()
		here.Set("cursor", next)
		view.Next = "/posts?" + here.Encode()
	}
	return nil
}

// rows returns the posts as rows of the list, with their metrics and failures.
func (p *Handlers) rows(r *http.Request, entries []postlist.Entry) ([]listedPost, error) {
	v := shell.VisitorOf(r.Context())
	ids := make([]string, len(entries))
	for i, e := range entries {
		ids[i] = e.ID
	}
	sums, err := p.analytics.SumByPost(r.Context(), v.Team.ID, ids)
	if err != nil {
		return nil, err
	}
	out := make([]listedPost, len(entries))
	for i, e := range entries {
		out[i] = listedOf(e, v.Zone).withActions(v.Is(shell.Publishers))
		out[i].PostSums = sums[e.ID]
		if i == 0 || entries[i-1].Group != e.Group {
			out[i].Heading = groupNames[e.Group]
		}
	}
	return out, p.addFailures(r, out)
}

// addLinks sets the clients' links to the posts, and the numbers of comments to answer.
func (p *Handlers) addLinks(r *http.Request, rows []listedPost) error {
	v := shell.VisitorOf(r.Context())
	ids := make([]string, len(rows))
	for i := range rows {
		ids[i] = rows[i].ID
	}
	links, err := p.approvals.LinksOf(r.Context(), v.Team.ID, ids)
	for i := range rows {
		rows[i].Link = links[rows[i].ID]
		rows[i].Link.Sent = rows[i].Link.Sent.In(v.Zone)
	}
	if err != nil {
		return err
	}
	return p.addComments(r, rows)
}

// maxComments is the limit for reading the comments to answer.
const maxComments = 200

// addComments sets the numbers of comments to answer.
func (p *Handlers) addComments(r *http.Request, rows []listedPost) error {
	found, err := p.approvals.ListUnanswered(r.Context(), shell.VisitorOf(r.Context()).Team.ID, maxComments)
	for _, one := range found {
		if i := slices.IndexFunc(rows, func(row listedPost) bool { return row.ID == one.PostID }); i >= 0 {
			rows[i].Unanswered = len(one.Comments)
		}
	}
	return err
}

// withActions returns the post with the actions that are possible for a writer, who may also be a publisher.
func (l listedPost) withActions(publisher bool) listedPost {
	draft, scheduled := !l.Template && l.Status == post.Draft, !l.Template && l.Status == post.Scheduled
	l.MayEdit = draft || scheduled && publisher
	l.MayUnschedule = scheduled && l.SeriesID == 0 // unscheduling a post of a series would pause the series
	l.MayDelete = l.MayUnschedule || draft
	l.Publishes = publisher && (draft || scheduled) && l.Approval != post.Waiting && l.Approval != post.Rejected
	l.MayRetry = publisher && (l.Status == post.Failed || l.Status == post.PartiallyPublished)
	return l
}

// BulkActions returns the groups of bulk actions that apply to the post, separated by spaces. The page's script uses
// them to enable buttons.
func (l listedPost) BulkActions() string {
	var out []string
	if !l.Template {
		out = append(out, "copyable")
	}
	if l.Status == post.Draft || l.Status == post.Scheduled {
		out = append(out, "open")
	}
	if l.Status == post.Scheduled {
		out = append(out, "scheduled")
	}
	if l.MayDelete {
		out = append(out, "deletable")
	}
	if l.Publishes {
		out = append(out, "publishable")
	}
	return strings.Join(out, " ")
}

// choices returns the accounts to filter by. It adds the selected account if it is not among them.
func (p *Handlers) choices(r *http.Request, selected string) ([]choice, error) {
	args := operation.Arguments{"active_only": false, "limit": int64(accountsPage)}
	out, seen := []choice{}, selected == ""
	for len(out) < maxAccountFilters {
		found, outcome, err := shell.Run[account.SocialAccountList](p.Shell, r, "list_social_accounts", args)
		if err != nil {
			return nil, err
		}
		for _, a := range found.SocialAccounts {
			c := choice{strconv.FormatInt(a.ID, 10), shell.NetworkName(a.Platform) + ": " + a.Username, a.Platform}
			seen = seen || c.Value == selected
			out = append(out, c)
		}
		if outcome.Page == nil || !outcome.Page.HasMore {
			break
		}
		args["cursor"] = outcome.Page.Cursor
	}
	if !seen {
		out = append(out, choice{selected, p.T(r, "Account %s", selected), ""})
	}
	return out, nil
}
