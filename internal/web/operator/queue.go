package operator

import (
	"context"
	"net/http"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/domain/delivery"
	"pressroom.example/pressroom/internal/domain/job"
	"pressroom.example/pressroom/internal/domain/post/due"
	"pressroom.example/pressroom/internal/domain/team/teamsearch"
	"pressroom.example/pressroom/internal/platform/db"
)

const (
	lateThreshold = time.Minute      // delay from which a post counts as late
	slowThreshold = 10 * time.Minute // duration from which work counts as slow
	endedPeriod   = time.Hour        // period whose ended jobs are counted
	failedPeriod  = 24 * time.Hour   // period whose failed jobs are listed
)

// Healthy reports whether nothing is late or slow.
func (v queueView) Healthy() bool {
	return v.Late.Posts == 0 && v.Late.Blocked == 0 && len(v.SlowJobs) == 0 && len(v.Slow) == 0
}

// queueView is the page about background work.
type queueView struct {
	Late        due.LateCount
	Jobs, Ended []job.StateCount
	Deliveries  []delivery.PhaseCount
	SlowJobs    []job.StuckJob
	Slow        []delivery.StuckDelivery
	Failed      []job.FailedJob
	Names       teamsearch.Names // names of the teams whose work is slow or failed
}

func (h *Handlers) queuePage(w http.ResponseWriter, r *http.Request) {
	view, err := h.readQueue(r.Context())
	if err != nil {
		h.ShowError(w, r, err)
		return
	}
	h.Show(w, r, http.StatusOK, pages["queue"], "Background jobs", view)
}

func (h *Handlers) readQueue(ctx context.Context) (queueView, error) {
	var out queueView
	var err error
	now := h.DB.Now()
	if out.Late, err = due.CountLate(ctx, h.DB, now.Add(-lateThreshold)); err != nil {
		return out, err
	}
	if out.Jobs, err = h.Jobs.CountUnfinished(ctx); err != nil {
		return out, err
	}
	if out.Ended, err = h.Jobs.CountEnded(ctx, now.Add(-endedPeriod)); err != nil {
		return out, err
	}
	if out.Deliveries, err = h.Delivery.CountByPhase(ctx); err != nil {
		return out, err
	}
	if out.SlowJobs, err = h.Jobs.ListStuck(ctx, now.Add(-slowThreshold)); err != nil {
		return out, err
	}
	if out.Slow, err = h.Delivery.ListStuck(ctx, now.Add(-slowThreshold)); err != nil {
		return out, err
	}
	if out.Failed, err = h.Jobs.ListFailed(ctx, now.Add(-failedPeriod)); err != nil {
		return out, err
	}
	var teams []int64
	for _, item := range out.Failed {
		teams = append(teams, item.TeamID)
	}
	for _, item := range out.SlowJobs {
		teams = append(teams, item.TeamID)
	}
	for _, item := range out.Slow {
		teams = append(teams, item.TeamID)
	}
	out.Names, err = teamsearch.TeamNames(ctx, h.DB, teams)
	return out, err
}

// teamNamesOf returns the names of the teams of items.
func teamNamesOf[T any](ctx context.Context, d *db.DB, items []T, team func(T) int64) (teamsearch.Names, error) {
	ids := make([]int64, len(items))
	for i, one := range items {
		ids[i] = team(one)
	}
	return teamsearch.TeamNames(ctx, d, ids)
}

func (h *Handlers) wake(w http.ResponseWriter, r *http.Request) {
	if !h.ReadForm(w, r) {
		return
	}
	var err error
	if id := r.PostForm.Get("job"); id != "" {
		err = h.Jobs.Wake(r.Context(), id)
	} else {
		err = h.Delivery.Wake(r.Context(), r.PostForm.Get("delivery"))
	}
	switch {
	case apierr.Is(err, apierr.NotFound):
		h.finish(w, r, h.T(r, "Nothing was started. The work has ended, is running, or is scheduled for later."),
			"/operator/queue")
	case err != nil:
		h.ShowError(w, r, err)
	default:
		h.finish(w, r, h.T(r, "Triggered. It starts within a second or two."), "/operator/queue")
	}
}
