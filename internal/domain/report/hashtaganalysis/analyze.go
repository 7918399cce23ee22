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
	m := newMeasuredPosts(in.Metrics)
	current := m.sample(in.Metrics.From, in.Metrics.Size)
	earlier := earlierSamples(current, in.Earlier)
	name, err := provider.ParseHashtag(in.Metrics.Hashtag)
	if err != nil {
		name = "" // never return untrusted text
	}
	out := Result{Hashtag: TagHashtag{Name: name}, Result: result.Result{TopHashtags: []result.FindingHashtag{},
		TopWords: []result.FindingWord{}}}
	posts, sizeNote := size(m, current, earlier)
	out.Hashtag.Posts = posts
	if count, ok := current.count(); ok {
		rate := count.perDay().round()
		out.Hashtag.PostsPerDay = &rate
	}
	if out.Hashtag.Posts != nil {
		out.Hashtag.Tier = Tier(out.Hashtag.Posts.Count)
	}
	audience := m.audience()
	out.Engagement = m.engagement(audience)
	parsed := m.readCaptions()
	out.Sections = result.Sections{
		Formats: m.formats(), Growth: growth(current, earlier), Hashtags: m.relatedHashtags(name, parsed.tags, in.Background),
		Words: result.NewWords(parsed.words, len(m.posts), maxSection),
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
	out.BestTime, compared = m.bestTime(append(slices.Clone(earlier), current), zone)
	out.Notes = notes(m, out, in.Background, compared, sizeNote)
	return out
}

// earlierSamples returns the samples that are older than the current one. It omits a stored sample with the same time,
// because that is the current sample.
func earlierSamples(current Sample, samples []Sample) []Sample {
	var out []Sample
	for _, s := range samples {
		if !s.At.IsZero() && s.At.Before(current.At) {
			out = append(out, s)
		}
	}
	return out
}
