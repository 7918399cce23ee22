package search

import (
	"strings"
	"testing"
)

// TestMarked checks that the query, or else one of its words, is marked in any case, and that texts are escaped.
func TestMarked(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, query, want string }{
		{"Our Coffee <b>", "coffee", "Our <mark>Coffee</mark> &lt;b&gt;"},
		{"A & b <i>", "<I>", "A &amp; b <mark>&lt;i&gt;</mark>"},
		{"Winter blend, new bag", "bag winter", "Winter blend, new <mark>bag</mark>"},
		{"Käse ÄÖ", "äö", "Käse <mark>ÄÖ</mark>"},
		{"Nothing of it", "tea", "Nothing of it"},
		{"All pages", "", "All pages"},
		{"The winter market opens, come by for coffee and cake", "coffee",
			"The winter market opens, come by for <mark>coffee</mark> and cake"},
		{strings.Repeat("ä", 110) + "coffee", "coffee", "…" + strings.Repeat("ä", 40) + "<mark>coffee</mark>"},
		{strings.Repeat("ä", 60) + "coffee", "coffee", `<span class="far">` + strings.Repeat("ä", 20) +
			`</span><span class="near">…</span>` + strings.Repeat("ä", 40) + "<mark>coffee</mark>"},
	} {
		if got := string(highlight(c.text, c.query)); got != c.want {
			t.Errorf("marked(%q, %q) = %s, want %s", c.text, c.query, got, c.want)
		}
	}
}
