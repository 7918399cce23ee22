package hashtags

import (
	"net/url"
	"regexp"
	"testing"

	"pressroom.example/pressroom/internal/domain/hashtag/list"
)

// TestLooks checks that the service accepts all offered values and that each has a drawing or color.
func TestLooks(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, one := range icons {
		if !list.IsIcon(one.Value) || one.Path == "" || one.Name == "" || seen[one.Path] {
			t.Errorf("%+v", one)
		}
		seen[one.Path] = true
	}
	for _, one := range colors {
		if !regexp.MustCompile(`^#[0-9a-f]{6}$`).MatchString(one.Value) || seen[one.Value] {
			t.Errorf("%+v", one)
		}
		seen[one.Value] = true
	}
}

// TestSelected checks that the custom value counts only if it is selected.
func TestSelected(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ offered, typed, want, stays string }{
		{"", "#123456", "", ""}, {"#2f7dc4", "#123456", "#2f7dc4", ""},
		{"custom", " #123456 ", "#123456", "#123456"}, {"#12ab9f", "", "#12ab9f", "#12ab9f"},
	} {
		form := url.Values{"color": {c.offered}, "color_typed": {c.typed}}
		if got := selectedValue(form, "color"); got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
		if got := customValue(form, "color", colors); got != c.stays {
			t.Errorf("%+v: %q is kept", c, got)
		}
	}
}
