package reference

import (
	"os"
	"testing"
)

// TestPeople compares the descriptions for people with the operations.
func TestPeople(t *testing.T) {
	t.Parallel()
	described, err := os.ReadFile("../../../api/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	made, err := newBook(described)
	if err != nil {
		t.Fatal(err)
	}
	known := linksOf(made.chapters)
	for tool := range known {
		if peopleTexts[tool] == "" {
			t.Errorf("%s has no description for people", tool)
		}
	}
	if len(peopleTexts) != len(known) {
		t.Errorf("%d descriptions for %d operations", len(peopleTexts), len(known))
	}
}
