package hashtags

import (
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"pressroom.example/pressroom/internal/domain/hashtag/list"
	"pressroom.example/pressroom/internal/testkit/must"
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

// TestReadyMadeIcons checks that every ready-made list has a drawing of its own, not the one for unknown icons.
func TestReadyMadeIcons(t *testing.T) {
	t.Parallel()
	files := must.Get(filepath.Glob("../../domain/hashtag/list/readymade/*.json"))(t)
	if len(files) < 40 {
		t.Fatalf("only %d ready-made lists", len(files))
	}
	for _, file := range files {
		var of struct{ Icon string }
		must.NoError(t, json.Unmarshal(must.Get(os.ReadFile(file))(t), &of))
		if iconPath(of.Icon) == icons[0].Path {
			t.Errorf("%s has the icon %s, which has no drawing", file, of.Icon)
		}
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
