package web

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"pressroom/internal/api/problem"
	"pressroom/internal/domain/account"
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
	homeAiling = 3
	homeAhead  = 14 * 24 * time.Hour
)

// today is the home page of the selected team.
type today struct {
	front
	account.Overview

	Open   bool        // the team is open
	Passed []post.Slot // drafts whose time has passed, for people who can reschedule them
	Asked  []post.Slot // posts waiting for approval, for clients
	Today  string      // current date in the team's zone
	Next   []post.Slot
	More   bool // more posts are scheduled
	Lately []happened
}

// happened is a post that was published or failed.
type happened struct {
	post.Slot

	States []post.Status
}

// lately returns the most recent posts and their states.
func (a *App) lately(ctx context.Context, team int64, now time.Time) ([]happened, error) {
	slots, err := a.Posts.ListRecent(ctx, team, now, homePosts)
	if err != nil {
		return nil, err
	}
	ids := make([]string, len(slots))
	for i, slot := range slots {
		ids[i] = slot.PostID
	}
	glances, err := a.Posts.ListDetails(ctx, team, ids)
	if err != nil {
		return nil, err
	}
	out := make([]happened, len(slots))
	for i, slot := range slots {
		out[i] = happened{slot, glances[slot.PostID].States(slot.Status)}
	}
	return out, nil
}

// today returns the home page. It is empty for a closed team or none.
func (a *App) today(r *http.Request) (today, error) {
	ctx, team, now := r.Context(), shell.VisitorOf(r.Context()).Team, a.DB.Now()
	out := today{front: front{a.PublicURL}, Open: team.ID > 0 && !team.Closed}
	if !out.Open {
		return out, nil
	}
	zone, err := time.LoadLocation(team.Timezone)
	if err != nil {
		return out, fmt.Errorf("loading the team's time zone: %w", err)
	}
	if out.Overview, err = a.Connector.Accounts.Overview(ctx, team.ID, homeAiling); err != nil {
		return out, err
	}
	ahead, err := a.Posts.Calendar(ctx, team.ID, 0, []time.Time{now, now.Add(homeAhead)}, homePosts)
	if err != nil {
		return out, err
	}
	out.Next, out.More = ahead[0].Slots, ahead[0].More
	if out.Lately, err = a.lately(ctx, team.ID, now); err != nil {
		return out, err
	}
	if shell.VisitorOf(ctx).Is(shell.Writers) {
		if out.Passed, err = a.Posts.ListOverdueDrafts(ctx, team.ID, now, homePosts); err != nil {
			return out, err
		}
	}
	if shell.VisitorOf(ctx).Is(shell.Clients) {
		if out.Asked, err = a.Posts.ListAwaitingApproval(ctx, team.ID, homePosts); err != nil {
			return out, err
		}
	}
	out.Today = now.In(zone).Format(time.DateOnly)
	for i := range out.Lately {
		out.Lately[i].At = out.Lately[i].At.In(zone)
	}
	for _, slots := range [][]post.Slot{out.Next, out.Passed, out.Asked} {
		for i := range slots {
			slots[i].At = slots[i].At.In(zone)
		}
	}
	return out, nil
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
