package x

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"go.yaml.in/yaml/v3"

	"pressroom/internal/network"
)

// conformance are the cases that the network publishes for those who count texts by its rules. Other sections are about
// rules of before, or about what is no text of a post.
type conformance struct {
	Tests struct {
		Weighted []conformanceCase `yaml:"WeightedTweetsWithDiscountedEmojiCounterTest"` // the section without Discounted is of version 2
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

// TestPublishedCases runs where the network's own file of cases is present.
func TestPublishedCases(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "shared", "api-descriptions", "twitter-text-validate.yml"))
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("the network's cases are not here")
	}
	if err != nil {
		t.Fatal(err)
	}
	var published conformance
	if err := yaml.Unmarshal(raw, &published); err != nil {
		t.Fatal(err)
	}
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
