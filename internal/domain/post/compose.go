package post

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"pressroom/internal/apierr"
	"pressroom/internal/auth/apikey"
	"pressroom/internal/core/access"
	"pressroom/internal/core/operation"
	"pressroom/internal/network"
	"pressroom/internal/platform/auditlog"
	"pressroom/internal/platform/db"
)

// Limits of a post, as in CreateInput.
const (
	maxAccounts = 100
	maxMedia    = 50
)

// Composition is everything that a person edits of a post at once.
type Composition struct {
	Caption   string
	Accounts  []int64
	Media     []int64                 // ids in the library, in order
	Overrides map[int64]Override      // overrides by account
	Covers    map[int64]time.Duration // by video; see SetCover
	At        time.Time               // scheduled time, or the planned time of a draft; may be zero
	Options   *network.Options        // choices for single networks; nil keeps the current ones
	Day       string                  // planned date of a draft without a time, as 2026-03-29; may be empty
	Rule      string                  // recurrence rule of a template; empty keeps the current one

	Scheduling bool // the post is scheduled for At afterwards
	OnlyTime   bool // only At and Day are changed; the post keeps everything else
}

// AccountCheck is what is known of one account of a composition before it is stored.
type AccountCheck struct {
	Target   Target
	Content  network.Content
	Measures []network.Measure // empty if the network does not document how it counts
	Problems []PostProblem     // as in validate_post
}

// CompositionCheck is the post that a composition would become.
type CompositionCheck struct {
	Post     Record
	Previews []AccountCheck // by account, in order
	Left     int64          // posts left in the month; plan.Unlimited without a limit
}

// CheckComposition checks a composition by the rules of validate_post without storing it. It returns not_found
// for accounts and media that the team does not have. Accounts in had may have been disconnected.
func (s *Service) CheckComposition(ctx context.Context, actor *access.Actor, c Composition,
	had []Target) (CompositionCheck, error) {
	call := operation.Call{Actor: actor, Now: s.db.Now()}
	p, err := s.compose(ctx, s.db, call, c, had)
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
		o := AccountCheck{Target: t, Content: p.Content(t, call.Language),
			Problems: s.problems(call, Record{Caption: p.Caption, Media: p.Media, Options: p.Options,
				Targets: []Target{t}}, nil)}
		if rules, ok := s.accounts.Rules(t.Platform); ok {
			o.Measures = rules.Measure(o.Content)
		}
		out.Previews = append(out.Previews, o)
	}
	return out, nil
}

// compose returns the post that a composition would become.
func (s *Service) compose(ctx context.Context, q db.Querier, call operation.Call, c Composition,
	had []Target) (Record, error) {
	p := Record{TeamID: call.TeamID, Status: Draft, Caption: c.Caption, Excerpt: excerpt(c.Caption),
		Approval: NotNeeded, ScheduledAt: c.At, PlannedDay: c.Day, Targets: []Target{}}
	if c.Options != nil {
		p.Options = *c.Options
	}
	var err error
	if p.Media, err = s.library.ForPost(ctx, q, call.TeamID, c.Media); err != nil {
		return p, err
	}
	c.setCovers(p.Media)
	if len(c.Accounts) == 0 {
		return p, nil
	}
	if p.Targets, err = s.findTargets(ctx, q, call, c.Accounts, had); err != nil {
		return p, err
	}
	for i := range p.Targets {
		t := &p.Targets[i]
		own := c.Overrides[t.AccountID]
		t.Caption = own.Caption
		if own.Media == nil {
			continue
		}
		if t.Media, err = s.library.ForPost(ctx, q, call.TeamID, own.Media); err != nil {
			return p, err
		}
		c.setCovers(t.Media)
	}
	return p, nil
}

// setCovers sets the covers of videos.
func (c Composition) setCovers(media []network.Media) {
	for i := range media {
		if media[i].Kind == network.Video {
			media[i].Cover = c.Covers[media[i].ID]
		}
	}
}

// Validate returns the first of Errors.
func (c Composition) Validate() error {
	if errs := c.Errors(); len(errs) > 0 {
		return errs[0]
	}
	return nil
}

// Errors returns everything that keeps a draft from having this composition. The argument is caption, text- with the
// account of an override, media_ids or account_ids.
func (c Composition) Errors() []error {
	out := []error{}
	add := func(err error) {
		if err != nil {
			out = append(out, err)
		}
	}
	add(checkText(c.Caption, "caption"))
	most := len(c.Media)
	for _, account := range slices.Sorted(maps.Keys(c.Overrides)) {
		own := c.Overrides[account]
		if own.Caption != nil {
			add(checkText(*own.Caption, fmt.Sprintf("text-%d", account)))
		}
		most = max(most, len(own.Media))
	}
	if most > maxMedia {
		add(apierr.Invalidf(apierr.TooLong, "media_ids",
			"A post may have at most %d images and videos.", maxMedia))
	}
	if len(c.Accounts) > maxAccounts {
		add(apierr.Invalidf(apierr.TooLong, "account_ids", "A post may have at most %d accounts.",
			maxAccounts))
	}
	return out
}

// checkText returns why no post may have a text.
func checkText(text, argument string) error {
	switch {
	case utf8.RuneCountInString(text) > MaxCaption:
		return apierr.Invalidf(apierr.TooLong, argument, "A text may have at most %d characters.",
			MaxCaption)
	case !utf8.ValidString(text) || strings.ContainsRune(text, 0):
		return apierr.Invalid(apierr.Malformed, argument, "The text contains invalid characters.")
	case apikey.In(text):
		return apierr.Invalid(apierr.SecretInArgument, argument,
			"The text contains an API key or an upload secret and was not saved. Remove the secret, and replace "+
				"it if others may have seen it.")
	}
	return nil
}

// errNoAccount is the error for a post without an account that needs one.
var errNoAccount = apierr.Invalid(apierr.MissingArgument, "account_ids", "Select at least one account.")

// Compose replaces the content of a draft, a scheduled post or the template of a paused series, completely or
// not at all. seen is when the person's copy of the post was last changed: if the post has changed since,
// Compose returns wrong_state with the state changed.
//
// A template keeps its time, and its series uses the new rule once it continues. An approved draft stays
// approved if only its time changes and it had none or is scheduled next, because scheduling creates no new
// version for the client.
func (s *Service) Compose(ctx context.Context, actor *access.Actor, postID string, seen time.Time,
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
		wanted := p
		if wanted.ScheduledAt, wanted.PlannedDay = c.At, c.Day; !c.OnlyTime {
			if wanted, err = s.compose(ctx, tx, call, c, p.Targets); err != nil {
				return err
			}
		}
		if !p.UpdatedAt.Equal(seen) {
			return apierr.BadState("changed",
				"Somebody else has changed the post, so nothing was saved. Reload the page and edit it again.")
		}
		if err := p.checkWanted(wanted); err != nil {
			return err
		}
		wanted.Series.Rule = c.Rule
		if c.Options == nil {
			wanted.Options = p.Options
		}
		timeIsFree := p.Approval == Approved && p.Status == Draft && (p.ScheduledAt.IsZero() || c.Scheduling)
		return s.applyComposition(ctx, tx, call, &p, wanted, timeIsFree)
	})
	return p, err
}

// checkComposableBy returns why the caller may not change the post.
func (p Record) checkComposableBy(call operation.Call) error {
	if err := p.CheckComposable(); err != nil {
		return err
	}
	if p.Status == Scheduled && !p.IsTemplate {
		return call.Require(access.Publish)
	}
	return nil
}

// CheckComposable returns why nobody may change the post.
func (p Record) CheckComposable() error {
	switch {
	case p.IsTemplate && p.Status == Draft:
		return nil
	case p.IsTemplate:
		return apierr.BadState("recurring_template", "Pause the series before you change its template.")
	}
	return p.checkEditable()
}

// applyComposition changes a post to what is wanted and records the differences. If timeIsFree is set, a change
// of time alone does not need the client's approval.
func (s *Service) applyComposition(ctx context.Context, tx *db.Tx, call operation.Call, p *Record, wanted Record,
	timeIsFree bool,
) error {
	what := []string{}
	for _, part := range []struct {
		name  string
		apply func() (bool, error)
	}{
		{"caption", func() (bool, error) { return setCaption(p, wanted.Caption), nil }},
		{"media_ids", func() (bool, error) {
			if sameMedia(p.Media, wanted.Media) {
				return false, nil
			}
			p.Media = wanted.Media
			return true, setMedia(ctx, tx, *p)
		}},
		{"scheduled_at", func() (bool, error) { return s.setTime(ctx, tx, call, p, wanted) }},
		{"options", func() (bool, error) { return setOptions(p, wanted.Options), nil }},
		{"account_ids", func() (bool, error) { return s.setAccounts(ctx, tx, p, wanted.Targets) }},
		{"override", func() (bool, error) { return setOverrides(ctx, tx, p, wanted.Targets) }},
	} {
		differs, err := part.apply()
		if err != nil {
			return err
		}
		if differs {
			what = append(what, part.name)
		}
	}
	ruled, err := setRule(ctx, tx, p, wanted.Series.Rule)
	switch {
	case err != nil:
		return err
	case len(what) > 0 && ruled:
		what = append(what, "rule")
	case ruled:
		return recordSilentChange(ctx, tx, call, p, []string{"rule"})
	case len(what) == 0:
		return nil
	case timeIsFree && slices.Equal(what, []string{"scheduled_at"}):
		return recordSilentChange(ctx, tx, call, p, what)
	}
	return recordChange(ctx, tx, call, p, what)
}

// recordSilentChange records a change that keeps the client's decision.
func recordSilentChange(ctx context.Context, tx *db.Tx, call operation.Call, p *Record, what []string) error {
	if err := Update(ctx, tx, p); err != nil {
		return err
	}
	detail := map[string]any{"changed": what, "approval": p.Approval}
	return auditlog.Record(ctx, tx, p.TeamID, auditlog.NewActor(call), "post.changed", p.ID, detail)
}

// setTime changes a post's time or planned day. A time in the past is accepted only if the post already had it.
func (s *Service) setTime(ctx context.Context, tx *db.Tx, call operation.Call, p *Record, wanted Record) (bool, error) {
	at := wanted.ScheduledAt
	switch {
	case p.IsTemplate || at.Equal(p.ScheduledAt) && p.PlannedDay == wanted.PlannedDay:
		return false, nil
	case at.IsZero() && p.Status == Draft:
		p.ScheduledAt, p.PlannedDay = at, wanted.PlannedDay
		return true, nil
	case at.IsZero() && p.Status == Scheduled:
		return false, apierr.Invalid(apierr.MissingArgument, "scheduled_at",
			"A scheduled post needs a time. To unschedule it, use the action on its page.")
	}
	if err := checkFutureTime(call, at); err != nil {
		return false, err
	}
	return s.changeTime(ctx, tx, call, p, at)
}

// setAccounts changes a post's accounts and reports whether they differ. Remaining accounts keep their
// overrides.
func (s *Service) setAccounts(ctx context.Context, tx *db.Tx, p *Record, wanted []Target) (bool, error) {
	if slices.EqualFunc(wanted, p.Targets, func(a, b Target) bool { return a.AccountID == b.AccountID }) {
		return false, nil
	}
	if err := s.checkNotHeld(ctx, tx, *p, wanted); err != nil {
		return false, err
	}
	kept := make([]int64, len(wanted))
	for i, t := range wanted {
		kept[i] = t.AccountID
	}
	if err := removeOtherTargets(ctx, tx, p.ID, kept); err != nil {
		return false, err
	}
	if err := insertTargets(ctx, tx, p.ID, wanted); err != nil {
		return false, err
	}
	var err error
	p.Targets, err = s.readTargets(ctx, tx, p.TeamID, p.ID)
	return true, err
}

// setOverrides changes the accounts' overrides and reports whether they differ.
func setOverrides(ctx context.Context, tx *db.Tx, p *Record, wanted []Target) (bool, error) {
	differs := false
	for i := range p.Targets {
		t, w := &p.Targets[i], wanted[i]
		if t.sameOverride(w) {
			continue
		}
		differs = true
		t.Caption, t.Media = w.Caption, w.Media
		if err := setOverride(ctx, tx, p.ID, *t); err != nil {
			return false, err
		}
	}
	return differs, nil
}

// sameOverride reports whether a target overrides the same as another.
func (t Target) sameOverride(w Target) bool {
	sameText := (t.Caption == nil) == (w.Caption == nil) && (t.Caption == nil || *t.Caption == *w.Caption)
	return sameText && (t.Media == nil) == (w.Media == nil) && sameMedia(t.Media, w.Media)
}

func sameMedia(a, b []network.Media) bool {
	return slices.EqualFunc(a, b, func(a, b network.Media) bool { return a.ID == b.ID && a.Cover == b.Cover })
}
