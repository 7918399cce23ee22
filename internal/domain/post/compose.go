package post

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/domain/post/attachment"
	"pressroom.example/pressroom/internal/domain/post/caption"
	"pressroom.example/pressroom/internal/domain/post/excerpt"
	"pressroom.example/pressroom/internal/domain/post/override"
	"pressroom.example/pressroom/internal/domain/post/posttime"
	"pressroom.example/pressroom/internal/domain/post/teamoptions"
	"pressroom.example/pressroom/internal/domain/post/thread"
	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/platform/auditlog"
	"pressroom.example/pressroom/internal/platform/db"
)

// maxAccounts is the maximum number of accounts of a post. maxMedia is the maximum number of media items of each part
// and each override. CreateInput has the same limits.
const (
	maxAccounts = 100
	maxMedia    = 50
)

// Composition is the content of a post that a person edits in one form.
type Composition struct {
	Caption      string
	Title        *string                     // nil keeps the current titles, also those of overrides
	Accounts     []int64                     // account IDs, in order
	Media        []int64                     // media IDs, in order
	Thread       []ThreadPart                // parts after the post itself, in order
	FirstComment string                      // comment that each account adds to its post; empty for none
	Overrides    map[int64]override.Override // overrides by account
	Covers       map[int64]time.Duration     // cover times by video ID; the network chooses missing ones
	At           time.Time                   // scheduled time, or planned time of a draft; zero if there is none
	Options      *network.Options            // settings for individual networks; nil keeps the current settings
	Day          string                      // planned date of a draft without a time, such as 2026-03-29; or empty
	Rule         string                      // recurrence rule of a template; empty keeps the current rule

	Scheduling bool // whether the caller schedules the post for At next
	OnlyTime   bool // whether to change only At and Day
}

// AccountCheck is the result of checking a composition for one account.
type AccountCheck struct {
	Target   Target
	Content  network.Content
	Measures []network.Measure // empty if the network does not document how it measures content
	Problems []PostProblem     // as returned by validate_post
}

// CompositionCheck is the result of CheckComposition.
type CompositionCheck struct {
	Post     Record         // the post that saving the composition would create
	Previews []AccountCheck // one per account, in order
	Left     int64          // posts left in the month of publication; plan.Unlimited if the plan has no limit
}

// CheckComposition validates a composition as validate_post does, but does not store it. It returns not_found for
// accounts and media that the team does not have. Disconnected accounts are accepted if they are in previous.
func (s *Service) CheckComposition(ctx context.Context, actor *access.Actor, c Composition,
	previous []Target) (CompositionCheck, error) {
	call := operation.Call{Actor: actor, Now: s.db.Now()}
	p, err := s.compose(ctx, s.db, call, c, previous)
	if err != nil {
		return CompositionCheck{}, err
	}
	out := CompositionCheck{Post: p}
	month := call.Now
	if p.ScheduledAt.After(month) {
		month = p.ScheduledAt
	}
	if out.Left, err = s.postsLeft(ctx, s.db, call, month); err != nil {
		return CompositionCheck{}, err
	}
	for _, t := range p.Targets {
		check := AccountCheck{Target: t, Content: p.Content(t, call.Language),
			Problems: s.problems(call, Record{Caption: p.Caption, Title: p.Title, Media: p.Media, Thread: p.Thread,
				FirstComment: p.FirstComment, Options: p.Options, OptionMedia: p.OptionMedia, TeamOptions: p.TeamOptions,
				Targets: []Target{t}}, nil)}
		if rules, ok := s.accounts.Rules(t.Platform); ok {
			check.Measures = rules.Measure(check.Content)
		}
		out.Previews = append(out.Previews, check)
	}
	return out, nil
}

// compose returns the post that a composition describes, without storing it.
func (s *Service) compose(ctx context.Context, q db.Querier, call operation.Call, c Composition,
	previous []Target) (Record, error) {
	p := Record{TeamID: call.TeamID, Status: Draft, Caption: c.Caption, Title: caption.Line(network.ValueOrZero(c.Title)),
		FirstComment: c.FirstComment, Excerpt: excerpt.Of(c.Caption), Approval: NotNeeded,
		ScheduledAt: c.At, PlannedDay: c.Day, Targets: []Target{}}
	if c.Options != nil {
		p.Options = *c.Options
	}
	var err error
	if p.OptionMedia, err = attachment.ReadOptions(ctx, q, s.library, p.TeamID, p.Options); err != nil {
		return p, err
	}
	if p.TeamOptions, err = teamoptions.Read(ctx, q, call.TeamID); err != nil {
		return p, err
	}
	if p.Media, err = s.library.ForPost(ctx, q, call.TeamID, c.Media); err != nil {
		return p, err
	}
	c.setCovers(p.Media)
	if p.Thread, err = s.findThread(ctx, q, call.TeamID, c.Thread); err != nil {
		return p, err
	}
	for _, part := range p.Thread {
		c.setCovers(part.Media)
	}
	if len(c.Accounts) == 0 {
		return p, nil
	}
	if p.Targets, err = s.findTargets(ctx, q, call, c.Accounts, previous); err != nil {
		return p, err
	}
	if err = s.findOverrides(ctx, q, call.TeamID, p.Targets, c.Overrides); err != nil {
		return p, err
	}
	for _, t := range p.Targets {
		c.setCovers(t.Media)
	}
	return p, nil
}

// setCovers sets the cover times of videos.
func (c Composition) setCovers(media []network.Media) {
	for i := range media {
		if media[i].Kind == network.Video {
			media[i].Cover = c.Covers[media[i].ID]
		}
	}
}

// Validate returns the first error that Errors returns, or nil if there are no errors.
func (c Composition) Validate() error {
	if errs := c.Errors(); len(errs) > 0 {
		return errs[0]
	}
	return nil
}

// Errors returns the errors that can be found without the database. The argument of an error is caption, title,
// first_comment, media_ids, account_ids, text-ID or title-ID for the override of the account with that ID, or part-N
// for a part of the thread.
func (c Composition) Errors() []error {
	out := []error{}
	add := func(err error) {
		if err != nil {
			out = append(out, err)
		}
	}
	add(caption.Check(c.Caption, "caption"))
	add(caption.CheckTitle(network.ValueOrZero(c.Title), "title"))
	mediaCount := len(c.Media)
	for _, account := range slices.Sorted(maps.Keys(c.Overrides)) {
		o := c.Overrides[account]
		if o.Caption != nil {
			add(caption.Check(*o.Caption, fmt.Sprintf("text-%d", account)))
		}
		if o.Title != nil {
			add(caption.CheckTitle(*o.Title, fmt.Sprintf("title-%d", account)))
		}
		mediaCount = max(mediaCount, len(o.Media))
	}
	for i, part := range c.Thread {
		add(caption.Check(part.Caption, fmt.Sprintf("part-%d", i+1)))
		mediaCount = max(mediaCount, len(part.MediaIDs))
	}
	add(caption.Check(c.FirstComment, "first_comment"))
	if mediaCount > maxMedia {
		add(apierr.Invalidf(apierr.TooLong, "media_ids",
			"A post may have at most %d images and videos.", maxMedia))
	}
	if len(c.Accounts) > maxAccounts {
		add(apierr.Invalidf(apierr.TooLong, "account_ids", "A post may have at most %d accounts.",
			maxAccounts))
	}
	return out
}

// errNoAccount is returned for a post that needs an account but has none.
var errNoAccount = apierr.Invalid(apierr.MissingArgument, "account_ids", "Select at least one account.")

// Compose replaces the content of a draft, a scheduled post or the template of a paused series, in one transaction.
// expectedUpdatedAt is UpdatedAt of the version that the person edited. If the post has changed since then, Compose
// returns wrong_state with the state "changed".
//
// A template keeps its time. Its series uses the new rule when it resumes.
//
// An approved draft stays approved if only its time changes and either it had no time before or c.Scheduling is set.
// Such a change does not create a new version for the client to approve.
func (s *Service) Compose(ctx context.Context, actor *access.Actor, postID string, expectedUpdatedAt time.Time,
	c Composition) (Record, error) {
	call := operation.Call{Actor: actor, Now: s.db.Now()}
	if err := call.Require(access.Write); err != nil {
		return Record{}, err
	}
	if err := c.Validate(); err != nil {
		return Record{}, err
	}
	var p Record
	err := s.db.InTx(ctx, "post.compose", func(ctx context.Context, tx *db.Tx) error {
		var err error
		if p, err = s.lockWithFamily(ctx, tx, call.TeamID, postID); err != nil {
			return err
		}
		if err := p.checkComposableBy(call); err != nil {
			return err
		}
		desired := p
		if desired.ScheduledAt, desired.PlannedDay = c.At, c.Day; !c.OnlyTime {
			if desired, err = s.compose(ctx, tx, call, c, p.Targets); err != nil {
				return err
			}
		}
		if !p.UpdatedAt.Equal(expectedUpdatedAt) {
			return apierr.BadState("changed",
				"Somebody else has changed the post, so nothing was saved. Reload the page and edit it again.")
		}
		if err := p.checkNewContent(desired); err != nil {
			return err
		}
		desired.Series.Rule = c.Rule
		if c.Title == nil {
			keepTitles(&desired, p)
		}
		if c.Options == nil {
			desired.Options = p.Options
		}
		timeIsFree := p.Approval == Approved && p.Status == Draft && (p.ScheduledAt.IsZero() || c.Scheduling)
		return s.applyComposition(ctx, tx, call, &p, desired, timeIsFree)
	})
	return p, err
}

// checkComposableBy returns an error if the caller may not change the post.
func (p Record) checkComposableBy(call operation.Call) error {
	if err := p.CheckComposable(); err != nil {
		return err
	}
	if p.Status == Scheduled && !p.IsTemplate {
		return call.Require(access.Publish)
	}
	return nil
}

// CheckComposable returns an error if the state of the post does not allow changes.
func (p Record) CheckComposable() error {
	switch {
	case p.IsTemplate && p.Status == Draft:
		return nil
	case p.IsTemplate:
		return apierr.BadState("recurring_template", "Pause the series before you change its template.")
	}
	return p.checkEditable()
}

// applyComposition changes a post to the desired content and records the changed fields. If timeIsFree is set and only
// the time changes, the post keeps its approval.
func (s *Service) applyComposition(ctx context.Context, tx *db.Tx, call operation.Call, p *Record, desired Record,
	timeIsFree bool,
) error {
	fields := []string{}
	for _, part := range []struct {
		name  string
		apply func() (bool, error)
	}{
		{"caption", func() (bool, error) { return setCaption(p, desired.Caption), nil }},
		{"title", func() (bool, error) { return caption.Set(&p.Title, desired.Title), nil }},
		{"media_ids", func() (bool, error) {
			if attachment.Same(p.Media, desired.Media) {
				return false, nil
			}
			p.Media = desired.Media
			return true, setMedia(ctx, tx, *p)
		}},
		{"thread", func() (bool, error) {
			if thread.Same(p.Thread, desired.Thread) {
				return false, nil
			}
			p.Thread = desired.Thread
			return true, setMedia(ctx, tx, *p)
		}},
		{"first_comment", func() (bool, error) { return caption.Set(&p.FirstComment, desired.FirstComment), nil }},
		{"scheduled_at", func() (bool, error) { return s.setTime(ctx, tx, call, p, desired) }},
		{"options", func() (bool, error) { return s.storeOptions(ctx, tx, p, desired.Options) }},
		{"account_ids", func() (bool, error) { return s.setAccounts(ctx, tx, p, desired.Targets) }},
		{"override", func() (bool, error) { return setOverrides(ctx, tx, p, desired.Targets) }},
	} {
		differs, err := part.apply()
		if err != nil {
			return err
		}
		if differs {
			fields = append(fields, part.name)
		}
	}
	ruleChanged, err := setRule(ctx, tx, p, desired.Series.Rule)
	switch {
	case err != nil:
		return err
	case len(fields) > 0 && ruleChanged:
		fields = append(fields, "rule")
	case ruleChanged:
		return recordChangeKeepingApproval(ctx, tx, call, p, []string{"rule"})
	case len(fields) == 0:
		return nil
	case timeIsFree && slices.Equal(fields, []string{"scheduled_at"}):
		return recordChangeKeepingApproval(ctx, tx, call, p, fields)
	}
	return RecordChange(ctx, tx, call, p, fields)
}

// recordChangeKeepingApproval stores and records a change that does not require the client's approval again.
func recordChangeKeepingApproval(ctx context.Context, tx *db.Tx, call operation.Call, p *Record, fields []string) error {
	if err := Update(ctx, tx, p); err != nil {
		return err
	}
	detail := map[string]any{"changed": fields, "approval": p.Approval}
	return auditlog.Record(ctx, tx, p.TeamID, auditlog.NewActor(call), "post.changed", p.ID, detail)
}

// setTime sets a post's time or planned day and reports whether this changed the post. It ignores templates and rejects
// new times in the past.
func (s *Service) setTime(ctx context.Context, tx *db.Tx, call operation.Call, p *Record, desired Record) (bool, error) {
	at := desired.ScheduledAt
	switch {
	case p.IsTemplate || at.Equal(p.ScheduledAt) && p.PlannedDay == desired.PlannedDay:
		return false, nil
	case at.IsZero() && p.Status == Draft:
		p.ScheduledAt, p.PlannedDay = at, desired.PlannedDay
		return true, nil
	case at.IsZero() && p.Status == Scheduled:
		return false, apierr.Invalid(apierr.MissingArgument, "scheduled_at",
			"A scheduled post needs a time. To unschedule it, use the action on its page.")
	}
	if err := posttime.CheckFuture(call, at); err != nil {
		return false, err
	}
	return s.changeTime(ctx, tx, call, p, at)
}

// setAccounts replaces a post's accounts and reports whether they changed. Accounts that remain keep their overrides.
func (s *Service) setAccounts(ctx context.Context, tx *db.Tx, p *Record, targets []Target) (bool, error) {
	if slices.EqualFunc(targets, p.Targets, func(a, b Target) bool { return a.AccountID == b.AccountID }) {
		return false, nil
	}
	if err := s.checkNotHeld(ctx, tx, *p, targets); err != nil {
		return false, err
	}
	if err := removeOtherTargets(ctx, tx, p.ID, accountIDs(targets)); err != nil {
		return false, err
	}
	if err := insertTargets(ctx, tx, p.ID, targets); err != nil {
		return false, err
	}
	var err error
	p.Targets, err = s.readTargets(ctx, tx, p.TeamID, p.ID)
	return true, err
}
