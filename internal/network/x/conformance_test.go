package x

import (
	"os"
	"path/filepath"
	"testing"

	"go.yaml.in/yaml/v3"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/testkit/must"
)

// conformance has X's published test cases for counting characters. The file's other sections test older rules or other
// features.
type conformance struct {
	Tests struct {
		Weighted []conformanceCase `yaml:"WeightedTweetsWithDiscountedEmojiCounterTest"` // the section without Discounted is for version 2
		Unicode  []conformanceCase `yaml:"UnicodeDirectionalMarkerCounterTest"`
	}
}

type conformanceCase struct {
	Description, Text string
	Expected          struct {
		WeightedLength int `yaml:"weightedLength"`
		Valid          bool
	}
}

// TestPublishedCases runs the network's own cases.
func TestPublishedCases(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join("..", "networktest", "descriptions", "twitter-text-validate.yml"))
	must.NoError(t, err)
	var published conformance
	must.NoError(t, yaml.Unmarshal(raw, &published))
	count := 0
	for _, c := range append(published.Tests.Weighted, published.Tests.Unicode...) {
		count++
		if got := Count(c.Text); got != c.Expected.WeightedLength {
			t.Errorf("%s: %d, want %d", c.Description, got, c.Expected.WeightedLength)
		}
		if found := Rules().Check(network.Content{Text: c.Text}); (len(found) == 0) != c.Expected.Valid {
			t.Errorf("%s: %v", c.Description, found)
		}
	}
	if count < 20 {
		t.Errorf("only %d cases", count)
	}
}
