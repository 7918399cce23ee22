package search

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"

	"pressroom.example/pressroom/internal/domain/hashtag/stats"
	"pressroom.example/pressroom/internal/domain/job"
	"pressroom.example/pressroom/internal/domain/provider"
)

const (
	maxMatches  = 100 // known hashtags that match the keyword
	maxRelated  = 50  // hashtags related to the keyword's own hashtags
	maxEnqueued = 10  // related hashtags with unknown metrics that are measured in the background

	maxHashtags = maxOwnHashtags + maxMatches + maxRelated + maxOtherHashtags // maximum number of hashtags in a result
)

// lookupResult holds the known hashtags that match a keyword or are related to its own hashtags.
type lookupResult struct {
	related []stats.RelatedHashtag
	matches []stats.Statistics
}

func (s *Service) lookUpRelated(ctx context.Context, t task) (lookupResult, error) {
	var out lookupResult
	var err error
	if out.related, err = s.Statistics.RelatedTo(ctx, t.platform, t.words.hashtags(), maxRelated); err != nil {
		return out, err
	}
	out.matches, err = s.Statistics.Matches(ctx, t.platform, t.words, maxMatches)
	return out, err
}

func relatedStatistics(related []stats.RelatedHashtag) []stats.Statistics {
	out := make([]stats.Statistics, len(related))
	for i, r := range related {
		out[i] = r.Statistics
	}
	return out
}

// isComplete reports whether the number of posts and the posts per day of a hashtag are both known.
func isComplete(f stats.Statistics) bool { return f.Posts != nil && f.PostsPerDay != nil }

// findings is the result of a search.
type findings struct {
	hashtags      []stats.Statistics // complete; the keyword's own hashtags, then others by score
	incomplete    []stats.Statistics // existing own hashtags without a number of posts or posts per day
	related       []stats.RelatedHashtag
	ownHashtags   []string // the keyword's own hashtags, without those that do not exist
	responseCount int      // number of own hashtags for which the provider responded to this search
	freshCount    int      // number of own hashtags with current statistics
}

func (f findings) isEmpty() bool { return len(f.hashtags)+len(f.incomplete)+len(f.related) == 0 }

// collect gathers the findings for a keyword from stored statistics and the provider's responses.
func (s *Service) collect(ctx context.Context, j job.LeasedJob, t task) (findings, error) {
	var out findings
	answers, err := readAnswers(ctx, s.db, j.ID)
	if err != nil {
		return out, err
	}
	related, err := s.lookUpRelated(ctx, t)
	if err != nil {
		return out, err
	}
	ownHashtags := t.words.hashtags()
	names := slices.Concat(ownHashtags, slices.Sorted(maps.Keys(answers)))
	statistics, err := s.Statistics.Get(ctx, s.db, t.platform, names)
	if err != nil {
		return out, err
	}
	for _, tag := range ownHashtags {
		if answers[tag] {
			out.responseCount++
		}
		if s.isFresh(t, statistics[tag]) {
			out.freshCount++
		}
		if isMissing(answers, tag) {
			continue
		}
		out.ownHashtags = append(out.ownHashtags, tag)
		if f := statistics[tag]; !f.MeasuredAt.IsZero() && !isComplete(f) {
			out.incomplete = append(out.incomplete, f)
		}
	}
	candidates := slices.Concat(knownStatistics(ownHashtags, statistics), related.matches, relatedStatistics(related.related),
		knownStatistics(names, statistics))
	out.hashtags = selectComplete(candidates, answers)
	slices.SortStableFunc(out.hashtags, resultOrder(ownHashtags))
	out.related = slices.DeleteFunc(related.related, func(r stats.RelatedHashtag) bool { return isMissing(answers, r.Hashtag) })
	return out, nil
}

// isMissing reports whether the provider responded that the hashtag does not exist.
func isMissing(exists map[string]bool, tag string) bool {
	found, answered := exists[tag]
	return answered && !found
}

func knownStatistics(names []string, byName map[string]stats.Statistics) []stats.Statistics {
	var out []stats.Statistics
	for _, name := range names {
		if f, ok := byName[name]; ok {
			out = append(out, f)
		}
	}
	return out
}

// selectComplete returns the distinct candidates that are complete and not missing, in order.
func selectComplete(candidates []stats.Statistics, exists map[string]bool) []stats.Statistics {
	var out []stats.Statistics
	seen := map[string]bool{}
	for _, f := range candidates {
		if isComplete(f) && !seen[f.Hashtag] && !isMissing(exists, f.Hashtag) {
			seen[f.Hashtag] = true
			out = append(out, f)
		}
	}
	return out
}

// resultOrder returns a comparison function for a result: the keyword's own hashtags come first, then the other
// hashtags by descending score.
func resultOrder(ownHashtags []string) func(a, b stats.Statistics) int {
	rank := func(f stats.Statistics) int {
		if at := slices.Index(ownHashtags, f.Hashtag); at >= 0 {
			return at
		}
		return len(ownHashtags)
	}
	return func(a, b stats.Statistics) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(scoreOrUnknown(b), scoreOrUnknown(a)))
	}
}

// scoreOrUnknown returns the score for sorting, which is -1 if unknown.
func scoreOrUnknown(f stats.Statistics) float64 {
	if f.Score == nil {
		return -1
	}
	return *f.Score
}

// hashtagsToMeasure returns the hashtags to measure for later searches: the keyword's own hashtags and some incomplete
// related hashtags.
func (f findings) hashtagsToMeasure() []string {
	out := slices.Clone(f.ownHashtags)
	maxLength := len(out) + maxEnqueued
	for _, r := range f.related {
		if !isComplete(r.Statistics) && !slices.Contains(out, r.Hashtag) && len(out) < maxLength {
			out = append(out, r.Hashtag)
		}
	}
	return out
}

// rows returns the rows to store.
func (f findings) rows() []row {
	var out []row
	for part, all := range map[string][]stats.Statistics{partHashtags: f.hashtags, partIncomplete: f.incomplete} {
		for i, h := range all {
			out = append(out, row{part: part, position: i, measuredAt: h.MeasuredAt, entry: stats.Summarize(h)})
		}
	}
	for i, r := range f.related {
		out = append(out, row{part: partRelated, position: i, measuredAt: r.MeasuredAt,
			entry: RelatedHashtag{HashtagSummary: stats.Summarize(r.Statistics), Support: r.Support, Share: r.Share, Lift: r.Lift}})
	}
	return out
}

const (
	unansweredNote = "The provider did not return metrics for every hashtag of the keyword. For the others, the result " +
		"contains stored metrics, if there are any."
	notChargedNote = "Nothing was measured for this search, and the stored metrics are not current. Nothing was charged."
	// IncompleteNote is the note of a result with incomplete hashtags.
	IncompleteNote = "Too little is known about the hashtags under incomplete to give their number of posts or posts " +
		"per day."
)

// conclude ends a search with its findings. The search succeeds if anything is known. It is charged if the provider
// responded for one of the keyword's own hashtags, or if current statistics of an own hashtag were stored and no
// request failed.
func (s *Service) conclude(ctx context.Context, j job.LeasedJob, t task, f findings, providerErrs map[string]error) error {
	if f.isEmpty() {
		if len(providerErrs) > 0 {
			return s.fail(ctx, j, t, errorCode(providerErrs))
		}
		return s.fail(ctx, j, t, "nothing_found")
	}
	o := outcome{state: job.Succeeded, paidUntil: t.paidUntil, resultOf: j.ID}
	if t.paidUntil.IsZero() && (f.responseCount > 0 || len(providerErrs) == 0 && f.freshCount > 0) {
		o.charged, o.paidUntil = true, s.db.Now().Add(s.window())
	} else if t.paidUntil.IsZero() {
		o.notes = append(o.notes, notChargedNote)
	}
	if len(providerErrs) > 0 {
		o.state, o.code, o.resultOf = job.PartiallySucceeded, errorCode(providerErrs), ""
		o.notes = append(o.notes, unansweredNote)
	}
	if len(f.incomplete) > 0 {
		o.notes = append(o.notes, IncompleteNote)
	}
	o.toMeasure = f.hashtagsToMeasure()
	return s.finish(ctx, j, t, o, f.rows())
}

// errorCode returns the job's error code for a provider's errors.
func errorCode(providerErrs map[string]error) string {
	for _, err := range providerErrs {
		if !errors.Is(err, provider.ErrNotOffered) {
			return "source_unavailable"
		}
	}
	return "not_offered"
}
