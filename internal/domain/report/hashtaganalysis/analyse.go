package hashtaganalysis

import (
	"slices"
	"time"

	"pressroom/internal/domain/provider"
	"pressroom/internal/domain/report/result"
)

// Analyse works out what the figures of a hashtag tell.
func Analyse(in Input) Result {
	zone := in.Zone
	if zone == nil {
		zone = time.UTC
	}
	s := look(in.Figures)
	now := s.sample(in.Figures.From, in.Figures.Size)
	earlier := before(now, in.Earlier)
	name, err := provider.Hashtag(in.Figures.Hashtag)
	if err != nil {
		name = "" // nothing but a token is told
	}
	out := Result{Hashtag: Hashtag{Name: name}, Result: result.Result{TopHashtags: []result.Hashtag{}, TopWords: []result.Word{}}}
	posts, aboutSize := size(s, now, earlier)
	out.Hashtag.Posts = posts
	if count, ok := now.count(); ok {
		rate := count.perDay().rounded()
		out.Hashtag.PostsPerDay = &rate
	}
	if out.Hashtag.Posts != nil {
		out.Hashtag.Tier = Tier(out.Hashtag.Posts.Count)
	}
	audience := s.audience()
	out.Engagement = s.engagement(audience)
	read := s.read()
	out.Sections = result.Sections{
		Formats: s.formats(), Growth: growth(now, earlier), Hashtags: s.beside(name, read.tags, in.Background), Words: result.WordsOf(read.words, len(s.all), sectionMost),
		Score: score(out.Hashtag.PostsPerDay, audience),
	}
	if audience != (result.Audience{}) {
		out.Sections.Audience = &audience
	}
	out.Score = out.Sections.Score.Short()
	if h := out.Sections.Hashtags; h != nil {
		out.TopHashtags = slices.Clone(h.Hashtags[:min(len(h.Hashtags), topMost)])
	}
	if w := out.Sections.Words; w != nil {
		out.TopWords = slices.Clone(w.Words[:min(len(w.Words), topMost)])
	}
	var compared bool
	out.BestTime, compared = s.bestTime(append(slices.Clone(earlier), now), zone)
	out.Notes = notes(s, out, in.Background, compared, aboutSize)
	return out
}

// before are the measurements before this one: one that was kept of this very moment is this one, begun again.
func before(now Sample, samples []Sample) []Sample {
	var out []Sample
	for _, s := range samples {
		if !s.At.IsZero() && s.At.Before(now.At) {
			out = append(out, s)
		}
	}
	return out
}
