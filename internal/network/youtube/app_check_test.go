package youtube_test

import (
	"testing"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/network/networktest"
)

// CheckAccount reports an unverified channel, an exhausted quota and an API that is not enabled.
func TestAppCheck(t *testing.T) {
	t.Parallel()
	f := networktest.New(t, adapter, 0)
	networktest.WantFinding(t, f.CheckAccount(f.Connect("", "studio.north")), network.CheckUnclear,
		"videos longer than 15 minutes", "youtube.com/verify")
	networktest.WantFinding(t, f.CheckAccount(f.Grant()), network.CheckPassed, "videos longer than 15 minutes")
	for reason, want := range map[string]string{
		"quotaExceeded": "Wait until the limit is reset", "accessNotConfigured": "Enable the YouTube Data API v3",
	} {
		s := networktest.NewStub(t, adapter, network.App{}, networktest.StubResponse{
			Status: 403, Body: `{"error":{"message":"no","errors":[{"reason":"` + reason + `"}]}}`,
		})
		n, _ := s.Network.(network.AppChecker)
		networktest.WantFinding(t, n.CheckAccount(t.Context(), s.Grant), network.CheckFailed,
			"Data API and quota: "+reason, want)
	}
}

// YouTube keeps the videos of an unaudited app private, so they never count as published.
func TestUnauditedApp(t *testing.T) {
	t.Parallel()
	f := networktest.New(t, adapter.WithApp("-unaudited"), 0)
	g := f.Grant()
	d := f.MustPrepare(g, "a film", f.Library.Video(1000))
	_, err := f.Commit(g, d)
	networktest.WantClass(t, err, network.AppNotApproved, "privacyStatus")
}
