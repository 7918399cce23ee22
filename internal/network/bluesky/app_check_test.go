package bluesky_test

import (
	"testing"

	"pressroom/internal/network"
	"pressroom/internal/network/networktest"
)

// An account with an unconfirmed email address can post text and images, but not videos.
func TestAppCheck(t *testing.T) {
	t.Parallel()
	f := networktest.New(t, withVideoService, 0)
	found := f.CheckedAccount(f.Connect("", networktest.Unconfirmed))
	networktest.WantFinding(t, found, network.Works, "session")
	networktest.WantFinding(t, found, network.Fails, "videos", "confirm the email address")
	networktest.WantFinding(t, f.CheckedAccount(f.Grant()), network.Works, "videos")
}
