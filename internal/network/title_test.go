package network

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func checkTitle(platform string, c Content) []string {
	rules, _ := DefaultRules(platform)
	return codes(rules.CheckTitle(platform, c))
}

func TestTitleOn(t *testing.T) {
	t.Parallel()
	article := Options{LinkedIn: &LinkedInOptions{Article: &LinkedInOptionsArticle{}}}
	story := Options{Facebook: &FacebookOptions{Format: FormatStory}}
	own := Options{YouTube: &YouTubeOptions{Title: "Mine"}, Facebook: &FacebookOptions{Title: "Mine"}}
	for name, c := range map[string]struct {
		platform, title string
		media           []Media
		options         Options
		want            string
	}{
		"video":                   {"youtube", "Post", []Media{mp4()}, Options{}, "Post"},
		"options first":           {"youtube", "Post", []Media{mp4()}, own, "Mine"},
		"none":                    {"youtube", "", nil, Options{}, ""},
		"invisible":               {"youtube", " \u200b", nil, Options{}, ""},
		"pin":                     {"pinterest", "Post", []Media{jpeg()}, Options{}, "Post"},
		"Facebook video":          {"facebook", "Post", []Media{mp4()}, Options{}, "Post"},
		"Facebook image":          {"facebook", "Post", []Media{jpeg()}, own, ""},
		"Facebook story":          {"facebook", "Post", []Media{mp4()}, story, ""},
		"article":                 {"linkedin", "Post", nil, article, "Post"},
		"article with an image":   {"linkedin", "Post", []Media{jpeg()}, article, ""},
		"text on LinkedIn":        {"linkedin", "Post", nil, Options{}, ""},
		"photos":                  {"tiktok", "Post", []Media{jpeg(), jpeg()}, Options{}, "Post"},
		"video on TikTok":         {"tiktok", "Post", []Media{mp4()}, Options{}, ""},
		"network without a title": {"bluesky", "Post", nil, Options{}, ""},
	} {
		got := Content{Title: c.title, Media: c.media, Options: c.options}.TitleOn(c.platform)
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// A title is checked only on networks that publish it, and only if their options have no title.
func TestCheckTitle(t *testing.T) {
	t.Parallel()
	for platform, limit := range map[string]int{"youtube": 100, "pinterest": 100, "facebook": 255, "tiktok": 90} {
		media := []Media{mp4()}
		if platform == "tiktok" {
			media = []Media{jpeg()}
		}
		c := Content{Title: strings.Repeat("é", limit), Media: media}
		if got := checkTitle(platform, c); got != nil {
			t.Errorf("%s: %v", platform, got)
		}
		c.Title += "é"
		if diff := cmp.Diff([]string{"title_too_long"}, checkTitle(platform, c)); diff != "" {
			t.Errorf("%s: %s", platform, diff)
		}
	}
	long := Content{Title: strings.Repeat("x", 300) + "<"}
	if diff := cmp.Diff([]string{"title_too_long", "title_characters"}, checkTitle("youtube", long)); diff != "" {
		t.Error(diff)
	}
	for _, platform := range []string{"bluesky", "tiktok", "linkedin"} {
		if got := checkTitle(platform, long); got != nil {
			t.Errorf("%s: %v", platform, got)
		}
	}
	long.Options.YouTube = &YouTubeOptions{Title: "Short"}
	if got := checkTitle("youtube", long); got != nil {
		t.Error(got)
	}
}
