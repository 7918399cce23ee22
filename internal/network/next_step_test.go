package network_test

import (
	"os"
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/testkit/must"
)

// Each network with an app has a default next step, and specific next steps for error codes that name the cause.
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
	if step := network.NextStep("tiktok", "scope_not_authorized"); !strings.Contains(step, `"scopes" in the settings`) {
		t.Error(step)
	}
	lost := &network.Error{Class: network.ReconnectRequired, Code: "invalid_grant"}
	for platform, want := range map[string]string{
		"youtube": "choose Publish app", "x": "Connect the account again, and allow everything.",
	} {
		if step := network.CallFinding(platform, "access token", lost).NextStep; !strings.Contains(step, want) {
			t.Errorf("%s: %s", platform, step)
		}
	}
	if step := network.NextStep("bluesky", ""); step != "" {
		t.Error(step)
	}
}

// The guide of a network explains each code with a specific next step.
func TestNextStepInGuide(t *testing.T) {
	t.Parallel()
	for platform, codes := range map[string][]string{
		"linkedin":  {"NONEXISTENT_VERSION"},
		"pinterest": {"29"},
		"tiktok":    {"unaudited_client_can_only_post_to_private_accounts", "url_ownership_unverified", "scope_not_authorized"},
		"youtube":   {"privacyStatus", "accessNotConfigured", "invalid_grant"},
	} {
		guide := string(must.Get(os.ReadFile("../../docs/networks/" + platform + ".md"))(t))
		for _, code := range codes {
			if network.NextStep(platform, code) == network.NextStep(platform, "") || !strings.Contains(guide, code) {
				t.Errorf("%s: %s has no specific next step, or is missing in the guide", platform, code)
			}
		}
	}
}
