package library

import (
	"net/url"
	"slices"
	"strings"
	"testing"
)

// The aspect ratios of the chosen networks are suggested, those of most networks first. No ratio is lost.
func TestSuggestedShapes(t *testing.T) {
	for _, c := range []struct{ networks, want string }{
		{"", ""}, {"unknown", ""}, {"pinterest", "2x3"}, {"threads instagram linkedin", "1x1 4x5 1.91x1"},
		{"linkedin facebook", "1x1 1.91x1 4x5"}, {"story", "9x16"}, {"bluesky tiktok x", "16x9 9x16"},
	} {
		form := &PostForm{For: strings.Fields(c.networks)}
		suggested, others := form.suggestedShapes()
		if got := valuesOf(suggested); strings.Join(got, " ") != c.want {
			t.Errorf("%q: %q, want %q", c.networks, got, c.want)
		}
		all := slices.Sorted(slices.Values(append(valuesOf(suggested), valuesOf(others)...)))
		if want := slices.Sorted(slices.Values(valuesOf(shapes[1:]))); !slices.Equal(all, want) {
			t.Errorf("%q: all shapes are %q, want %q", c.networks, all, want)
		}
	}
	if suggested, others := (*PostForm)(nil).suggestedShapes(); len(suggested) != 0 || len(others) != len(shapes)-1 {
		t.Errorf("without a form: %v, %v", suggested, others)
	}
}

func valuesOf(list []shape) []string {
	out := []string{}
	for _, s := range list {
		out = append(out, s.Value)
	}
	return out
}

// Paths lead only to the composer.
func TestPostFormOf(t *testing.T) {
	const draft, post = "ABCDEFGHIJKLMNOPQRSTUVWX23", "0190a6e2-7c1f-7cc1-8b0e-3d1f5c7a9b42"
	for _, c := range []struct{ draft, post, list, want string }{
		{draft, "", "0", "/posts/new?unsaved=" + draft + "#item-0-7"},
		{draft, post, "12", "/posts/" + post + "/edit?unsaved=" + draft + "#item-12-7"},
		{draft, "", "part-2", "/posts/new?unsaved=" + draft + "#item-part-2-7"},
		{"", "", "0", ""}, {draft, "", "", ""}, {draft + "\n", "", "0", ""}, {draft, "//evil.example", "0", ""},
		{draft, "..", "0", ""}, {draft, strings.ToUpper(post), "0", ""}, {draft, "{" + post + "}", "0", ""},
		{draft, "", "0\n", ""}, {draft, "", "-1", ""}, {draft, "", `"><script>`, ""}, {"//evil.example/AAAAAAAAAAAA", "", "0", ""},
	} {
		f, err := postFormOf(url.Values{"draft": {c.draft}, "post": {c.post}, "list": {c.list}})
		switch {
		case c.want == "" && (err == nil || f != nil):
			t.Errorf("%v is accepted", c)
		case c.want != "" && err != nil:
			t.Errorf("%v: %v", c, err)
		case c.want != "" && f.ImagePath(7) != c.want:
			t.Errorf("%v: %s", c, f.ImagePath(7))
		}
	}
	if f, err := postFormOf(url.Values{}); f != nil || err != nil {
		t.Errorf("without a form: %v, %v", f, err)
	}
	want := PostForm{Draft: draft, Post: post, List: "part-2", For: []string{"x", "story"}}
	path, err := url.Parse(want.CropPath(7))
	if err != nil || path.Path != "/media/7/crop" {
		t.Fatalf("%s: %v", path, err)
	}
	if got, err := postFormOf(path.Query()); err != nil || got.Path() != want.Path() || !slices.Equal(got.For, want.For) {
		t.Errorf("%v: %v", got, err)
	}
}
