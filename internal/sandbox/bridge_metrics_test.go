package sandbox

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pressroom.example/pressroom/internal/sandbox/bridge"
	"pressroom.example/pressroom/internal/sandbox/world"
)

func (b *fixture) profileMetrics(t *testing.T, profile, query string) bridge.ProfileMetrics {
	t.Helper()
	return decodeBridge[bridge.ProfileMetrics](t, b, profile+"?"+query)
}

func decodeBridge[T any](t *testing.T, b *fixture, path string) T {
	t.Helper()
	a := b.get(t, "/vendor/v1/"+path)
	var result T
	if err := json.Unmarshal(a.body, &result); err != nil || a.status != http.StatusOK {
		t.Fatalf("%s: HTTP %d: %s", path, a.status, a.body)
	}
	return result
}

// allMetrics returns the posts of all pages. It calls between before each page after the first one.
func (b *fixture) allMetrics(t *testing.T, profile, query string, between func()) []bridge.PostMetrics {
	t.Helper()
	page := b.profileMetrics(t, profile, query)
	all := page.Posts
	for page.Next != "" {
		between()
		page = b.profileMetrics(t, profile, query+"&cursor="+url.QueryEscape(page.Next))
		all = append(all, page.Posts...)
	}
	return all
}

// The metrics of a profile contain the same posts as its media, and do not change during a day.
func TestBridgeMetricsMatchMedia(t *testing.T) {
	t.Parallel()
	now := vendorNow
	b := startBridge(t, &now)
	for _, profile := range []string{"instagram/profiles/harbour.bread", "tiktok/profiles/x.y"} {
		media := b.allMedia(t, profile, "type=posts&limit=50", func() {})
		posts := b.allMetrics(t, profile, "limit=60", func() { now = now.Add(2 * time.Hour) })
		now = vendorNow
		if len(posts) != len(media) || int64(len(posts)) != b.profileMetrics(t, profile, "").Profile.Posts {
			t.Fatalf("%s: %d posts and %d media", profile, len(posts), len(media))
		}
		for i, post := range posts {
			item := media[i]
			video := post.Format == world.FormatVideo || post.Format == world.FormatReel
			if post.ID != item.ID || post.Caption != item.Caption || post.TakenAt != item.TakenAt ||
				post.Duration != item.Duration || video != (item.Kind == "video") {
				t.Errorf("%s: post %+v does not match media %+v", profile, post, item)
			}
			for _, tag := range post.Hashtags {
				if !slices.Contains(strings.Fields(post.Caption), "#"+tag) {
					t.Errorf("caption %q lacks #%s", post.Caption, tag)
				}
			}
		}
		if diff := cmp.Diff(posts, b.allMetrics(t, profile, "limit=200", func() {})); diff != "" {
			t.Errorf("%s with larger pages: %s", profile, diff)
		}
	}
}

func TestBridgeMetricsSince(t *testing.T) {
	t.Parallel()
	now := vendorNow
	b := startBridge(t, &now)
	all := b.allMetrics(t, "tiktok/profiles/x.y", "limit=200", func() {})
	since := all[len(all)/2].TakenAt
	filtered := b.allMetrics(t, "tiktok/profiles/x.y", "limit=9&since="+url.QueryEscape(since), func() {})
	if diff := cmp.Diff(all[:len(all)/2+1], filtered); diff != "" {
		t.Error(diff)
	}
	if empty := b.profileMetrics(t, "tiktok/profiles/x.y",
		"since="+url.QueryEscape(now.Format(time.RFC3339))).Posts; empty == nil || len(empty) != 0 {
		t.Errorf("since now: %v", empty)
	}
}

// Some profiles hide likes, and on Instagram only videos have views.
func TestBridgeHiddenMetrics(t *testing.T) {
	t.Parallel()
	now := vendorNow
	b := startBridge(t, &now)
	hidden := 0
	for _, p := range someProfiles(60) {
		result := b.profileMetrics(t, p.Platform+"/profiles/"+p.Name, "limit=5")
		for _, post := range result.Posts {
			isStill := p.Platform == "instagram" && (post.Format == world.FormatImage || post.Format == world.FormatCarousel)
			if (post.Likes == nil) != p.Traits().HidesLikes || (post.Views == nil) != isStill {
				t.Errorf("%s: %+v", p.Name, post)
			}
			if post.Likes == nil {
				hidden++
			}
		}
	}
	if hidden == 0 {
		t.Error("no profile hides likes")
	}
}

func TestBridgeMetricsErrors(t *testing.T) {
	t.Parallel()
	elapsed := make(chan time.Time)
	close(elapsed)
	b := start(t, Options{After: func(time.Duration) <-chan time.Time { return elapsed }})
	for path, want := range map[string]struct {
		status int
		error  string
	}{
		"instagram/profiles/missing.you":         {http.StatusNotFound, "profile_not_found"},
		"instagram/profiles/no-name":             {http.StatusNotFound, "profile_not_found"},
		"tiktok/profiles/private.me":             {http.StatusForbidden, "profile_private"},
		"tiktok/profiles/error.x":                {http.StatusInternalServerError, "internal"},
		"tiktok/profiles/slow.a":                 {http.StatusOK, ""},
		"bluesky/profiles/a":                     {http.StatusNotFound, "not_offered"},
		"tiktok/profiles/a?limit=0":              {http.StatusBadRequest, "invalid_limit"},
		"tiktok/profiles/a?since=yesterday":      {http.StatusBadRequest, "invalid_since"},
		"tiktok/profiles/a?cursor=x":             {http.StatusBadRequest, "invalid_cursor"},
		"instagram/hashtags/missing_things":      {http.StatusNotFound, "hashtag_not_found"},
		"instagram/hashtags/2026":                {http.StatusNotFound, "hashtag_not_found"},
		"instagram/hashtags/a-b":                 {http.StatusNotFound, "hashtag_not_found"},
		"instagram/hashtags/errors":              {http.StatusInternalServerError, "internal"},
		"bluesky/hashtags/bread":                 {http.StatusNotFound, "not_offered"},
		"instagram/hashtags/bread?limit=x":       {http.StatusBadRequest, "invalid_limit"},
		"tiktok/hashtags/%D8%AE%D8%A8%D8%B2":     {http.StatusOK, ""},
		"instagram/hashtags/%E6%9C%9D?limit=500": {http.StatusOK, ""},
	} {
		if a := b.get(t, "/vendor/v1/"+path); a.status != want.status || a.Name() != want.error {
			t.Errorf("%s: HTTP %d: %s", path, a.status, a.body)
		}
	}
	empty := b.profileMetrics(t, "instagram/profiles/empty.room", "")
	if empty.Posts == nil || len(empty.Posts) != 0 || empty.Profile.Followers == 0 || empty.Profile.Posts != 0 {
		t.Errorf("empty profile: %+v", empty)
	}
}

// Later responses only add newer posts, and the top posts do not change during the day.
func TestBridgeHashtag(t *testing.T) {
	t.Parallel()
	now := vendorNow
	b := startBridge(t, &now)
	fetch := func(limit string) bridge.HashtagMetrics {
		return decodeBridge[bridge.HashtagMetrics](t, b, "instagram/hashtags/bread?limit="+limit)
	}
	first := fetch("1000")
	if diff := cmp.Diff(first, fetch("1000")); diff != "" {
		t.Errorf("second request: %s", diff)
	}
	now = now.Add(time.Hour)
	second := fetch("1000")
	if diff := cmp.Diff(first.Top, second.Top); diff != "" {
		t.Errorf("top posts an hour later: %s", diff)
	}
	if second.Hashtag.Posts < first.Hashtag.Posts {
		t.Errorf("%d posts, an hour later %d", first.Hashtag.Posts, second.Hashtag.Posts)
	}
	index := slices.IndexFunc(second.Recent, func(post bridge.PostMetrics) bool { return post.ID == first.Recent[0].ID })
	if index < 1 || second.Recent[index].Caption != first.Recent[0].Caption {
		t.Errorf("an hour later, the newest post is at position %d", index)
	}
	few := fetch("3")
	oldest, from := few.Recent[2].TakenAt, few.RecentFrom
	if len(few.Top) != 3 || len(few.Recent) != 3 || from <= oldest || from > now.Format(time.RFC3339) {
		t.Errorf("%d top posts, %d recent posts since %s", len(few.Top), len(few.Recent), from)
	}
}

// A small hashtag's posts of 24 hours fit on one page.
func TestBridgeSmallHashtag(t *testing.T) {
	t.Parallel()
	now := vendorNow
	b := startBridge(t, &now)
	for _, h := range someHashtags(100) {
		if h.Size(now.Unix())-h.Size(now.Unix()-24*60*60) > 200 {
			continue
		}
		result := decodeBridge[bridge.HashtagMetrics](t, b, h.Platform+"/hashtags/"+h.Name+"?limit=1000")
		if want := now.Add(time.Second - 24*time.Hour).Format(time.RFC3339); result.RecentFrom != want || result.Hashtag.Posts < 100 {
			t.Errorf("#%s: %d posts, since %s", h.Name, result.Hashtag.Posts, result.RecentFrom)
		}
	}
}
