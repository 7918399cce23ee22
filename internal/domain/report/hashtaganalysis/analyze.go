package hashtaganalysis

import (
	"slices"
	"time"

	"pressroom.example/pressroom/internal/domain/provider"
	"pressroom.example/pressroom/internal/domain/report/result"
)

// Analyze returns all results that the metrics allow.
func Analyze(in Input) Result {
	zone := in.Zone
	if zone == nil {
		zone = time.UTC
	}
	s := newMeasuredPosts(in.Metrics)
	now := s.sample(in.Metrics.From, in.Metrics.Size)
	earlier := earlierThan(now, in.Earlier)
	name, err := provider.ParseHashtag(in.Metrics.Hashtag)
	if err != nil {
		name = "" // never return untrusted text
	}
	out := Result{Hashtag: TagHashtag{Name: name}, Result: result.Result{TopHashtags: []result.FindingHashtag{},
		TopWords: []result.FindingWord{}}}
	posts, sizeNote := size(s, now, earlier)
	out.Hashtag.Posts = posts
	if count, ok := now.count(); ok {
		rate := count.perDay().round()
		out.Hashtag.PostsPerDay = &rate
	}
	if out.Hashtag.Posts != nil {
		out.Hashtag.Tier = Tier(out.Hashtag.Posts.Count)
	}
	audience := s.audience()
	out.Engagement = s.engagement(audience)
	read := s.readCaptions()
	out.Sections = result.Sections{
		Formats: s.formats(), Growth: growth(now, earlier), Hashtags: s.relatedHashtags(name, read.tags, in.Background),
		Words: result.NewWords(read.words, len(s.posts), maxSection),
		Score: score(out.Hashtag.PostsPerDay, audience),
	}
	if audience != (result.FindingAudience{}) {
		out.Sections.Audience = &audience
	}
	out.Score = out.Sections.Score.Summary()
	if h := out.Sections.Hashtags; h != nil {
		out.TopHashtags = slices.Clone(h.Hashtags[:min(len(h.Hashtags), maxTop)])
	}
	if w := out.Sections.Words; w != nil {
		out.TopWords = slices.Clone(w.Words[:min(len(w.Words), maxTop)])
	}
	var compared bool
	out.BestTime, compared = s.bestTime(append(slices.Clone(earlier), now), zone)
	out.Notes = notes(s, out, in.Background, compared, sizeNote)
	return out
}

// earlierThan returns the samples that are older than the current one. It omits a stored sample with the same time,
// because that is the current sample.
func earlierThan(now Sample, samples []Sample) []Sample {
	var out []Sample
	for _, s := range samples {
		if !s.At.IsZero() && s.At.Before(now.At) {
			out = append(out, s)
		}
	}
	return out
}
