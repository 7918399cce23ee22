package reports

import (
	"time"

	"pressroom.example/pressroom/internal/domain/report"
	"pressroom.example/pressroom/internal/domain/report/result"
	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/web/plot"
)

// finding is a sentence of the summary, with an icon.
type finding struct{ Icon, Text string }

// Brief returns the most useful findings, in a few sentences.
func (v view) Brief() []finding {
	var out []finding
	add := func(icon, text string) {
		if text != "" {
			out = append(out, finding{icon, text})
		}
	}
	add("bar-chart-line", v.growthText())
	add("film-line", v.formatText())
	add("time-line", v.timeText())
	add("hashtag", v.hashtagText())
	return out
}

func (v view) growthText() string {
	s := v.Sections.Growth
	if s == nil || s.PercentPerMonth == nil {
		return ""
	}
	p := s.PercentPerMonth
	switch {
	case p.Low != nil && *p.Low > 0:
		return v.l.T("Followers grow by %s per month.", plot.FormatPercent(v.l, p.Value))
	case p.High != nil && *p.High < 0:
		return v.l.T("Followers decline by %s per month.", plot.FormatPercent(v.l, -p.Value))
	}
	return v.l.T("There is no clear trend in followers.")
}

// formatText names the format with the highest engagement ratio among those significantly above 1, or says that there
// is none.
func (v view) formatText() string {
	s := v.Sections.Formats
	if s == nil {
		return ""
	}
	if v.Kind == report.Hashtag {
		return v.topFormatText(s.Formats)
	}
	best, bestRatio := "", 1.0
	compared := false
	for _, f := range s.Formats {
		compared = compared || f.Ratio != nil
		if f.Ratio != nil && f.Ratio.Low > 1 && f.Ratio.Value > bestRatio {
			best, bestRatio = f.Format, f.Ratio.Value
		}
	}
	switch {
	case best != "":
		return v.l.T("%s posts get %s× the engagement of other formats.", label(v.l, best), factor(v.l, bestRatio))
	case compared:
		return v.l.T("No format makes a clear difference.")
	}
	return ""
}

// topFormatText names the format with the most top posts of a hashtag.
func (v view) topFormatText(formats []result.FindingFormat) string {
	best, share := "", 0.0
	for _, f := range formats {
		if f.TopShare != nil && *f.TopShare > share {
			best, share = f.Format, *f.TopShare
		}
	}
	if best == "" {
		return ""
	}
	return v.l.T("Most used format of top posts: %s, %s.", label(v.l, best), rate(v.l, share))
}

func (v view) timeText() string {
	t := v.BestTime
	switch {
	case t == nil:
		return ""
	case !t.StandsOut:
		return v.l.T("No time of the week is clearly better than others.")
	}
	text := locale.Key("Posts on weekdays between %s and %s get %s× the usual engagement.")
	if t.Days == "weekend" {
		text = "Posts on weekends between %s and %s get %s× the usual engagement."
	}
	return v.l.T(text, hour(v.l, t.Hour), hour(v.l, t.Hour+t.Hours), factor(v.l, t.Ratio.Value))
}

// hashtagText names the first hashtag that is associated with more engagement, or says that there is none.
func (v view) hashtagText() string {
	s := v.Sections.Hashtags
	if s == nil {
		return ""
	}
	if v.Kind == report.Hashtag {
		return v.companionText(s.Hashtags)
	}
	for _, h := range s.Hashtags {
		if h.Works != nil && *h.Works && h.Ratio != nil {
			return v.l.T("Posts with #%s get %s× the engagement of others.", h.Hashtag, factor(v.l, h.Ratio.Value))
		}
	}
	for _, h := range s.Hashtags {
		if h.Ratio != nil {
			return v.l.T("No hashtag makes a clear difference.")
		}
	}
	return ""
}

// companionText names the hashtag that is most often used together with the report's hashtag.
func (v view) companionText(hashtags []result.FindingHashtag) string {
	var most result.FindingHashtag
	for _, h := range hashtags {
		if h.Share != nil && h.Posts > most.Posts {
			most = h
		}
	}
	if most.Posts == 0 {
		return ""
	}
	return v.l.T("Most often used together with #%s: in %s of posts.", most.Hashtag, rate(v.l, *most.Share))
}

// FollowerChange returns the change of followers since the first measurement, or nil if there is only one.
func (v view) FollowerChange() *int64 {
	if m := v.History.Measured; len(m) > 1 {
		return new(m[len(m)-1].Followers - m[0].Followers)
	}
	return nil
}

// FirstMeasured returns the day of the first measurement.
func (v view) FirstMeasured() string {
	return v.l.Format(v.History.Measured[0].At.In(v.zone), locale.ShortDay)
}

// Since returns the beginning of the first week or month with posts, or nil if there is none.
func (v view) Since() *time.Time {
	if len(v.History.Spans) == 0 {
		return nil
	}
	return &v.History.Spans[0].From
}

// Usual returns the engagement of a post as a multiple of the median engagement per post, such as "4.2×", or "" if
// the median is unknown.
func (v view) Usual(b report.TopPost) string {
	if v.History.MedianEngagement <= 0 {
		return ""
	}
	return v.l.Decimal(b.Engagement/v.History.MedianEngagement, 1) + "×"
}

// HasPictures reports whether any of the best posts has an image.
func (h history) HasPictures() bool {
	for _, b := range h.Best {
		if b.MediaID != 0 {
			return true
		}
	}
	return false
}

// PictureOf returns the path of a post's image, or "" if it has none.
func (v view) PictureOf(b report.TopPost) string {
	if b.MediaID == 0 {
		return ""
	}
	return v.thumbnailPath(b.MediaID)
}

// rank returns the rank of the element with index i. Ranks begin at 1.
func rank(i int) int { return i + 1 }

// day formats a date.
func day(l *locale.Language, at time.Time) string { return l.Format(at, locale.Day) }
