package tiktok_test

import (
	"testing"
	"time"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/network/tiktok"
)

// For a day after the account's settings were read, Check warns about a video that is too long for the account. Check
// makes no request.
func TestVideoLimit(t *testing.T) {
	t.Parallel()
	g := serve(t, map[string]string{
		"/creator_info/query/": success(`{"privacy_level_options":["SELF_ONLY"],"max_video_post_duration_sec":60}`),
	})
	g.Account = "mira"
	clock := time.Date(2026, 11, 1, 9, 0, 0, 0, time.UTC)
	n := tiktok.New(tiktok.Options{App: network.App{Now: func() time.Time { return clock }}})
	long, short := film, film
	long.Duration, short.Duration = 61*time.Second, time.Minute
	warned := func(account string, options network.TikTokOptions, media ...network.Media) bool {
		found := n.Check(network.Content{Account: account, Media: media, Options: tiktokOptions(options)})
		if len(found) > 0 && (found[0].Blocking || found[0].Code != "media_too_long") {
			t.Errorf("%+v", found)
		}
		return len(found) > 0
	}
	if warned("mira", direct, long) {
		t.Error("a warning before the settings were read")
	}
	_ = n.CheckAccount(t.Context(), g)
	if !warned("mira", direct, long) {
		t.Error("no warning of a long video")
	}
	if warned("mira", direct, short) || warned("another", direct, long) || warned("", direct, long) ||
		warned("mira", network.TikTokOptions{Mode: network.TikTokInbox}, long) {
		t.Error("a warning of a post that TikTok accepts")
	}
	clock = clock.Add(25 * time.Hour)
	if warned("mira", direct, long) {
		t.Error("a warning by old settings")
	}
}
