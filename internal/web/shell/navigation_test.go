package shell_test

import (
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/web/shell"
)

func TestInitials(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"Harbour & Sons": "HS", "Ada Lovelace King": "AL", "roastery": "r", "Ørsted Café": "ØC", "3rd Wave": "3W",
		"": "?", "…": "?", "北京 咖啡": "北咖",
	} {
		if got := shell.Initials(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

func TestNetworkLogo(t *testing.T) {
	t.Parallel()
	for platform, want := range map[string]string{
		"bluesky": "#net-bsky", "tiktok_business": "#net-tt", "instagram": "#net-ig", "pinterest": "#net-pin",
	} {
		if logo, err := shell.NetworkLogo(platform); err != nil || !strings.Contains(string(logo), want) {
			t.Errorf("%s: %s (%v)", platform, logo, err)
		}
	}
	if logo, err := shell.NetworkLogo("unknown"); err != nil || logo != "" {
		t.Errorf("unknown network: %s (%v)", logo, err)
	}
}
