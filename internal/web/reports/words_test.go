package reports

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pressroom.example/pressroom/internal/domain/report"
	"pressroom.example/pressroom/internal/domain/report/hashtaganalysis"
	"pressroom.example/pressroom/internal/domain/report/result"
	"pressroom.example/pressroom/internal/locale"
)

func TestReportIDs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, want []string }{
		{nil, nil}, {[]string{"a,b", "b", " c "}, []string{"a", "b", "c"}}, {[]string{",,"}, nil},
	} {
		if diff := cmp.Diff(c.want, reportIDs(c.in)); diff != "" {
			t.Errorf("%q: %s", c.in, diff)
		}
	}
}

func TestWords(t *testing.T) {
	t.Parallel()
	en := locale.English
	for got, want := range map[string]string{
		subject("hashtag", "latteart"): "#latteart", subject("profile", "harbour"): "@harbour", hours(en, 8, 4): "08:00–12:00",
		rate(en, 0.01714): "1.71%", rate(en, (*float64)(nil)): "–",
		number(en, (*int64)(nil)): "–", number(en, int64(1234)): "1.23K", times(en, nil): "–", label(en, "top_likes"): "Top likes",
		component(en, "reach"): "Reach", string(drawShare(3, 0)): "", percent(en, new(1.5)): "1.5%",
		age(en, nil): "–", age(en, new(0.206)): "5 hours", age(en, new(0.04)): "1 hour", age(en, new(30.2)): "30 days",
		age(en, new(1083.0)): "3 years", sum(en, []string{"likes", "comments", "shares"}): "likes and comments and shares",
		hours(locale.German, 8, 4): "08–12 Uhr", hours(locale.American, 8, 4): "8 AM–12 PM", hour(locale.American, 16): "4 PM",
		rate(locale.German, 0.01714): "1,71\u00a0%",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A hashtag's estimated number of posts is shown with its range.
func TestHashtagPostsRange(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		l    *locale.Language
		want string
	}{{locale.English, "1.2M to 1.9M"}, {locale.German, "1,2\u00a0Mio. bis 1,9\u00a0Mio."}} {
		v := view{l: c.l}
		v.Hashtag = &hashtaganalysis.TagHashtag{Posts: &hashtaganalysis.TagPosts{
			Count: 1_500_000, Low: new(int64(1_200_000)), High: new(int64(1_900_000)),
		}}
		var out strings.Builder
		if err := pages["report"].Parse(c.l).ExecuteTemplate(&out, "figures", v); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out.String(), c.want) {
			t.Errorf("%s lacks %q", &out, c.want)
		}
	}
}

// TestNotes checks that notes with values, which are stored in English, have a German form.
func TestNotes(t *testing.T) {
	t.Parallel()
	in := []string{
		"1 post excluded from engagement: less than two days old, so still getting likes.",
		"Most posts hide their likes: engagement counts only comments and shares, and the score excludes it.",
		"No posts were found for this hashtag.", "An unknown note.",
	}
	if diff := cmp.Diff(in, notes.Translate(locale.English, in)); diff != "" {
		t.Error(diff)
	}
	want := []string{
		"Bei den Interaktionen nicht berücksichtigt: 1 Beitrag, weniger als zwei Tage alt und noch mit wachsenden Zahlen.",
		"Die meisten Beiträge verbergen ihre Likes: Als Interaktionen zählen nur Kommentare und Shares, und der Score lässt sie aus.",
		"Zu diesem Hashtag wurden keine Beiträge gefunden.", "An unknown note.",
	}
	if diff := cmp.Diff(want, notes.Translate(locale.German, in)); diff != "" {
		t.Error(diff)
	}
}

func TestLess(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		ratio *result.FindingRatio
		less  bool
	}{{nil, false}, {&result.FindingRatio{Value: 0.5, Low: 0.3, High: 0.9}, true}, {
		&result.FindingRatio{Value: 0.9, Low: 0.8, High: 1.01}, false,
	}, {&result.FindingRatio{Value: 1.5, Low: 1.2, High: 1.9}, false}} {
		if got := isBelowOne(c.ratio); got != c.less {
			t.Errorf("%+v: %v", c.ratio, got)
		}
	}
	if !isLogarithmic("hashtag", "") || !isLogarithmic("profile", "logarithmic") || isLogarithmic("profile", "linear") {
		t.Error("a component of the score has the wrong explanation")
	}
}

func TestHours(t *testing.T) {
	t.Parallel()
	var h history
	if got := h.Hours(); len(got) != 0 {
		t.Errorf("hours without posts: %v", got)
	}
	h.Week[0][9], h.Week[6][9], h.Week[2][23] = report.Hour{Posts: 3, Median: 40}, report.Hour{Posts: 1, Median: 7},
		report.Hour{Posts: 2, Median: 12}
	want := []hourOfWeek{
		{Hour: 9, Days: [7]report.Hour{0: h.Week[0][9], 6: h.Week[6][9]}}, {Hour: 23, Days: [7]report.Hour{2: h.Week[2][23]}},
	}
	if diff := cmp.Diff(want, h.Hours()); diff != "" {
		t.Error(diff)
	}
}

// Ratios have no more digits than they need.
func TestFactor(t *testing.T) {
	t.Parallel()
	for v, want := range map[float64]string{0.757: "0.76", 1.654: "1.65", 8.48: "8.5", 12.34: "12.3", 2: "2"} {
		if got := factor(locale.English, v); got != want {
			t.Errorf("%v is %s, want %s", v, got, want)
		}
	}
}
