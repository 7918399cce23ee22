package web

import (
	"fmt"
	"net/http"
	"strconv"
	"time"

	"pressroom/internal/post"
	"pressroom/internal/problem"
	"pressroom/internal/social"
	"pressroom/internal/web/frame"
)

// front is what everybody sees.
type front struct{ PublicURL string }

func (a *App) home(w http.ResponseWriter, r *http.Request) {
	if frame.VisitorOf(r.Context()) == nil {
		a.Show(w, r, http.StatusOK, pages["front"], "pressroom", front{a.PublicURL})
		return
	}
	view, err := a.today(r)
	if err != nil {
		a.Refuse(w, r, err)
		return
	}
	a.Show(w, r, http.StatusOK, pages["home"], frame.VisitorOf(r.Context()).Team.Name, view)
}

const (
	homePosts  = 5 // that the first page shows of each sort
	homeAiling = 3
	homeAhead  = 14 * 24 * time.Hour
)

// today is what the looked-at team is about now.
type today struct {
	front
	social.Standing

	Open   bool        // whether the team is there to work in
	Passed []post.Slot // drafts whose time has passed, for those who can decide about them
	Today  string      // the team's day
	Next   []post.Slot
	More   bool // whether there are more of them
	Lately []post.Slot
}

// today reads it. Of a team that is closed, or of none, it is empty.
func (a *App) today(r *http.Request) (today, error) {
	ctx, team, now := r.Context(), frame.VisitorOf(r.Context()).Team, a.DB.Now()
	out := today{front: front{a.PublicURL}, Open: team.ID > 0 && !team.Closed}
	if !out.Open {
		return out, nil
	}
	zone, err := time.LoadLocation(team.Timezone)
	if err != nil {
		return out, fmt.Errorf("loading the team's time zone: %w", err)
	}
	if out.Standing, err = a.Connector.Accounts.Standing(ctx, team.ID, homeAiling); err != nil {
		return out, err
	}
	ahead, err := a.Posts.Calendar(ctx, team.ID, 0, []time.Time{now, now.Add(homeAhead)}, homePosts)
	if err != nil {
		return out, err
	}
	out.Next, out.More = ahead[0].Slots, ahead[0].More
	if out.Lately, err = a.Posts.Lately(ctx, team.ID, now, homePosts); err != nil {
		return out, err
	}
	if frame.VisitorOf(ctx).Is(frame.Writers) {
		if out.Passed, err = a.Posts.Passed(ctx, team.ID, now, homePosts); err != nil {
			return out, err
		}
	}
	out.Today = now.In(zone).Format(time.DateOnly)
	for _, slots := range [][]post.Slot{out.Next, out.Lately, out.Passed} {
		for i := range slots {
			slots[i].At = slots[i].At.In(zone)
		}
	}
	return out, nil
}

func (a *App) errorReference(w http.ResponseWriter, r *http.Request) {
	a.Show(w, r, http.StatusOK, pages["errors"], "Error reference", problem.Entries())
}

// switchTeam changes which team the person looks at.
func (a *App) switchTeam(w http.ResponseWriter, r *http.Request) {
	if !a.ReadForm(w, r) {
		return
	}
	id, err := strconv.ParseInt(r.PostForm.Get("team"), 10, 64)
	if v := frame.VisitorOf(r.Context()); err != nil || frame.LookedAt(v.Account, id).ID != id {
		a.Missing(w, r)
		return
	}
	a.LookAt(r.Context(), id)
	frame.Redirect(w, r, "/")
}
