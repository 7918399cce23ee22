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
	view, err := a.newHomeView(r)
	if err != nil {
		a.ShowError(w, r, err)
		return
	}
	a.Show(w, r, http.StatusOK, pages["home"], "Home", view)
}

const (
	maxSectionPosts      = 5 // posts per section of the home page
	maxDailyPosts        = 4 // posts per day
	homeDays             = 7 // number of days ahead whose posts are shown, and of past days whose failures are shown
	maxAttentionAccounts = 3 // accounts that need attention
	maxFailedPosts       = 3 // failed posts, and posts with client comments
	maxMetricsAccounts   = 6 // accounts with metrics
)

// homeView is the home page of the selected team.
type homeView struct {
	account.Overview

	Open            bool             // there is a selected team, and it is not closed
	Failed          []listedPost     // recent posts that failed or whose outcome is unknown
	More            bool             // more posts failed or more accounts need attention
	OverdueDrafts   []calendar.Entry // drafts whose time has passed, for people who can reschedule them
	AwaitingVisitor []calendar.Entry // posts waiting for approval, for clients
	AwaitingClient  []calendar.Entry // posts waiting for a client's approval, for people who can ask again
	Unsent          int              // number of posts in AwaitingClient that no working link shows
	Replies         []reply          // posts with client comments to answer, for people who can answer
	Now             time.Time        // in the visitor's time zone
	Ahead           []homeDay
	Recent          []listedPost
	Weeks           []analytics.AccountComparison // accounts that published this week, then the largest ones
	Steps           []step                        // the checklist of a new team, for its owner and admins

	OtherWeeks int // number of accounts that are not in Weeks
}

// StepsDone returns how many steps of the checklist are done.
func (v homeView) StepsDone() int {
	n := 0
	for _, s := range v.Steps {
		if s.Done {
			n++
		}
	}
	return n
}

// OpenSteps returns the steps to show: all steps or, if only one is left, that step.
func (v homeView) OpenSteps() []step {
	if v.ShowsOnlySteps() || v.StepsDone() < len(v.Steps)-1 {
		return v.Steps
	}
	return slices.DeleteFunc(slices.Clone(v.Steps), func(s step) bool { return s.Done })
}

// MoreClient reports whether more posts than those in AwaitingClient may wait for a client's approval.
func (v homeView) MoreClient() bool { return len(v.AwaitingClient) == maxSectionPosts }

// reply is a post with comments to answer.
type reply struct{ approval.Unanswered }

// Last returns the index of the latest comment.
func (r reply) Last() int { return len(r.Comments) - 1 }

// Greeting returns a greeting for the time of day.
func (v homeView) Greeting() locale.Key {
	switch hour := v.Now.Hour(); {
	case hour < 5:
		return "Hello"
	case hour < 12:
		return "Good morning"
	case hour < 18:
		return "Good afternoon"
	}
	return "Good evening"
}

// AttentionCount returns how many posts and accounts need attention, such as "3" or "6+", or "" if there are none.
func (v homeView) AttentionCount() string {
	posts := map[string]bool{}
	for _, item := range v.Failed {
		posts[item.PostID] = true
	}
	for _, item := range v.Replies {
		posts[item.PostID] = true
	}
	for _, entry := range slices.Concat(v.OverdueDrafts, v.AwaitingVisitor, v.AwaitingClient) {
		posts[entry.PostID] = true
	}
	n := len(v.NeedAttention) + len(posts)
	if n == 0 {
		return ""
	}
	return formatCount(n, v.More || max(len(v.OverdueDrafts), len(v.AwaitingVisitor), len(v.AwaitingClient)) == maxSectionPosts)
}

// ShowsOnlySteps reports whether the page can show only the setup steps, because there are no posts and no metrics.
func (v homeView) ShowsOnlySteps() bool {
	return !v.HasPlans() && len(v.Recent) == 0 && len(v.Weeks) == 0 && (len(v.Steps) > 0 || v.Accounts == 0)
}

// HasPlans reports whether there are posts or drafts in the next days.
func (v homeView) HasPlans() bool {
	return slices.ContainsFunc(v.Ahead, func(day homeDay) bool { return len(day.Posts) > 0 })
}

// Count returns the number of posts scheduled for the next days, such as "3" or "28+", or "" if there are none.
func (v homeView) Count() string {
	n, more := 0, false
	for _, day := range v.Ahead {
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
	return formatCount(n, more)
}

// formatCount formats n, with a plus sign if there are more.
func formatCount(n int, more bool) string {
	if more {
		return strconv.Itoa(n) + "+"
	}
	return strconv.Itoa(n)
}

// homeDay is one of the next days, with its posts.
type homeDay struct {
	Date  time.Time
	Posts []listedPost
	More  bool
}

// listedPost is a post with the details that the home page shows.
type listedPost struct {
	calendar.Entry
	postlist.Details
	analytics.PostSums

	Shown    []post.Status
	Failures posts.Failures
}

// newHomeView returns the content of the home page. The content is empty if no team is selected or the team is closed.
func (a *App) newHomeView(r *http.Request) (homeView, error) {
	ctx, v := r.Context(), shell.VisitorOf(r.Context())
	out := homeView{Open: v.Team.ID > 0 && !v.Team.Closed}
	if !out.Open {
		return out, nil
	}
	zone, err := time.LoadLocation(v.Team.Timezone)
	if err != nil {
		return out, fmt.Errorf("loading the team's time zone: %w", err)
	}
	out.Now = a.DB.Now().In(v.Zone)
	if out.Overview, err = a.Connector.Accounts.Overview(ctx, v.Team.ID, maxAttentionAccounts+1); err != nil {
		return out, err
	}
	if len(out.NeedAttention) > maxAttentionAccounts {
		out.NeedAttention, out.More = out.NeedAttention[:maxAttentionAccounts], true
	}
	if err := a.addPosts(ctx, v.Team.ID, &out); err != nil {
		return out, err
	}
	if out.Weeks, err = a.Analytics.CompareWeeks(ctx, v.Team.ID, zone); err != nil {
		return out, err
	}
	out.Weeks, out.OtherWeeks = sortActiveFirst(out.Weeks, maxMetricsAccounts)
	if err := a.addWaiting(ctx, v, &out); err != nil {
		return out, err
	}
	if out.Steps, err = a.checklist(ctx, v); err != nil {
		return out, err
	}
	for _, entries := range [][]calendar.Entry{out.OverdueDrafts, out.AwaitingVisitor, out.AwaitingClient} {
		for i := range entries {
			entries[i].At = entries[i].At.In(v.Zone)
		}
	}
	return out, nil
}

// sortActiveFirst returns up to n accounts, first those that published this week, and the number of remaining accounts.
func sortActiveFirst(weeks []analytics.AccountComparison, n int) ([]analytics.AccountComparison, int) {
	slices.SortStableFunc(weeks, func(a, b analytics.AccountComparison) int {
		return min(1, int(b.Now.Posts)) - min(1, int(a.Now.Posts))
	})
	n = min(n, len(weeks))
	return weeks[:n], len(weeks) - n
}

// addWaiting adds the drafts and client comments that wait for somebody, if the visitor can act on them.
func (a *App) addWaiting(ctx context.Context, v *shell.Visitor, out *homeView) error {
	var err error
	if v.Is(shell.Writers) {
		if out.OverdueDrafts, err = calendar.ListOverdueDrafts(ctx, a.DB, v.Team.ID, out.Now, maxSectionPosts); err != nil {
			return err
		}
		if out.AwaitingClient, err = calendar.ListAwaitingApproval(ctx, a.DB, v.Team.ID, maxSectionPosts); err != nil {
			return err
		}
		if out.Unsent, err = a.countUnsent(ctx, v.Team.ID, out.AwaitingClient); err != nil {
			return err
		}
		comments, err := a.Approvals.ListUnanswered(ctx, v.Team.ID, maxSectionPosts)
		if err != nil {
			return err
		}
		for _, unanswered := range comments[:min(len(comments), maxFailedPosts)] {
			out.Replies = append(out.Replies, reply{unanswered})
		}
	}
	if v.Is(shell.Clients) {
		if out.AwaitingVisitor, err = calendar.ListAwaitingApproval(ctx, a.DB, v.Team.ID, maxSectionPosts); err != nil {
			return err
		}
	}
	return nil
}

// countUnsent returns how many of the waiting posts have no working link for a client.
func (a *App) countUnsent(ctx context.Context, team int64, waiting []calendar.Entry) (int, error) {
	ids := make([]string, len(waiting))
	for i, entry := range waiting {
		ids[i] = entry.PostID
	}
	links, err := a.Approvals.LinksOf(ctx, team, ids)
	return len(ids) - len(links), err
}

// addPosts adds the posts of the next days, recently published posts with their metrics, and failed posts.
func (a *App) addPosts(ctx context.Context, team int64, out *homeView) error {
	spans, err := calendar.Spans(ctx, a.DB, team, calendar.Filter{}, homeBounds(out.Now), maxDailyPosts)
	if err != nil {
		return err
	}
	recent, err := calendar.ListRecent(ctx, a.DB, team, out.Now, maxSectionPosts)
	if err != nil {
		return err
	}
	failures, err := calendar.ListFailed(ctx, a.DB, team, out.Now.AddDate(0, 0, -homeDays), maxFailedPosts+1)
	if err != nil {
		return err
	}
	if len(failures) > maxFailedPosts {
		failures, out.More = failures[:maxFailedPosts], true
	}
	all := slices.Concat(recent, failures)
	for _, span := range spans {
		all = append(all, span.Entries...)
	}
	posts, err := a.withDetails(ctx, team, out.Now.Location(), all)
	if err != nil {
		return err
	}
	out.Recent, posts = posts[:len(recent)], posts[len(recent):]
	out.Failed, posts = posts[:len(failures)], posts[len(failures):]
	if err := a.addFailures(ctx, team, out.Failed); err != nil {
		return err
	}
	for _, span := range spans {
		n := len(span.Entries)
		out.Ahead = append(out.Ahead, homeDay{span.From, posts[:n], span.More})
		posts = posts[n:]
	}
	return a.addMetrics(ctx, team, out.Recent)
}

// addFailures adds the reasons why posts failed.
func (a *App) addFailures(ctx context.Context, team int64, posts []listedPost) error {
	ids := make([]string, len(posts))
	for i, failedPost := range posts {
		ids[i] = failedPost.PostID
	}
	failures, err := postlist.ListFailures(ctx, a.DB, team, ids)
	for i, failedPost := range posts {
		posts[i].Failures = failures[failedPost.PostID]
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

// withDetails returns the entries with the details that the page shows and with their times in the given zone.
func (a *App) withDetails(
	ctx context.Context, team int64, zone *time.Location, entries []calendar.Entry,
) ([]listedPost, error) {
	ids := make([]string, len(entries))
	for i, entry := range entries {
		ids[i] = entry.PostID
	}
	details, err := postlist.ListDetails(ctx, a.DB, team, ids)
	if err != nil {
		return nil, err
	}
	out := make([]listedPost, len(entries))
	for i, entry := range entries {
		entry.At = entry.At.In(zone)
		d := details[entry.PostID]
		out[i] = listedPost{Entry: entry, Details: d, Shown: d.States(entry.Status)}
	}
	return out, nil
}

// addMetrics adds to each post the metrics that the networks report for it.
func (a *App) addMetrics(ctx context.Context, team int64, posts []listedPost) error {
	ids := make([]string, len(posts))
	for i, listed := range posts {
		ids[i] = listed.PostID
	}
	sums, err := a.Analytics.SumByPost(ctx, team, ids)
	if err != nil {
		return err
	}
	for i, listed := range posts {
		posts[i].PostSums = sums[listed.PostID]
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
