package search

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"pressroom/internal/domain/hashtag/stats"
	"pressroom/internal/domain/job"
	"pressroom/internal/domain/provider"
	"pressroom/internal/platform/db"
)

const (
	maxAttempts = 5                // of a job that failed on our side
	maxWait     = 30 * time.Second // a source that asks for a longer rest is not waited for
	defaultWait = time.Second      // of a source that did not say how long
	maxWaits    = 2                // rests that a job takes
	maxFurther  = 6                // hashtags that a search asks for beside those of its keyword
)

// run does the work behind jobs of searches: the source is asked for the keyword's own hashtags, then, as far as it has
// places to spare, for some that belong to them; then what is known is put together. It may begin again at any time:
// what the source said is kept with each answer.
func (s *Service) run(ctx context.Context, h job.LeasedJob) error {
	t, err := readTask(ctx, s.db, h.Record)
	if err != nil {
		return err
	}
	if h.Epoch > maxAttempts+maxWaits {
		return s.fail(ctx, h, t, "internal_error")
	}
	if err := s.db.InTx(ctx, "search.working", func(ctx context.Context, tx *db.Tx) error { return job.Advance(ctx, tx, h.ID, int(h.Done)) }); err != nil {
		return err
	}
	ctx, end := s.Turns.Begin(ctx)
	defer end()
	met := tally{}
	silent, err := s.measureOwn(ctx, h, t, met)
	if err != nil {
		return err
	}
	if rest, short := retryDelay(silent); short && h.Epoch <= maxWaits {
		return s.db.InTx(ctx, "search.rest", func(ctx context.Context, tx *db.Tx) error { return h.Postpone(ctx, tx, tx.Now().Add(rest)) })
	}
	if len(silent) == 0 {
		if err := s.measureFurther(ctx, h, t, met); err != nil {
			return err
		}
	}
	found, err := s.collect(ctx, h, t)
	if err != nil {
		return err
	}
	return s.conclude(ctx, h, t, found, silent)
}

// retryDelay is how long a source asked to be left alone that did not answer; false where it asked for no rest, or for a
// long one.
func retryDelay(silent map[string]error) (time.Duration, bool) {
	longest, asked := time.Duration(0), false
	for _, err := range silent {
		u, resting := errors.AsType[*provider.Unavailable](err)
		if !resting || u.After > maxWait {
			return 0, false
		}
		longest, asked = max(longest, u.After), true
	}
	if longest <= 0 {
		longest = defaultWait
	}
	return longest, asked
}

// measureOwn asks for the keyword's own hashtags that are not known well enough, and gives the errors of those of which
// the source did not tell. What stands on the posts under the others is counted.
func (s *Service) measureOwn(ctx context.Context, h job.LeasedJob, t task, met tally) (map[string]error, error) {
	said, err := readAnswers(ctx, s.db, h.ID)
	if err != nil {
		return nil, err
	}
	own := t.words.hashtags()
	known, err := s.Figures.Get(ctx, s.db, t.platform, own)
	if err != nil {
		return nil, err
	}
	silent := map[string]error{}
	for _, tag := range own {
		if _, answered := said[tag]; !answered && !s.isFresh(t, known[tag]) {
			err := s.measure(ctx, h, provider.HashtagQuery{Platform: t.platform, Hashtag: tag, Most: s.PostLimit}, met)
			if refused, ok := errors.AsType[*sourceError](err); ok {
				silent[tag] = refused.err
			} else if err != nil {
				return nil, err
			}
		}
	}
	return silent, nil
}

// isFresh tells whether figures are good enough for a keyword's own hashtag: somebody who pays gets those of a day at
// most, who has paid those of the window.
func (s *Service) isFresh(t task, f stats.Figures) bool {
	oldest := day
	if !t.paidUntil.IsZero() {
		oldest = s.window()
	}
	return !f.MeasuredAt.IsZero() && s.db.Now().Sub(f.MeasuredAt) < oldest
}

// sourceError is why a source did not tell.
type sourceError struct{ err error }

func (u *sourceError) Error() string { return u.err.Error() }

func (u *sourceError) Unwrap() error { return u.err }

// measure asks for a hashtag and keeps what the source says of it. That it did not tell is an *unanswered.
func (s *Service) measure(ctx context.Context, h job.LeasedJob, q provider.HashtagQuery, met tally) error {
	figures, err := s.fetch(ctx, q)
	found := !errors.Is(err, provider.ErrNotFound)
	switch {
	case err == nil, !found:
	case ctx.Err() != nil:
		return fmt.Errorf("asking the source: %w", err)
	default:
		s.Log.WarnContext(ctx, "a source of hashtags' figures failed", "job", h.ID, "error", err)
		return &sourceError{err}
	}
	if err := provider.Working(ctx); err != nil {
		return fmt.Errorf("waiting to read what was told: %w", err)
	}
	learned := stats.Analyze(q.Platform, figures, s.db.Now())
	met.add(learned.Posts)
	return s.db.InTx(ctx, "search.told", func(ctx context.Context, tx *db.Tx) error {
		if err := h.Lock(ctx, tx); err != nil {
			return err
		}
		if found {
			if err := s.Figures.Record(ctx, tx, learned); err != nil {
				return err
			}
		}
		told, err := saveAnswer(ctx, tx, h.ID, q.Hashtag, found)
		if err != nil {
			return err
		}
		return job.Advance(ctx, tx, h.ID, int(min(told, h.Total)))
	})
}

func (s *Service) fetch(ctx context.Context, q provider.HashtagQuery) (provider.HashtagFigures, error) {
	if s.Source == nil {
		return provider.HashtagFigures{}, provider.ErrNotOffered
	}
	figures, err := s.Source.Hashtag(ctx, q)
	if figures.MeasuredAt.IsZero() {
		figures.MeasuredAt = s.db.Now()
	}
	figures.Hashtag = q.Hashtag
	return figures, err
}

// measureFurther asks for hashtags that belong to the keyword's own, as long as the source has places to spare: a hashtag of
// which nothing is known but that it stands on posts has no figures, and none can be worked out from that. A search that
// is paid for by something else asks for none.
func (s *Service) measureFurther(ctx context.Context, h job.LeasedJob, t task, met tally) error {
	if !t.paidUntil.IsZero() {
		return nil
	}
	said, err := readAnswers(ctx, s.db, h.ID)
	if err != nil {
		return err
	}
	wanted, err := s.furtherHashtags(ctx, t, said, met)
	if err != nil {
		return err
	}
	for _, tag := range wanted {
		err := s.measure(ctx, h, provider.HashtagQuery{Platform: t.platform, Hashtag: tag, Most: s.PostLimit, Background: true}, tally{})
		if _, refused := errors.AsType[*sourceError](err); refused {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// furtherHashtags are the hashtags that a search asks for beside its own, of which no figures of the window are there: those of
// which it can be claimed that they belong to its own, those that stand most on the posts under them, and those that
// match the keyword.
func (s *Service) furtherHashtags(ctx context.Context, t task, said map[string]bool, met tally) ([]string, error) {
	own := t.words.hashtags()
	room := maxFurther
	for tag := range said {
		if !slices.Contains(own, tag) {
			room--
		}
	}
	near, err := s.findNearby(ctx, t)
	if err != nil {
		return nil, err
	}
	var wanted []string
	for _, f := range figuresOf(near.related) {
		wanted = append(wanted, f.Hashtag)
	}
	wanted = append(wanted, met.frequent()...)
	for _, f := range near.matches {
		wanted = append(wanted, f.Hashtag)
	}
	known, err := s.Figures.Get(ctx, s.db, t.platform, wanted)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, tag := range wanted {
		_, answered := said[tag]
		if !answered && !slices.Contains(own, tag) && !slices.Contains(out, tag) && !s.inWindow(known[tag]) && len(out) < room {
			out = append(out, tag)
		}
	}
	return out, nil
}

// inWindow tells whether figures are complete and not older than the window.
func (s *Service) inWindow(f stats.Figures) bool {
	return isComplete(f) && s.db.Now().Sub(f.MeasuredAt) < s.window()
}
