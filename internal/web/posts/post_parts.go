package posts

import (
	"context"
	"net/http"
	"slices"
	"time"

	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/domain/post"
	"pressroom.example/pressroom/internal/domain/post/calendar"
	"pressroom.example/pressroom/internal/domain/post/postlist"
	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/web/approvals"
	"pressroom.example/pressroom/internal/web/shell"
)

// addDeleted adds the post's deleted files. It adds a note if a file was removed from the post.
func (p *Handlers) addDeleted(ctx context.Context, v *view, zone *time.Location) error {
	var deletedMedia []network.Media
	for _, m := range slices.Concat(append([][]network.Media{v.Stored.Media}, overrides(v.Stored.Targets)...)...) {
		if m.Gone && !slices.ContainsFunc(deletedMedia, func(other network.Media) bool { return other.ID == m.ID }) {
			deletedMedia = append(deletedMedia, m)
		}
	}
	var ids []int64
	for _, m := range deletedMedia {
		ids = append(ids, m.ID)
	}
	deletions, err := p.media.Deletions(ctx, v.Stored.TeamID, ids)
	if err != nil {
		return err
	}
	for _, m := range deletedMedia {
		one := deletions[m.ID]
		v.Deleted = append(v.Deleted, deleted{m.Name, m.Type, one.By, m.Size, one.At.In(zone)})
	}
	taken, err := p.posts.LastChangeRemovedMedia(ctx, v.Stored)
	if taken {
		v.Notes = append(v.Notes,
			v.lang.T("A file of this post was deleted and removed from it. Review the post before it is published."))
	}
	return err
}

// overrides returns the media that replace the post's own media on each account.
func overrides(targets []post.Target) [][]network.Media {
	out := make([][]network.Media, len(targets))
	for i, t := range targets {
		out[i] = t.Media
	}
	return out
}

// addApproval adds the approval history.
func (p *Handlers) addApproval(ctx context.Context, v *view, zone *time.Location) error {
	if err := p.addRounds(ctx, v, zone); err != nil {
		return err
	}
	if v.Stored.Approval == post.Waiting || v.Stored.Approval == post.Rejected {
		var err error
		if v.Link, err = p.approvals.LinkOf(ctx, v.Stored.TeamID, v.Stored.ID); err != nil {
			return err
		}
	}
	threads, err := p.approvals.Threads(ctx, v.Stored.TeamID, []string{v.Stored.ID})
	for _, said := range threads[v.Stored.ID] {
		if said.Decision == "" { // the versions show the decisions
			said.At = said.At.In(zone)
			v.Thread = append(v.Thread, said)
		}
	}
	return err
}

// addRounds adds the versions that were sent to the client, and whether a link to the latest one exists.
func (p *Handlers) addRounds(ctx context.Context, v *view, zone *time.Location) error {
	rounds, err := p.approvals.Rounds(ctx, v.Stored.TeamID, v.Stored.ID)
	if err != nil || len(rounds) == 0 {
		return err
	}
	v.ReviewEvents, err = postlist.ReviewEvents(ctx, p.DB, v.Stored.TeamID, v.Stored.ID)
	for _, one := range rounds {
		if at := v.sentAt(one.Number); !at.IsZero() {
			one.OpenedAt = at
		}
		v.Rounds = append(v.Rounds, round{one, one.OpenedAt.In(zone), one.Decided.In(zone)})
	}
	waits, latest := v.Stored.Approval == post.Waiting, rounds[0]
	v.HasLink, v.Revoked, v.Unsent = latest.HasLink, waits && latest.Revoked, waits && !latest.HasLink && !latest.Revoked
	if v.Stored.Status == post.Draft && v.Stored.Approval == post.Approved {
		v.NotScheduled = string(approvals.ScheduleError(latest.ScheduleError))
	}
	return err
}

// sentAt returns when a version was first sent to the client. It returns the zero time if that is unknown.
func (v *view) sentAt(version int64) time.Time {
	var at time.Time
	for _, s := range v.ReviewEvents {
		if s.Version == version {
			at = s.At
		}
	}
	return at
}

const upcomingShown = 6

// addUpcoming adds the next occurrences of the series.
func (p *Handlers) addUpcoming(ctx context.Context, v *view, zone *time.Location) error {
	slots, err := calendar.Occurrences(ctx, p.DB, v.Stored.TeamID, v.Stored.SeriesID, upcomingShown)
	for _, slot := range slots {
		v.Upcoming = append(v.Upcoming, occurrence{slot, slot.At.In(zone)})
	}
	return err
}

// validate adds the networks' validation errors.
func (p *Handlers) validate(r *http.Request, v *view) error {
	result, _, err := shell.Run[post.Validation](p.Shell, r, "validate_post", operation.Arguments{"post_id": v.ID})
	if err != nil {
		return err
	}
	names := map[int64]string{}
	for _, a := range v.Accounts {
		names[a.ID] = shell.NetworkName(a.Platform) + ", " + a.Username
	}
	for _, one := range result.Problems {
		v.Problems = append(v.Problems,
			problem{one, names[one.AccountID], v.Forecast != nil && !v.Forecast.Rejected && one.Blocking})
		v.Blocked = v.Blocked || one.Blocking
		v.HasLostAccount = v.HasLostAccount || one.Code == "account_inactive"
	}
	return nil
}
