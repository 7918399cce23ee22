package bluesky_test

import (
	"testing"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/network/networktest"
)

// An account with an unconfirmed email address can post text and images, but not videos.
func TestAppCheck(t *testing.T) {
	t.Parallel()
	f := networktest.New(t, withVideoService, 0)
	found := f.CheckAccount(f.Connect("", networktest.Unconfirmed))
	networktest.WantFinding(t, found, network.CheckPassed, "session")
	networktest.WantFinding(t, found, network.CheckFailed, "videos", "confirm the email address")
	networktest.WantFinding(t, f.CheckAccount(f.Grant()), network.CheckPassed, "videos")
}

// CheckAccount reports what the account's server and the video service say about the account.
func TestAppCheckAnswers(t *testing.T) {
	t.Parallel()
	const session, limits, token = "getSession", "getUploadLimits", "getServiceAuth"
	for name, c := range map[string]struct {
		method string
		answer networktest.StubResponse
		result network.CheckResult
		parts  []string
	}{
		"deactivated": {session, networktest.StubResponse{Body: `{"active":false}`}, network.CheckFailed,
			[]string{"session", "AccountInactive", "Connect the account again"}},
		"expired session": {session, networktest.StubResponse{Status: 400,
			Body: `{"error":"ExpiredToken","message":"old"}`}, network.CheckFailed,
			[]string{"session", "ExpiredToken"}},
		"daily quota": {limits, networktest.StubResponse{Body: `{"canUpload":false,"remainingDailyVideos":0}`},
			network.CheckFailed, []string{"videos", "Wait until the limit is reset"}},
		"rejected for an unknown reason": {limits,
			networktest.StubResponse{Body: `{"canUpload":false,"message":"Not today."}`}, network.CheckFailed,
			[]string{"videos", "Not today.", "sign in to Bluesky"}},
		"unknown account": {limits, networktest.StubResponse{Status: 401, Body: `{"error":"AuthMissing"}`},
			network.CheckUnclear, []string{"videos", "does not accept uploads from the account"}},
		"server without service tokens": {token, networktest.StubResponse{Status: 501,
			Body: `{"error":"MethodNotImplemented"}`},
			network.CheckUnclear, []string{"videos", "does not accept uploads from the account"}},
		"video service fails": {limits, networktest.StubResponse{Status: 503}, network.CheckUnclear,
			[]string{"videos", "Run the check again later"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			answers := map[string][]networktest.StubResponse{session: {{Body: `{"active":true,"emailConfirmed":true}`}}}
			answers[c.method] = []networktest.StubResponse{c.answer}
			s, _ := videoServer(t, answers)
			n, _ := s.Network.(network.AppChecker)
			networktest.WantFinding(t, n.CheckAccount(t.Context(), s.Grant), c.result, c.parts...)
		})
	}
}
