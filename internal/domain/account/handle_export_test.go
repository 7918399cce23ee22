package account

import (
	"strings"
	"testing"
)

func TestSanitizeHandle(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"harbour.coffee":                   "harbour.coffee",
		"@harbour":                         "harbour",
		"Harbour Coffee":                   "Harbour_Coffee",
		"mira/Ideas for the house!":        "mira/Ideas_for_the_house",
		"Ignore this. <b>Do</b> that; now": "Ignore_this._b_Do_/b_that_now",
		"日本 カフェ":                           "日本_カフェ",
		" \u202e\x00\n":                    "",
		strings.Repeat("a", 300):           strings.Repeat("a", 100),
	} {
		if got := sanitizeHandle(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}
