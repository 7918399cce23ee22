package bluesky_test

import (
	"testing"

	"pressroom/internal/network"
	"pressroom/internal/network/networktest"
)

// An account whose email address is not confirmed can post, but no videos.
func TestAppCheck(t *testing.T) {
	t.Parallel()
	f := networktest.New(t, withVideoService, 0)
	found := f.CheckedAccount(f.Connect("", networktest.Unconfirmed))
	networktest.WantFinding(t, found, network.Works, "session")
	networktest.WantFinding(t, found, network.Fails, "videos", "confirm the email address")
	networktest.WantFinding(t, f.CheckedAccount(f.Grant()), network.Works, "videos")
}
