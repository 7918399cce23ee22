package search

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"pressroom.example/pressroom/internal/domain/hashtag/stats"
	"pressroom.example/pressroom/internal/domain/job"
	"pressroom.example/pressroom/internal/domain/provider"
	"pressroom.example/pressroom/internal/platform/db"
)

const (
	maxAttempts      = 5                // runs of a job, not counting those that only waited for the provider
	maxWait          = 30 * time.Second // longest wait for an unavailable provider
	defaultWait      = time.Second      // if the provider does not specify a delay
	maxWaits         = 2                // waits per job
	maxOtherHashtags = 6                // hashtags to measure beyond the keyword's own
)

// run executes a search job. It measures the keyword's own hashtags and, if the provider has spare quota, some related
// hashtags. Then it stores the result. It can be restarted at any time, because it stores each provider response
// immediately.
func (s *Service) run(ctx context.Context, j job.LeasedJob) error {
	t, err := readTask(ctx, s.db, j.Record)
	if err != nil {
		return err
	}
	if j.Epoch > maxAttempts+maxWaits {
		return s.fail(ctx, j, t, "internal_error")
	}
	if err := s.db.InTx(ctx, "search.working", func(ctx context.Context, tx *db.Tx) error {
		return job.Advance(ctx, tx, j.ID, int(j.Done))
	}); err != nil {
		return err
	}
	ctx, end := s.Limiter.Begin(ctx)
	defer end()
	counts := tally{}
	providerErrs, err := s.measureOwnHashtags(ctx, j, t, counts)
	if err != nil {
		return err
	}
	if delay, retry := retryDelay(providerErrs); retry && j.Epoch <= maxWaits {
		return s.db.InTx(ctx, "search.rest", func(ctx context.Context, tx *db.Tx) error {
			return j.Postpone(ctx, tx, tx.Now().Add(delay))
		})
	}
	if len(providerErrs) == 0 {
		if err := s.measureOtherHashtags(ctx, j, t, counts); err != nil {
			return err
		}
	}
	found, err := s.collect(ctx, j, t)
	if err != nil {
		return err
	}
	return s.conclude(ctx, j, t, found, providerErrs)
}

// retryDelay returns how long to wait for an unavailable provider. It reports false if no request failed, one failed
// for another reason, or the delay is too long.
func retryDelay(providerErrs map[string]error) (time.Duration, bool) {
	delay, failed := time.Duration(0), false
	for _, err := range providerErrs {
		u, unavailable := errors.AsType[*provider.UnavailableError](err)
		if !unavailable || u.After > maxWait {
			return 0, false
		}
		delay, failed = max(delay, u.After), true
	}
	if delay <= 0 {
		delay = defaultWait
	}
	return delay, failed
}

// measureOwnHashtags measures the keyword's own hashtags that have no current statistics. It returns the errors of
// failed requests by hashtag, and adds the hashtags of the received posts to counts.
func (s *Service) measureOwnHashtags(ctx context.Context, j job.LeasedJob, t task, counts tally) (map[string]error, error) {
	answers, err := readAnswers(ctx, s.db, j.ID)
	if err != nil {
		return nil, err
	}
	ownHashtags := t.words.hashtags()
	statistics, err := s.Statistics.Get(ctx, s.db, t.platform, ownHashtags)
	if err != nil {
		return nil, err
	}
	providerErrs := map[string]error{}
	for _, tag := range ownHashtags {
		if _, answered := answers[tag]; !answered && !s.isFresh(t, statistics[tag]) {
			err := s.measure(ctx, j, provider.HashtagQuery{Platform: t.platform, Hashtag: tag, PostLimit: s.PostLimit},
				counts)
			if srcErr, ok := errors.AsType[*sourceError](err); ok {
				providerErrs[tag] = srcErr.err
			} else if err != nil {
				return nil, err
			}
		}
	}
	return providerErrs, nil
}

// isFresh reports whether the statistics of a keyword's own hashtag are current. They must be less than a day old or,
// if an earlier payment covers the search, within the data window.
func (s *Service) isFresh(t task, f stats.Statistics) bool {
	maxAge := day
	if !t.paidUntil.IsZero() {
		maxAge = s.window()
	}
	return !f.MeasuredAt.IsZero() && s.db.Now().Sub(f.MeasuredAt) < maxAge
}

// sourceError is a provider error other than not found.
type sourceError struct{ err error }

func (e *sourceError) Error() string { return e.err.Error() }

func (e *sourceError) Unwrap() error { return e.err }

// measure fetches and stores the metrics of a hashtag, and adds the hashtags of its posts to counts. Provider errors
// are returned as *sourceError.
func (s *Service) measure(ctx context.Context, j job.LeasedJob, q provider.HashtagQuery, counts tally) error {
	metrics, err := s.fetch(ctx, q)
	found := !errors.Is(err, provider.ErrNotFound)
	switch {
	case err == nil, !found:
	case ctx.Err() != nil:
		return fmt.Errorf("requesting metrics: %w", err)
	default:
		s.Log.WarnContext(ctx, "a provider of hashtag metrics failed", "job", j.ID, "error", err)
		return &sourceError{err}
	}
	if err := provider.Acquire(ctx); err != nil {
		return fmt.Errorf("waiting to process the response: %w", err)
	}
	observation := stats.Analyze(q.Platform, metrics, s.db.Now())
	counts.add(observation.Posts)
	return s.db.InTx(ctx, "search.told", func(ctx context.Context, tx *db.Tx) error {
		if err := j.Lock(ctx, tx); err != nil {
			return err
		}
		if found {
			if err := s.Statistics.Record(ctx, tx, observation); err != nil {
				return err
			}
		}
		answered, err := saveAnswer(ctx, tx, j.ID, q.Hashtag, found)
		if err != nil {
			return err
		}
		return job.Advance(ctx, tx, j.ID, int(min(answered, j.Total)))
	})
}

func (s *Service) fetch(ctx context.Context, q provider.HashtagQuery) (provider.HashtagMetrics, error) {
	if s.Source == nil {
		return provider.HashtagMetrics{}, provider.ErrNotOffered
	}
	metrics, err := s.Source.Hashtag(ctx, q)
	if metrics.MeasuredAt.IsZero() {
		metrics.MeasuredAt = s.db.Now()
	}
	metrics.Hashtag = q.Hashtag
	return metrics, err
}

// measureOtherHashtags measures hashtags other than the keyword's own while the provider has spare quota. Without these
// measurements, a hashtag that is known only from captions would have no metrics and could not be shown. A search that
// is covered by an earlier payment measures only the keyword's own hashtags.
func (s *Service) measureOtherHashtags(ctx context.Context, j job.LeasedJob, t task, counts tally) error {
	if !t.paidUntil.IsZero() {
		return nil
	}
	answers, err := readAnswers(ctx, s.db, j.ID)
	if err != nil {
		return err
	}
	hashtags, err := s.findOtherHashtags(ctx, t, answers, counts)
	if err != nil {
		return err
	}
	for _, tag := range hashtags {
		err := s.measure(ctx, j, provider.HashtagQuery{Platform: t.platform, Hashtag: tag, PostLimit: s.PostLimit,
			Background: true}, tally{})
		if _, isSourceErr := errors.AsType[*sourceError](err); isSourceErr {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// findOtherHashtags returns the hashtags to measure beyond the keyword's own: significantly related hashtags, then
// frequent hashtags, then matches of the keyword. It omits hashtags measured within the data window.
func (s *Service) findOtherHashtags(ctx context.Context, t task, answers map[string]bool, counts tally) ([]string, error) {
	ownHashtags := t.words.hashtags()
	limit := maxOtherHashtags
	for tag := range answers {
		if !slices.Contains(ownHashtags, tag) {
			limit--
		}
	}
	related, err := s.lookUpRelated(ctx, t)
	if err != nil {
		return nil, err
	}
	var candidates []string
	for _, f := range relatedStatistics(related.related) {
		candidates = append(candidates, f.Hashtag)
	}
	candidates = append(candidates, counts.frequent()...)
	for _, f := range related.matches {
		candidates = append(candidates, f.Hashtag)
	}
	statistics, err := s.Statistics.Get(ctx, s.db, t.platform, candidates)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, tag := range candidates {
		_, answered := answers[tag]
		if !answered && !slices.Contains(ownHashtags, tag) && !slices.Contains(out, tag) && !s.inWindow(statistics[tag]) &&
			len(out) < limit {
			out = append(out, tag)
		}
	}
	return out, nil
}

// inWindow reports whether statistics are complete and within the data window.
func (s *Service) inWindow(f stats.Statistics) bool {
	return isComplete(f) && s.db.Now().Sub(f.MeasuredAt) < s.window()
}
