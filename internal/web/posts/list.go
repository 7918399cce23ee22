package posts

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"pressroom/internal/apierr"
	"pressroom/internal/core/operation"
	"pressroom/internal/domain/account"
	"pressroom/internal/domain/post"
	"pressroom/internal/domain/post/calendar"
	"pressroom/internal/domain/post/postlist"
	"pressroom/internal/web/shell"
)

const (
	listed       = 30  // posts per page
	maxNamed     = 4   // accounts named per post
	maxPassed    = 3   // overdue drafts shown first
	maxToChoose  = 200 // accounts offered as filters
	accountsPage = 50
)

// filters are the selected filters of the list. Both days are inclusive.
type filters struct {
	Status, Account, From, To string
	Wrong                     shell.FormError
}

func (f filters) any() bool { return f.Status+f.Account+f.From+f.To != "" }

// query returns the filters as a query.
func (f filters) query() url.Values {
	out := url.Values{}
	for name, value := range map[string]string{"status": f.Status, "account": f.Account, "from": f.From, "to": f.To} {
		if value != "" {
			out.Set(name, value)
		}
	}
	return out
}

// arguments returns the filters as arguments of list_posts, whose end is exclusive.
func (f filters) arguments() (operation.Arguments, error) {
	args := operation.Arguments{"limit": int64(listed)}
	if f.Status != "" {
		args["status"] = f.Status
	}
	account, err := accountOf(f.Account)
	if err != nil {
		return nil, err
	}
	if account > 0 {
		args["account_id"] = account
	}
	if f.From != "" {
		args["from"] = f.From
	}
	if f.To != "" {
		last, err := time.Parse(time.DateOnly, f.To)
		if err != nil {
			return nil, apierr.Invalid(apierr.Malformed, "to", "Enter the last day as a date, such as 2026-03-29.")
		}
		args["to"] = last.AddDate(0, 0, 1).Format(time.DateOnly)
	}
	return args, nil
}

// accountOf returns the account of a filter, 0 for all.
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

// listView is a page of the list.
type listView struct {
	filters

	Posts []listedPost
	// overdue drafts, on the first page, for people who can reschedule them
	Passed      []calendar.Slot
	Choices     []choice
	Statuses    []post.Status
	First, Next string
	Any         bool
	Zone        string
}

type (
	listedPost struct {
		post.PostEntry
		postlist.Details

		Others int // further accounts
	}
	choice struct{ Value, Text, Platform string }
)

func (p *Handlers) list(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	view := listView{filters: filters{
		Status: q.Get("status"), Account: q.Get("account"), From: q.Get("from"), To: q.Get("to"),
	}, Zone: shell.VisitorOf(r.Context()).Team.Timezone,
		Statuses: []post.Status{
			post.Draft, post.Scheduled, post.Processing, post.Published, post.PartiallyPublished, post.Failed,
		}}
	view.Any = view.any()
	var err error
	if view.Choices, err = p.choices(r, view.Account); err != nil {
		p.ShowError(w, r, err)
		return
	}
	status := http.StatusOK
	if err := p.fill(r, &view, q.Get("cursor")); err != nil {
		var ok bool
		if view.Wrong, ok = p.FormErrorOf(w, r, err, nil); !ok {
			return
		}
		status = shell.StatusOf(err)
	}
	if v := shell.VisitorOf(r.Context()); v.Is(shell.Writers) && !view.Any && view.First == "" {
		if view.Passed, err = calendar.ListOverdueDrafts(r.Context(), p.DB, v.Team.ID, p.DB.Now(), maxPassed); err != nil {
			p.ShowError(w, r, err)
			return
		}
	}
	p.Show(w, r, status, pages["list"], "Posts", view)
}

// fill reads the page at a cursor.
func (p *Handlers) fill(r *http.Request, view *listView, cursor string) error {
	args, err := view.arguments()
	if err != nil {
		return err
	}
	here := view.query()
	if cursor != "" {
		args["cursor"] = cursor
		view.First = "/posts?" + here.Encode()
	}
	found, outcome, err := shell.Run[post.PostList](p.Frame, r, "list_posts", args)
	if err != nil {
		return err
	}
	ids := make([]string, len(found.Posts))
	for i, s := range found.Posts {
		ids[i] = s.ID
	}
	glances, err := postlist.DetailsOf(r.Context(), p.DB, shell.VisitorOf(r.Context()).Team.ID, ids)
	if err != nil {
		return err
	}
	zone, err := time.LoadLocation(view.Zone)
	if err != nil {
		return fmt.Errorf("loading the team's time zone: %w", err)
	}
	for _, s := range found.Posts {
		one := listedPost{PostEntry: s, Details: glances[s.ID], Others: max(0, len(s.Accounts)-maxNamed)}
		if !one.Submitted.IsZero() {
			one.Submitted = one.Submitted.In(zone)
		}
		one.Accounts = s.Accounts[:len(s.Accounts)-one.Others]
		view.Posts = append(view.Posts, one)
	}
	if outcome.Page != nil && outcome.Page.HasMore {
		here.Set("cursor", outcome.Page.Cursor)
		view.Next = "/posts?" + here.Encode()
	}
	return nil
}

// choices returns the accounts of the filter, and the selected one.
func (p *Handlers) choices(r *http.Request, chosen string) ([]choice, error) {
	args := operation.Arguments{"active_only": false, "limit": int64(accountsPage)}
	out, seen := []choice{}, chosen == ""
	for len(out) < maxToChoose {
		found, outcome, err := shell.Run[account.SocialAccountList](p.Frame, r, "list_social_accounts", args)
		if err != nil {
			return nil, err
		}
		for _, a := range found.SocialAccounts {
			c := choice{strconv.FormatInt(a.ID, 10), shell.NetworkName(a.Platform) + ": " + a.Username, a.Platform}
			seen = seen || c.Value == chosen
			out = append(out, c)
		}
		if outcome.Page == nil || !outcome.Page.HasMore {
			break
		}
		args["cursor"] = outcome.Page.Cursor
	}
	if !seen {
		out = append(out, choice{chosen, "Account " + chosen, ""})
	}
	return out, nil
}
