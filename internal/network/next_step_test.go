package network_test

import (
	"strings"
	"testing"

	"pressroom/internal/network"
)

// Each network with an app has a next step for any code, and its own for those that say what is missing.
func TestNextStep(t *testing.T) {
	t.Parallel()
	for _, platform := range []string{"facebook", "instagram", "linkedin", "pinterest", "threads", "tiktok", "x", "youtube"} {
		if network.NextStep(platform, "unknown") == "" {
			t.Errorf("%s has no next step", platform)
		}
	}
	if step := network.NextStep("pinterest", "29"); !strings.Contains(step, "Standard access") {
		t.Error(step)
	}
	if step := network.NextStep("bluesky", ""); step != "" {
		t.Error(step)
	}
}
