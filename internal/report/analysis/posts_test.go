package analysis

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"pressroom/internal/report/words"
)

// What stands before the first sign of a hashtag holds none.
func TestTagged(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		caption := rapid.OneOf(
			rapid.StringMatching(`([ab#＃﹟/.@&\n ]|https://a\.example/|\x{3000}|\x{e9}){0,20}`), rapid.String(),
		).Draw(t, "caption")
		if got, want := words.Hashtags(tagged(caption)), words.Hashtags(caption); !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	})
}
