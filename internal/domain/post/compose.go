package post

import (
	"context"
	"fmt"
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

// What a post has at most, as CreateInput says.
const (
	maxAccounts = 100
	maxMedia    = 50
)

// Composition is all that a person writes of a post at once.
type Composition struct {
	Caption  string
	Accounts []int64
	Media    []int64                 // of the library, in their order
	Own      map[int64]Override      // what accounts show in place of it
	Covers   map[int64]time.Duration // of videos, by their ids: see SetCover
	At       time.Time               // when it is to go out, or of a draft is wished to; zero where that is open
	Rule     string                  // of the template of a series: by which it recurs; the one that it has where empty

	Scheduling bool // the post is scheduled for At next
}

// AccountCheck is what is known of one account of a piece before anything is kept.
type AccountCheck struct {
	Target   Target
	Content  network.Content
	Measures []network.Measure // none where the network does not tell how it counts
	Problems []Problem         // as validate_post tells them
}

// CompositionCheck is a piece as it would be kept.
type CompositionCheck struct {
	Post     Post
	Outlooks []AccountCheck // of its accounts, in their order
	Left     int64          // posts that the plan still allows in the month, terms.Unlimited where there is no bound
}

// CheckComposition looks at a piece that nothing is kept of, by the rules of validate_post. It is not_found, by the argument, for
// accounts and media that the team does not have. Accounts that a post had before it was written anew, if it is that, may
// have been disconnected since.
func (s *Service) CheckComposition(ctx context.Context, actor *access.Actor, c Composition, had []Target) (CompositionCheck, error) {
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
		o := AccountCheck{Target: t, Content: p.Content(t, call.Language), Problems: s.problems(call, Post{Caption: p.Caption, Media: p.Media, Targets: []Target{t}}, nil)}
		if rules, ok := s.accounts.Rules(t.Platform); ok {
			o.Measures = rules.Measure(o.Content)
		}
		out.Outlooks = append(out.Outlooks, o)
	}
	return out, nil
}

// compose is the post that a piece would be kept as.
func (s *Service) compose(ctx context.Context, q db.Querier, call operation.Call, c Composition, had []Target) (Post, error) {
	p := Post{TeamID: call.TeamID, Status: Draft, Caption: c.Caption, Excerpt: excerpt(c.Caption), Approval: NotNeeded, ScheduledAt: c.At, Targets: []Target{}}
	var err error
	if p.Media, err = s.library.Of(ctx, q, call.TeamID, c.Media); err != nil {
		return p, err
	}
	c.setCovers(p.Media)
	if len(c.Accounts) == 0 {
		return p, nil
	}
	if p.Targets, err = s.findTargets(ctx, call, c.Accounts, had); err != nil {
		return p, err
	}
	for i := range p.Targets {
		t := &p.Targets[i]
		own := c.Own[t.AccountID]
		t.Caption = own.Caption
		if own.Media == nil {
			continue
		}
		if t.Media, err = s.library.Of(ctx, q, call.TeamID, own.Media); err != nil {
			return p, err
		}
		c.setCovers(t.Media)
	}
	return p, nil
}

// setCovers gives videos the frames that stand for them.
func (c Composition) setCovers(media []network.Media) {
	for i := range media {
		if media[i].Kind == network.Video {
			media[i].Cover = c.Covers[media[i].ID]
		}
	}
}

// Validate refuses what no post can be kept as.
func (c Composition) Validate() error {
	texts := []string{c.Caption}
	media := [][]int64{c.Media}
	for _, own := range c.Own {
		if own.Caption != nil {
			texts = append(texts, *own.Caption)
		}
		media = append(media, own.Media)
	}
	for _, text := range texts {
		switch {
		case utf8.RuneCountInString(text) > MaxCaption:
			return apierr.Invalid(apierr.TooLong, "caption", fmt.Sprintf("A text has at most %d characters.", MaxCaption))
		case !utf8.ValidString(text) || strings.ContainsRune(text, 0):
			return apierr.Invalid(apierr.Malformed, "caption", "The text holds characters that are not text.")
		case apikey.In(text):
			return apierr.Invalid(apierr.SecretInArgument, "caption", "The text holds an API key or an upload secret. Nothing was kept; take it out, and replace the secret if others can have seen it.")
		}
	}
	for _, ids := range media {
		if len(ids) > maxMedia {
			return apierr.Invalid(apierr.TooLong, "media_ids", fmt.Sprintf("A post has at most %d images and videos.", maxMedia))
		}
	}
	switch {
	case len(c.Accounts) == 0:
		return apierr.Invalid(apierr.MissingArgument, "account_ids", "Choose at least one account that it goes to.")
	case len(c.Accounts) > maxAccounts:
		return apierr.Invalid(apierr.TooLong, "account_ids", fmt.Sprintf("A post goes to at most %d accounts.", maxAccounts))
	}
	return nil
}

// Compose keeps a piece as what a draft, a scheduled post or the template of a series that stands is from now on: all of
// it or nothing. seen is when the post was changed last as the person saw it: where somebody else has changed it since,
// it is wrong_state with the state changed, and nothing is kept. A template keeps its time, and its series goes by the rule
// of the piece once it goes on. An approved draft stays approved if only its time changes, and it either had none or is
// scheduled next: scheduling is no new version for the client, as schedule_post has it.
func (s *Service) Compose(ctx context.Context, actor *access.Actor, postID string, seen time.Time, c Composition) (Post, error) {
	call := operation.Call{Actor: actor, Now: s.db.Now()}
	if err := call.Require(access.Write); err != nil {
		return Post{}, err
	}
	if err := c.Validate(); err != nil {
		return Post{}, err
	}
	var p Post
	err := s.db.InTx(ctx, "post.compose", func(ctx context.Context, tx *db.Tx) error {
		var err error
		if p, err = s.lock(ctx, tx, call.TeamID, postID); err != nil {
			return err
		}
		if err := p.CheckComposable(); err != nil {
			return err
		}
		if p.Status == Scheduled && !p.IsTemplate {
			if err := call.Require(access.Publish); err != nil {
				return err
			}
		}
		wanted, err := s.compose(ctx, tx, call, c, p.Targets)
		if err != nil {
			return err
		}
		if !p.UpdatedAt.Equal(seen) {
			return apierr.BadState("changed", "Somebody else has changed the post meanwhile, so nothing was saved.")
		}
		if err := wanted.checkCovers(); err != nil {
			return err
		}
		wanted.Series.Rule = c.Rule
		timeIsFree := p.Approval == Approved && p.Status == Draft && (p.ScheduledAt.IsZero() || c.Scheduling)
		return s.applyComposition(ctx, tx, call, &p, wanted, timeIsFree)
	})
	return p, err
}

// checkCovers refuses covers that their videos have no frame for.
func (p Post) checkCovers() error {
	for _, m := range slices.Concat(append([][]network.Media{p.Media}, mediaOfAll(p.Targets)...)...) {
		if m.Duration > 0 && m.Cover > m.Duration {
			return apierr.Invalid(apierr.OutOfRange, fmt.Sprintf("cover-%d", m.ID), "The video has no frame at this time.")
		}
	}
	return nil
}

// CheckComposable refuses what nobody may change, whatever the role.
func (p Post) CheckComposable() error {
	switch {
	case p.IsTemplate && p.Status == Draft:
		return nil
	case p.IsTemplate:
		return apierr.BadState("recurring_template", "Pause the series first. Then what it is made from can be changed.")
	}
	return p.checkEditable()
}

// applyComposition makes a post what is wanted, and says so where that differs. timeIsFree tells that another time alone does not
// need the client's approval.
func (s *Service) applyComposition(ctx context.Context, tx *db.Tx, call operation.Call, p *Post, wanted Post,
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
		{"scheduled_at", func() (bool, error) { return s.setTime(ctx, tx, call, p, wanted.ScheduledAt) }},
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

// recordSilentChange writes a change that leaves the client's decision as it is.
func recordSilentChange(ctx context.Context, tx *db.Tx, call operation.Call, p *Post, what []string) error {
	if err := update(ctx, tx, p); err != nil {
		return err
	}
	detail := map[string]any{"changed": what, "approval": p.Approval}
	return auditlog.Record(ctx, tx, p.TeamID, auditlog.By(call), "post.changed", p.ID, detail)
}

// setTime gives a post the time that is wanted; one that is over stays only where it was there before.
func (s *Service) setTime(ctx context.Context, tx *db.Tx, call operation.Call, p *Post, at time.Time) (bool, error) {
	switch {
	case p.IsTemplate || at.Equal(p.ScheduledAt):
		return false, nil
	case at.IsZero() && p.Status == Scheduled:
		return false, apierr.Invalid(apierr.MissingArgument, "scheduled_at", "A scheduled post needs a time. To unschedule the post, use the action on its page.")
	case at.IsZero():
		return s.changeTime(ctx, tx, call, p, at)
	}
	if err := checkFutureTime(call, at); err != nil {
		return false, err
	}
	return s.changeTime(ctx, tx, call, p, at)
}

// setAccounts gives a post other accounts, where they differ. Those that stay keep what they show.
func (s *Service) setAccounts(ctx context.Context, tx *db.Tx, p *Post, wanted []Target) (bool, error) {
	if slices.EqualFunc(wanted, p.Targets, func(a, b Target) bool { return a.AccountID == b.AccountID }) {
		return false, nil
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

// setOverrides gives accounts what they show in place of the post's own, where that differs.
func setOverrides(ctx context.Context, tx *db.Tx, p *Post, wanted []Target) (bool, error) {
	differs := false
	for i := range p.Targets {
		t, w := &p.Targets[i], wanted[i]
		sameText := (t.Caption == nil) == (w.Caption == nil) && (t.Caption == nil || *t.Caption == *w.Caption)
		if sameText && (t.Media == nil) == (w.Media == nil) && sameMedia(t.Media, w.Media) {
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

func sameMedia(a, b []network.Media) bool {
	return slices.EqualFunc(a, b, func(a, b network.Media) bool { return a.ID == b.ID && a.Cover == b.Cover })
}

// PreviewSeries gives the first times of a series that would begin at an instant by a rule, at most so many; the rule is refused
// as by Repeat.
func PreviewSeries(rule string, begin time.Time, zone *time.Location, most int) ([]time.Time, error) {
	wall, err := time.Parse(wallClock, begin.In(zone).Format(wallClock))
	if err != nil {
		return nil, fmt.Errorf("reading a time that was written here: %w", err)
	}
	recurring, err := newRecurrence(rule, wall, zone)
	if err != nil {
		return nil, err
	}
	out := []time.Time{}
	for at := range recurring.after(begin.Add(-time.Microsecond)) {
		if out = append(out, at); len(out) == most {
			break
		}
	}
	if len(out) == 0 {
		return nil, errNoOccurrence
	}
	return out, nil
}
