package delivery

import (
	"bytes"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/must"
)

// If a network rejects the operator's app, a single log entry says so, even if only a lookup finds out.
func TestLogUnapprovedApp(t *testing.T) {
	t.Parallel()
	rejected := step{verdict: network.Absent, class: network.AppNotApproved}
	for name, n := range map[string]*scriptedNetwork{
		"at the commit":     {commits: []step{{class: network.AppNotApproved}}},
		"at the lookup":     {commits: []step{lostNotSent}, resolves: []step{rejected}},
		"after unconfirmed": {commits: []step{lostNotSent}, resolves: append(repeatStep(maxLookups, unknownAnswer), rejected)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clock := testkit.NewClock(noon)
			s := newEnv(t, testkit.Open(t, testkit.SQLite(t), clock), clock, n)
			var lines bytes.Buffer
			s.log = slog.New(slog.NewTextHandler(&lines, nil))
			s.deliver(t, time.Hour)
			if got := s.outcome(t); got.code != "app_not_approved" ||
				strings.Count(lines.String(), "does not accept this installation's app") != 1 ||
				!strings.Contains(lines.String(), "next_step=") {
				t.Errorf("%+v, log %s", got, lines.String())
			}
		})
	}
}

// publishAnother publishes another post and delivers it.
func (s *env) publishAnother(t *testing.T) {
	t.Helper()
	account := s.do(t, "get_post", map[string]any{"id": s.post})["accounts"].([]any)[0].(map[string]any)["id"]
	s.post = s.do(t, "create_post", map[string]any{"caption": "hello again", "account_ids": []any{account}})["id"].(string)
	s.job = s.do(t, "publish_post", map[string]any{"post_id": s.post})["job_id"].(string)
	s.deliver(t, time.Hour)
}

// The operator is warned once of each reason for which a network rejects an app. A rejection is reported again after
// the app has published other posts for a day.
func TestWarnOncePerReason(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		t.Parallel()
		rejected, other := step{class: network.AppNotApproved}, step{class: network.AppNotApproved, code: "Other"}
		n := &scriptedNetwork{commits: []step{rejected, rejected, other, {}, rejected, {}, rejected, rejected}}
		clock := testkit.NewClock(noon)
		s := newEnv(t, testkit.Open(t, url, clock), clock, n)
		var lines bytes.Buffer
		s.log = slog.New(slog.NewTextHandler(&lines, nil))
		s.deliver(t, time.Hour)
		for i, want := range []int{1, 1, 2, 2, 2, 2, 3, 3} {
			if i > 0 {
				s.publishAnother(t)
			}
			if got := strings.Count(lines.String(), "does not accept this installation's app"); got != want {
				t.Fatalf("%d warnings after post %d, want %d: %s", got, i+1, want, lines.String())
			}
			if i == 5 {
				clock.Advance(25 * time.Hour)
			}
		}
		found := must.Get(s.AppRejections(t.Context()))(t)
		if len(found) != 2 || found[0].NetworkCode != "Scripted" || found[0].Published || found[1].NetworkCode != "Other" ||
			!found[1].Published || found[0].Platform != "bluesky" {
			t.Errorf("rejections %+v", found)
		}
	})
}

// A warning reads only the apps of accounts whose answers matter.
func TestAppsReadForWarning(t *testing.T) {
	t.Parallel()
	clock := testkit.NewClock(noon)
	s := newEnv(t, testkit.Open(t, testkit.SQLite(t), clock), clock, &scriptedNetwork{})
	answer := func(account int64, accepted bool, code string) deliveryVerdict {
		return deliveryVerdict{AppVerdict: AppVerdict{At: noon, Accepted: accepted, NetworkCode: code}, account: account}
	}
	own := answer(6, false, "Scripted")
	own.delivery = "own"
	answers := []deliveryVerdict{
		answer(1, false, "Scripted"), answer(2, false, "Other"), answer(3, true, ""), answer(4, true, ""), answer(5, false, "Other"), own,
	}
	var read []int64
	a := &attempt{s: s.Service, d: delivery{ID: "own"}}
	known := a.isKnownRejection(answers, &network.Error{Code: "Scripted"}, func(account int64) string {
		read = append(read, account)
		return ""
	})
	if !known || !slices.Equal(read, []int64{4, 1}) {
		t.Errorf("known: %v, accounts read: %v", known, read)
	}
}

// The list of rejections reads no apps of networks without rejections.
func TestAppsReadForRejections(t *testing.T) {
	t.Parallel()
	answer := func(platform string, account int64, accepted bool) deliveryVerdict {
		return deliveryVerdict{AppVerdict: AppVerdict{At: noon, Accepted: accepted}, account: account, platform: platform}
	}
	var read []int64
	found := listRejections([]deliveryVerdict{answer("x", 1, true), answer("tiktok", 2, false), answer("x", 3, true),
		answer("tiktok", 4, true)}, func(account int64) string {
		read = append(read, account)
		return ""
	})
	if len(found) != 1 || found[0].Platform != "tiktok" || !found[0].Published || !slices.Equal(read, []int64{4, 2}) {
		t.Errorf("rejections %+v, accounts read: %v", found, read)
	}
}
