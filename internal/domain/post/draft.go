package post

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/domain/post/attachment"
	"pressroom.example/pressroom/internal/domain/post/caption"
	"pressroom.example/pressroom/internal/domain/post/excerpt"
	"pressroom.example/pressroom/internal/domain/post/label"
	"pressroom.example/pressroom/internal/domain/post/posttime"
	"pressroom.example/pressroom/internal/domain/post/teamoptions"
	"pressroom.example/pressroom/internal/domain/post/thumbnailcheck"
	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/platform/auditlog"
	"pressroom.example/pressroom/internal/platform/db"
)

// create stores a new draft.
func (s *Service) create(ctx context.Context, call operation.Call, in CreateInput) (operation.Response[Post], error) {
	targets, err := s.findTargets(ctx, call.Reader(s.db), call, in.AccountIDs, nil)
	if err != nil {
		return operation.Response[Post]{}, err
	}
	if err := s.applyOverrides(ctx, call.Reader(s.db), call.TeamID, targets, in.Overrides); err != nil {
		return operation.Response[Post]{}, err
	}
	media, err := s.library.ForPost(ctx, call.Reader(s.db), call.TeamID, in.MediaIDs)
	if err != nil {
		return operation.Response[Post]{}, err
	}
	p := Record{Media: media, ID: uuid.Must(uuid.NewV7()).String(), TeamID: call.TeamID, Status: Draft,
		Caption: in.Caption, Title: caption.Line(in.Title), FirstComment: in.FirstComment,
		Excerpt: excerpt.Of(in.Caption), Approval: NotNeeded, Targets: targets}
	if p.Labels, err = label.Normalize(in.Labels); err != nil {
		return operation.Response[Post]{}, err
	}
	if p.Thread, err = s.findThread(ctx, call.Reader(s.db), call.TeamID, in.Thread); err != nil {
		return operation.Response[Post]{}, err
	}
	if p.TeamOptions, err = teamoptions.Read(ctx, call.Reader(s.db), call.TeamID); err != nil {
		return operation.Response[Post]{}, err
	}
	if in.Options != nil {
		p.Options = *in.Options
		if err := thumbnailcheck.Check(ctx, call.Reader(s.db), s.library, call.TeamID, p.Options); err != nil {
			return operation.Response[Post]{}, err
		}
		if p.OptionMedia, err = attachment.ReadOptions(ctx, call.Reader(s.db), s.library, p.TeamID, p.Options); err != nil {
			return operation.Response[Post]{}, err
		}
	}
	err = call.InTx(ctx, s.db, "post.create", func(ctx context.Context, tx *db.Tx) error {
		p.CreatedAt, p.UpdatedAt = tx.Now(), tx.Now()
		if err := insert(ctx, tx, p, call.PersonID, call.KeyID); err != nil {
			return err
		}
		return auditlog.Record(ctx, tx, p.TeamID, auditlog.NewActor(call), "post.created", p.ID, nil)
	})
	out := s.answer(call, p)
	out.Location = "/posts/" + p.ID
	return out, err
}

// findTargets returns targets for the accounts, in order and without duplicates. Disconnected accounts are accepted
// only if they are in previous.
func (s *Service) findTargets(
	ctx context.Context, q db.Querier, call operation.Call, ids []int64, previous []Target,
) ([]Target, error) {
	found, err := s.accounts.ByID(ctx, q, call.TeamID, ids)
	if err != nil {
		return nil, err
	}
	out := []Target{}
	for _, id := range ids {
		hasID := func(t Target) bool { return t.AccountID == id }
		if slices.ContainsFunc(out, hasID) {
			continue
		}
		if a, ok := found[id]; ok {
			out = append(out, Target{AccountID: id, Platform: a.Platform, NetworkAccountID: a.NetworkID, Username: a.Username,
				Active: a.Active(), State: TargetPending})
			continue
		}
		i := slices.IndexFunc(previous, hasID)
		if i < 0 {
			return nil, apierr.ItemNotFound().With("argument", "account_ids")
		}
		out = append(out, Target{AccountID: id, Platform: previous[i].Platform, NetworkAccountID: previous[i].NetworkAccountID,
			Username: previous[i].Username, State: TargetPending})
	}
	return out, nil
}

// update implements update_post. It replaces the fields that are set.
func (s *Service) update(ctx context.Context, call operation.Call, in UpdateInput) (operation.Response[PostChange], error) {
	var at time.Time
	if in.ScheduledAt.Value != nil {
		var err error
		if at, err = posttime.Parse(call, *in.ScheduledAt.Value); err != nil {
			return operation.Response[PostChange]{}, err
		}
	}
	var p Record
	var before Approval
	err := call.InTx(ctx, s.db, "post.update", func(ctx context.Context, tx *db.Tx) error {
		var err error
		if p, err = s.lockWithFamily(ctx, tx, call.TeamID, in.ID); err != nil {
			return err
		}
		if err := p.checkEditable(); err != nil {
			return err
		}
		before = p.Approval
		if p.Status == Scheduled {
			if err := call.Require(access.Publish); err != nil {
				return err
			}
		}
		return s.applyUpdate(ctx, tx, call, &p, in, at)
	})
	if err != nil {
		return operation.Response[PostChange]{}, err
	}
	full, problems := s.answer(call, p), s.problems(call, p, nil)
	notes := slices.Concat(full.Notes, p.reapprovalNote(before), posttime.DistantNote(call, at))
	return operation.Response[PostChange]{App: full.App, Untrusted: full.Untrusted, Notes: notes,
		Data: PostChange{full.Data, problems}, Summary: full.Summary + summarizeProblems(problems)}, nil
}

func (s *Service) applyUpdate(ctx context.Context, tx *db.Tx, call operation.Call, p *Record, in UpdateInput,
	at time.Time) error {
	fields := []string{}
	for _, part := range []struct {
		name  string
		set   bool
		apply func() (bool, error)
	}{
		{"caption", in.Caption != nil, func() (bool, error) { return setCaption(p, *in.Caption), nil }},
		{"title", in.Title != nil, func() (bool, error) { return caption.Set(&p.Title, caption.Line(*in.Title)), nil }},
		{"media_ids", in.MediaIDs != nil, func() (bool, error) { return s.changeMedia(ctx, tx, p, in.MediaIDs) }},
		{"thread", in.Thread != nil, func() (bool, error) { return s.changeThread(ctx, tx, p, in.Thread) }},
		{"first_comment", in.FirstComment != nil, func() (bool, error) { return caption.Set(&p.FirstComment, *in.FirstComment), nil }},
		{"scheduled_at", in.ScheduledAt.Given, func() (bool, error) { return s.changeTime(ctx, tx, call, p, at) }},
		{"account_ids", in.AccountIDs != nil, func() (bool, error) {
			return s.changeAccounts(ctx, tx, call, p, in.AccountIDs)
		}},
		{"override", in.Overrides != nil, func() (bool, error) { return s.changeOverrides(ctx, tx, p, in.Overrides) }},
		{fieldLabels, in.Labels != nil, func() (bool, error) { return label.Change(ctx, tx, p.ID, &p.Labels, in.Labels) }},
		{"options", in.Options != nil, func() (bool, error) { return s.changeOptions(ctx, tx, p, *in.Options) }},
	} {
		if !part.set {
			continue
		}
		differs, err := part.apply()
		if err != nil {
			return err
		}
		if differs {
			fields = append(fields, part.name)
		}
	}
	switch {
	case len(fields) == 0:
		return nil
	case slices.Equal(fields, []string{fieldLabels}):
		return recordChangeKeepingApproval(ctx, tx, call, p, fields) // Labels are not published.
	}
	return RecordChange(ctx, tx, call, p, fields)
}

const fieldLabels = "labels"

// setCaption sets a post's text and reports whether it changed.
func setCaption(p *Record, caption string) bool {
	differs := caption != p.Caption
	p.Caption, p.Excerpt = caption, excerpt.Of(caption)
	return differs
}

// changeTime sets the scheduled time of a post or the planned time of a draft, and reports whether it changed. The zero
// time clears the planned time of a draft.
func (s *Service) changeTime(
	ctx context.Context, tx *db.Tx, call operation.Call, p *Record, at time.Time,
) (bool, error) {
	switch {
	case at.IsZero() && p.Status == Scheduled:
		return false, errNeedsTime
	case at.Equal(p.ScheduledAt) && p.PlannedDay == "":
		return false, nil
	}
	if p.Status == Scheduled && !posttime.SameMonth(at, p.ScheduledAt, call.Zone) {
		if err := s.checkAllowance(ctx, tx, call, at); err != nil {
			return false, err
		}
	}
	p.ScheduledAt, p.PlannedDay = at, ""
	return true, nil
}

// changeMedia replaces the media of a post and reports whether they changed.
func (s *Service) changeMedia(ctx context.Context, tx *db.Tx, p *Record, ids []int64) (bool, error) {
	wanted, err := s.library.ForPost(ctx, tx, p.TeamID, ids)
	if err != nil {
		return false, err
	}
	if slices.EqualFunc(wanted, p.Media, func(a, b network.Media) bool { return a.ID == b.ID }) {
		return false, nil
	}
	p.Media = attachment.CopyCovers(wanted, p.Media)
	return true, setMedia(ctx, tx, *p)
}

// changeAccounts replaces the accounts of a post and reports whether they changed; see setAccounts.
func (s *Service) changeAccounts(ctx context.Context, tx *db.Tx, call operation.Call, p *Record,
	ids []int64) (bool, error) {
	wanted, err := s.findTargets(ctx, tx, call, ids, nil)
	if err != nil {
		return false, err
	}
	return s.setAccounts(ctx, tx, p, wanted)
}

// reapprovalNote returns a note if the client must decide again because of a change. before is the approval before the
// change.
func (p Record) reapprovalNote(before Approval) []string {
	if before != Approved && before != Rejected || p.Approval != Waiting {
		return nil
	}
	note := "The client had " + string(before) +
		" an earlier version. The changed post needs the client's approval again " +
		"and is not sent without it."
	if p.Status == Scheduled {
		note += " If it is not approved by its scheduled time, its accounts fail with " + CodeMissedApproval + "."
	}
	return []string{note}
}

var errNeedsTime = apierr.BadState(string(Scheduled),
	"A scheduled post needs a time. Cancel the post to make it a draft without one.").
	With("argument", "scheduled_at")
