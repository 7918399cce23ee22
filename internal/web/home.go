package web

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"pressroom/internal/api/problem"
	"pressroom/internal/domain/account"
	"pressroom/internal/domain/analytics"
	"pressroom/internal/domain/post"
	"pressroom/internal/web/shell"
)

// front is the public home page.
type front struct{ PublicURL string }

func (a *App) home(w http.ResponseWriter, r *http.Request) {
	if shell.VisitorOf(r.Context()) == nil {
		a.Show(w, r, http.StatusOK, pages["front"], "pressroom", front{a.PublicURL})
		return
	}
	view, err := a.today(r)
	if err != nil {
		a.ShowError(w, r, err)
		return
	}
	a.Show(w, r, http.StatusOK, pages["home"], shell.VisitorOf(r.Context()).Team.Name, view)
}

const (
	homePosts  = 5 // posts per section of the home page
	homeDaily  = 4 // posts per day
	homeDays   = 7
	homeAiling = 3
	homeRecent = 30 // recent posts among which failures are looked for
	homeFailed = 3
)

// today is the home page of the selected team.
type today struct {
	front
	account.Overview

	Open   bool        // the team is open
	Failed []happened  // failed in the last days, or with an unknown outcome
	Passed []post.Slot // drafts whose time has passed, for people who can reschedule them
	Asked  []post.Slot // posts waiting for approval, for clients
	Client []post.Slot // posts waiting for a client's approval, for people who can ask again
	Now    time.Time   // in the team's zone
	Ahead  []homeDay
	Count  int // posts in these days that are shown
	Lately []happened
}

// Needs returns how many things need attention.
func (t today) Needs() int {
	return len(t.Ailing) + len(t.Failed) + min(len(t.Passed), 1) + min(len(t.Asked), 1) + min(len(t.Client), 1)
}

// homeDay is one of the next days.
type homeDay struct {
	Date  time.Time
	Posts []happened
	More  bool
}

// happened is a post with what lists show of it.
type happened struct {
	post.Slot
	post.ListDetails
	analytics.PostSums

	Shown []post.Status
}

// withDetails adds what lists show to posts, with times in a zone.
func (a *App) withDetails(ctx context.Context, team int64, zone *time.Location, slots []post.Slot) ([]happened, error) {
	ids := make([]string, len(slots))
	for i, slot := range slots {
		ids[i] = slot.PostID
	}
	details, err := a.Posts.ListDetails(ctx, team, ids)
	if err != nil {
		return nil, err
	}
	out := make([]happened, len(slots))
	for i, slot := range slots {
		slot.At = slot.At.In(zone)
		d := details[slot.PostID]
		out[i] = happened{Slot: slot, ListDetails: d, Shown: d.States(slot.Status)}
	}
	return out, nil
}

// today returns the home page. It is empty for a closed team or none.
func (a *App) today(r *http.Request) (today, error) {
	ctx, v := r.Context(), shell.VisitorOf(r.Context())
	out := today{front: front{a.PublicURL}, Open: v.Team.ID > 0 && !v.Team.Closed}
	if !out.Open {
		return out, nil
	}
	zone, err := time.LoadLocation(v.Team.Timezone)
	if err != nil {
		return out, fmt.Errorf("loading the team's time zone: %w", err)
	}
	out.Now = a.DB.Now().In(zone)
	if out.Overview, err = a.Connector.Accounts.Overview(ctx, v.Team.ID, homeAiling); err != nil {
		return out, err
	}
	if err := a.addAhead(ctx, v.Team.ID, &out); err != nil {
		return out, err
	}
	if err := a.addRecent(ctx, v.Team.ID, &out); err != nil {
		return out, err
	}
	if v.Is(shell.Writers) {
		if out.Passed, err = a.Posts.ListOverdueDrafts(ctx, v.Team.ID, out.Now, homePosts); err != nil {
			return out, err
		}
		if out.Client, err = a.Posts.ListAwaitingApproval(ctx, v.Team.ID, homePosts); err != nil {
			return out, err
		}
	}
	if v.Is(shell.Clients) {
		if out.Asked, err = a.Posts.ListAwaitingApproval(ctx, v.Team.ID, homePosts); err != nil {
			return out, err
		}
	}
	for _, slots := range [][]post.Slot{out.Passed, out.Asked, out.Client} {
		for i := range slots {
			slots[i].At = slots[i].At.In(zone)
		}
	}
	return out, nil
}

// addAhead adds the next days, beginning now.
func (a *App) addAhead(ctx context.Context, team int64, out *today) error {
	bounds := []time.Time{out.Now}
	for i := 1; i <= homeDays; i++ {
		bounds = append(bounds, time.Date(out.Now.Year(), out.Now.Month(), out.Now.Day()+i, 0, 0, 0, 0, out.Now.Location()))
	}
	spans, err := a.Posts.Calendar(ctx, team, 0, bounds, homeDaily)
	if err != nil {
		return err
	}
	for _, span := range spans {
		posts, err := a.withDetails(ctx, team, out.Now.Location(), span.Slots)
		if err != nil {
			return err
		}
		out.Ahead = append(out.Ahead, homeDay{span.From, posts, span.More})
		out.Count += len(posts)
	}
	return nil
}

// addRecent adds the most recent posts with their figures, and those that failed in the last days.
func (a *App) addRecent(ctx context.Context, team int64, out *today) error {
	slots, err := a.Posts.ListRecent(ctx, team, out.Now, homeRecent)
	if err != nil {
		return err
	}
	recent, err := a.withDetails(ctx, team, out.Now.Location(), slots)
	if err != nil {
		return err
	}
	var ids []string
	for _, one := range recent {
		failed := one.Status == post.Failed || one.Status == post.PartiallyPublished
		if failed && len(out.Failed) < homeFailed && one.At.After(out.Now.AddDate(0, 0, -homeDays)) {
			out.Failed = append(out.Failed, one)
		}
		if len(out.Lately) < homePosts {
			out.Lately, ids = append(out.Lately, one), append(ids, one.PostID)
		}
	}
	sums, err := a.Analytics.SumByPost(ctx, team, ids)
	if err != nil {
		return err
	}
	for i := range out.Lately {
		out.Lately[i].PostSums = sums[out.Lately[i].PostID]
	}
	return nil
}

func (a *App) errorReference(w http.ResponseWriter, r *http.Request) {
	a.Show(w, r, http.StatusOK, pages["errors"], "Error reference", problem.Entries())
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
