package web

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"pressroom.example/pressroom/internal/domain/account"
	"pressroom.example/pressroom/internal/domain/analytics"
	"pressroom.example/pressroom/internal/domain/post"
	"pressroom.example/pressroom/internal/domain/post/approval"
	"pressroom.example/pressroom/internal/domain/post/calendar"
	"pressroom.example/pressroom/internal/domain/post/postlist"
	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/teamtime"
	"pressroom.example/pressroom/internal/web/posts"
	"pressroom.example/pressroom/internal/web/shell"
)

func (a *App) home(w http.ResponseWriter, r *http.Request) {
	if shell.VisitorOf(r.Context()) == nil {
		a.Show(w, r, http.StatusOK, pages["front"], "pressroom", a.PublicURL)
		return
	}
	view, err := a.today(r)
	if err != nil {
		a.ShowError(w, r, err)
		return
	}
	a.Show(w, r, http.StatusOK, pages["home"], "Home", view)
}

const (
	homePosts   = 5 // posts per section of the home page
	homeDaily   = 4 // posts per day
	homeDays    = 7 // how far it looks ahead, and back for failures
	homeAiling  = 3
	homeFailed  = 3
	homeLargest = 6 // accounts with metrics
)

// today is the home page of the selected team.
type today struct {
	account.Overview

	Open    bool             // the team is open
	Failed  []happened       // failed in the last days, or with an unknown outcome
	More    bool             // more posts failed or more accounts need attention
	Passed  []calendar.Entry // drafts whose time has passed, for people who can reschedule them
	Asked   []calendar.Entry // posts waiting for approval, for clients
	Client  []calendar.Entry // posts waiting for a client's approval, for people who can ask again
	Replies []reply          // posts with comments of clients to answer, for people who can answer
	Now     time.Time        // in the visitor's zone
	Ahead   []homeDay
	Lately  []happened
	Weeks   []analytics.AccountWeeks // of the accounts that published this week, then of the largest
	Steps   []step                   // the checklist of a new team, for its owner and admins

	OtherWeeks int // accounts without a place in Weeks
}

// StepsDone returns how many steps of the checklist are done.
func (t today) StepsDone() int {
	n := 0
	for _, s := range t.Steps {
		if s.Done {
			n++
		}
	}
	return n
}

// OpenSteps returns the steps to show. If only one is left, the others are not shown.
func (t today) OpenSteps() []step {
	if t.Fresh() || t.StepsDone() < len(t.Steps)-1 {
		return t.Steps
	}
	return slices.DeleteFunc(slices.Clone(t.Steps), func(s step) bool { return s.Done })
}

// MoreClient reports whether more posts may wait for the client than were read.
func (t today) MoreClient() bool { return len(t.Client) == homePosts }

// reply is a post with comments to answer.
type reply struct{ approval.Unanswered }

// Last returns the index of the latest comment.
func (r reply) Last() int { return len(r.Comments) - 1 }

// Greeting returns a greeting for the time of day.
func (t today) Greeting() locale.Key {
	switch hour := t.Now.Hour(); {
	case hour < 5:
		return "Hello"
	case hour < 12:
		return "Good morning"
	case hour < 18:
		return "Good afternoon"
	}
	return "Good evening"
}

// Needs returns how many posts and accounts need attention, such as "3" or "6+", or "" if there are none.
func (t today) Needs() string {
	posts := map[string]bool{}
	for _, one := range t.Failed {
		posts[one.PostID] = true
	}
	for _, one := range t.Replies {
		posts[one.PostID] = true
	}
	for _, entry := range slices.Concat(t.Passed, t.Asked, t.Client) {
		posts[entry.PostID] = true
	}
	n := len(t.NeedAttention) + len(posts)
	if n == 0 {
		return ""
	}
	return atLeast(n, t.More || max(len(t.Passed), len(t.Asked), len(t.Client)) == homePosts)
}

// Fresh reports whether the team has nothing to show but the first steps.
func (t today) Fresh() bool {
	return !t.HasPlans() && len(t.Lately) == 0 && len(t.Weeks) == 0 && (len(t.Steps) > 0 || t.Accounts == 0)
}

// HasPlans reports whether there are posts or drafts on the next days.
func (t today) HasPlans() bool {
	return slices.ContainsFunc(t.Ahead, func(day homeDay) bool { return len(day.Posts) > 0 })
}

// Count returns the number of scheduled posts on the next days, such as "3" or "28+", or "" if there are none.
func (t today) Count() string {
	n, more := 0, false
	for _, day := range t.Ahead {
		more = more || day.More
		for _, p := range day.Posts {
			if p.Status != post.Draft {
				n++
			}
		}
	}
	if n == 0 {
		return ""
	}
	return atLeast(n, more)
}

// atLeast returns a number, with a plus sign if there are more.
func atLeast(n int, more bool) string {
	if more {
		return strconv.Itoa(n) + "+"
	}
	return strconv.Itoa(n)
}

// homeDay is one of the next days.
type homeDay struct {
	Date  time.Time
	Posts []happened
	More  bool
}

// happened is a post with the details that lists show.
type happened struct {
	calendar.Entry
	postlist.Details
	analytics.PostSums

	Shown    []post.Status
	Failures posts.Failures
}

// today returns the home page. It is empty without a team or for a closed team.
func (a *App) today(r *http.Request) (today, error) {
	ctx, v := r.Context(), shell.VisitorOf(r.Context())
	out := today{Open: v.Team.ID > 0 && !v.Team.Closed}
	if !out.Open {
		return out, nil
	}
	zone, err := time.LoadLocation(v.Team.Timezone)
	if err != nil {
		return out, fmt.Errorf("loading the team's time zone: %w", err)
	}
	out.Now = a.DB.Now().In(v.Zone)
	if out.Overview, err = a.Connector.Accounts.Overview(ctx, v.Team.ID, homeAiling+1); err != nil {
		return out, err
	}
	if len(out.NeedAttention) > homeAiling {
		out.NeedAttention, out.More = out.NeedAttention[:homeAiling], true
	}
	if err := a.addPosts(ctx, v.Team.ID, &out); err != nil {
		return out, err
	}
	if out.Weeks, err = a.Analytics.CompareWeeks(ctx, v.Team.ID, zone); err != nil {
		return out, err
	}
	out.Weeks, out.OtherWeeks = activeFirst(out.Weeks, homeLargest)
	if err := a.addWaiting(ctx, v, &out); err != nil {
		return out, err
	}
	if out.Steps, err = a.checklist(ctx, v); err != nil {
		return out, err
	}
	for _, entries := range [][]calendar.Entry{out.Passed, out.Asked, out.Client} {
		for i := range entries {
			entries[i].At = entries[i].At.In(v.Zone)
		}
	}
	return out, nil
}

// activeFirst returns up to n accounts, those that published this week first, and how many others there are.
func activeFirst(weeks []analytics.AccountWeeks, n int) ([]analytics.AccountWeeks, int) {
	slices.SortStableFunc(weeks, func(a, b analytics.AccountWeeks) int {
		return min(1, int(b.Now.Posts)) - min(1, int(a.Now.Posts))
	})
	n = min(n, len(weeks))
	return weeks[:n], len(weeks) - n
}

// addWaiting adds drafts that wait for a person, if the visitor can act on them.
func (a *App) addWaiting(ctx context.Context, v *shell.Visitor, out *today) error {
	var err error
	if v.Is(shell.Writers) {
		if out.Passed, err = calendar.ListOverdueDrafts(ctx, a.DB, v.Team.ID, out.Now, homePosts); err != nil {
			return err
		}
		if out.Client, err = calendar.ListAwaitingApproval(ctx, a.DB, v.Team.ID, homePosts); err != nil {
			return err
		}
		found, err := a.Approvals.ListUnanswered(ctx, v.Team.ID, homePosts)
		if err != nil {
			return err
		}
		for _, one := range found[:min(len(found), homeFailed)] {
			out.Replies = append(out.Replies, reply{one})
		}
	}
	if v.Is(shell.Clients) {
		if out.Asked, err = calendar.ListAwaitingApproval(ctx, a.DB, v.Team.ID, homePosts); err != nil {
			return err
		}
	}
	return nil
}

// addPosts adds the posts of the next days, recently published posts with their metrics, and failed posts.
func (a *App) addPosts(ctx context.Context, team int64, out *today) error {
	spans, err := calendar.Spans(ctx, a.DB, team, calendar.Filter{}, homeBounds(out.Now), homeDaily)
	if err != nil {
		return err
	}
	recent, err := calendar.ListRecent(ctx, a.DB, team, out.Now, homePosts)
	if err != nil {
		return err
	}
	failed, err := calendar.ListFailed(ctx, a.DB, team, out.Now.AddDate(0, 0, -homeDays), homeFailed+1)
	if err != nil {
		return err
	}
	if len(failed) > homeFailed {
		failed, out.More = failed[:homeFailed], true
	}
	all := slices.Concat(recent, failed)
	for _, span := range spans {
		all = append(all, span.Entries...)
	}
	posts, err := a.withDetails(ctx, team, out.Now.Location(), all)
	if err != nil {
		return err
	}
	out.Lately, posts = posts[:len(recent)], posts[len(recent):]
	out.Failed, posts = posts[:len(failed)], posts[len(failed):]
	if err := a.addFailures(ctx, team, out.Failed); err != nil {
		return err
	}
	for _, span := range spans {
		n := len(span.Entries)
		out.Ahead = append(out.Ahead, homeDay{span.From, posts[:n], span.More})
		posts = posts[n:]
	}
	return a.addMetrics(ctx, team, out.Lately)
}

// addFailures adds why posts failed.
func (a *App) addFailures(ctx context.Context, team int64, failed []happened) error {
	ids := make([]string, len(failed))
	for i, one := range failed {
		ids[i] = one.PostID
	}
	found, err := postlist.ListFailures(ctx, a.DB, team, ids)
	for i, one := range failed {
		failed[i].Failures = found[one.PostID]
	}
	return err
}

// homeBounds returns now and the midnights that end today and the following days.
func homeBounds(now time.Time) []time.Time {
	bounds := []time.Time{now}
	for i := 1; i <= homeDays; i++ {
		midnight := teamtime.StartOfDay(now.Year(), now.Month(), now.Day()+i, now.Location())
		bounds = append(bounds, midnight.In(now.Location()))
	}
	return bounds
}

// withDetails adds the details that lists show to posts, with times in a zone.
func (a *App) withDetails(ctx context.Context, team int64, zone *time.Location, entries []calendar.Entry) ([]happened, error) {
	ids := make([]string, len(entries))
	for i, entry := range entries {
		ids[i] = entry.PostID
	}
	details, err := postlist.ListDetails(ctx, a.DB, team, ids)
	if err != nil {
		return nil, err
	}
	out := make([]happened, len(entries))
	for i, entry := range entries {
		entry.At = entry.At.In(zone)
		d := details[entry.PostID]
		out[i] = happened{Entry: entry, Details: d, Shown: d.States(entry.Status)}
	}
	return out, nil
}

// addMetrics adds the metrics that the networks report to posts.
func (a *App) addMetrics(ctx context.Context, team int64, posts []happened) error {
	ids := make([]string, len(posts))
	for i, one := range posts {
		ids[i] = one.PostID
	}
	sums, err := a.Analytics.SumByPost(ctx, team, ids)
	if err != nil {
		return err
	}
	for i, one := range posts {
		posts[i].PostSums = sums[one.PostID]
	}
	return nil
}

// switchTeam selects a team and redirects to the page named in the form.
func (a *App) switchTeam(w http.ResponseWriter, r *http.Request) {
	if !a.ReadForm(w, r) {
		return
	}
	id, err := strconv.ParseInt(r.PostForm.Get("team"), 10, 64)
	if v := shell.VisitorOf(r.Context()); err != nil || shell.TeamOrFirst(v.Account, id).ID != id {
		a.NotFound(w, r)
		return
	}
	a.SetTeam(r.Context(), id)
	shell.Redirect(w, r, shell.LocalPath(r.PostForm.Get("next")))
}
