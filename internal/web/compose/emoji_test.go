package compose

import (
	"strings"
	"testing"

	"github.com/rivo/uniseg"
)

// Every emoji is one character for people, has a name, and is offered once.
func TestEmojiList(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, c := range emojiCategories() {
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
	if len(seen) < 500 {
		t.Errorf("there are only %d", len(seen))
	}
}
