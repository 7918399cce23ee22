package report

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pressroom.example/pressroom/internal/domain/provider"
	"pressroom.example/pressroom/internal/domain/report/analysis"
	"pressroom.example/pressroom/internal/domain/report/hashtaganalysis"
	"pressroom.example/pressroom/internal/testkit/must"
)

// Reports of both kinds are stored and read in one format. Each report has the sections of its kind in order.
func TestFindingsOfBothKinds(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC)
	var posts []provider.Post
	for i := range 40 {
		posts = append(posts, provider.Post{
			ID: string(rune('A' + i)), TakenAt: at.Add(-time.Duration(50+9*i) * time.Hour), Format: provider.FormatReel,
			Caption: "Boats at low water #harbour", Likes: new(int64(100 + i)),
		})
	}
	for name, test := range map[string]struct {
		kept     any
		hashtag  bool
		sections []string
	}{
		"profile": {analysis.Analyze(analysis.ProfileInput{Posts: posts, At: at}), false,
			[]string{"posts", "hashtags", "words", "times", "formats", "cadence", "score"}},
		"profile without posts": {analysis.Analyze(analysis.ProfileInput{At: at}), false, []string{"posts"}},
		"hashtag": {hashtaganalysis.Analyze(hashtaganalysis.Input{Metrics: provider.HashtagMetrics{Hashtag: "harbour",
			Recent: posts, MeasuredAt: at}}), true,
			[]string{"posts", "hashtags", "words", "audience", "formats", "score"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := must.Get(json.Marshal(test.kept))(t)
			var found findings
			must.NoError(t, json.Unmarshal(text, &found))
			var names []string
			for _, section := range found.sections() {
				names = append(names, section.name)
			}
			if diff := cmp.Diff(test.sections, names); diff != "" {
				t.Error(diff)
			}
			again := must.Get(json.Marshal(found))(t)
			if diff := cmp.Diff(members(t, text), members(t, again)); diff != "" {
				t.Errorf("stored and read again:\n%s", diff)
			}
			if (found.Hashtag != nil) != test.hashtag {
				t.Errorf("the hashtag is %+v", found.Hashtag)
			}
		})
	}
}

// members returns the members of a JSON object, without a null hashtag.
func members(t *testing.T, text []byte) map[string]any {
	t.Helper()
	var out map[string]any
	must.NoError(t, json.Unmarshal(text, &out))
	if out["hashtag"] == nil {
		delete(out, "hashtag")
	}
	return out
}

// A page of a long section has its part of the items. Short sections are complete.
func TestPagesOfSections(t *testing.T) {
	t.Parallel()
	var found findings
	must.NoError(t, json.Unmarshal(
		[]byte(
			`{"sections":{"words":{"posts":9,"different":3,"words":[{"word":"a","posts":3},{"word":"b","posts":2},`+
				`{"word":"c","posts":1}]},"cadence":{"posts":9}}}`), &found))
	var page ReportSections
	for _, section := range found.sections() {
		if section.write != nil {
			section.write(&page, min(1, section.count), min(2, section.count))
		}
	}
	if page.Cadence == nil || page.Words == nil || page.Words.Different != 3 || len(page.Words.Words) != 1 ||
		page.Words.Words[0].Word != "b" {
		t.Errorf("the page is %+v", page)
	}
	if len(found.Sections.Words.Words) != 3 {
		t.Error("paging changed the findings")
	}
}
