package hashtags

import (
	"slices"
	"testing"

	"pressroom.example/pressroom/internal/domain/hashtag/list"
)

// The hashtags of the team's posts are suggested by use, with the ready-made list that has the most of them.
func TestSuggestions(t *testing.T) {
	t.Parallel()
	used := mostUsed([]string{"Open #Quay", "Good morning #coffee #2026", "Again #coffee, C#minor", ""})
	if !slices.Equal(used, []string{"coffee", "quay"}) {
		t.Errorf("used %v", used)
	}
	lists := []list.ReadyMade{{Name: "Sea", Hashtags: []string{"quay", "boat"}},
		{Name: "Food", Hashtags: []string{"coffee", "quay", "cake"}}, {Name: "Cars", Hashtags: []string{"cars"}}}
	if best := mostSimilar(lists, used); best.Name != "Food" {
		t.Errorf("similar to %q", best.Name)
	}
	if best := mostSimilar(lists, nil); best.Name != "" {
		t.Errorf("without hashtags, similar to %q", best.Name)
	}
}
