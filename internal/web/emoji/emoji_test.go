package emoji

import (
	"strings"
	"testing"

	"github.com/rivo/uniseg"

	"pressroom.example/pressroom/internal/locale"
)

// Every emoji is one character for people, has a name, and is offered once.
func TestEmojiList(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, c := range categories() {
		if c.Name == "" || len(c.Emoji) < 10 {
			t.Errorf("category %q has %d emoji", c.Name, len(c.Emoji))
		}
		for _, e := range c.Emoji {
			if uniseg.GraphemeClusterCount(e.Text) != 1 || seen[e.Text] || e.Name == "" || e.Name != strings.ToLower(e.Name) {
				t.Errorf("%q is named %q", e.Text, e.Name)
			}
			seen[e.Text] = true
		}
	}
	for _, c := range In(locale.German) {
		for _, e := range c.Emoji {
			if e.Name == "" || !strings.Contains(e.Words, " ") {
				t.Errorf("%q is named %q in German, and is found by %q", e.Text, e.Name, e.Words)
			}
		}
	}
	if len(germanNames()) != len(seen) {
		t.Errorf("%d emoji have German names, want %d", len(germanNames()), len(seen))
	}
	if len(seen) < 500 {
		t.Errorf("only %d emoji", len(seen))
	}
}
