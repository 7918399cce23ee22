package sandbox

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"image/jpeg"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pressroom.example/pressroom/internal/sandbox/bridge"
	"pressroom.example/pressroom/internal/sandbox/world"
	"pressroom.example/pressroom/internal/testkit/must"
)

var vendorNow = time.Date(2026, 11, 21, 9, 30, 0, 0, time.UTC)

var worldDay = world.DayOf(vendorNow)

// someProfiles returns Instagram and TikTok profiles.
func someProfiles(count int) []world.Profile {
	var profiles []world.Profile
	for i := range count {
		platform := []string{"instagram", "tiktok"}[i%2]
		profiles = append(profiles, world.Profile{Platform: platform, Name: fmt.Sprintf("stranger.%d", i)})
	}
	return profiles
}

func someHashtags(count int) []world.Hashtag {
	var hashtags []world.Hashtag
	for i := range count {
		platform := []string{"instagram", "tiktok"}[i%2]
		hashtags = append(hashtags, world.Hashtag{Platform: platform, Name: fmt.Sprintf("thing%d", i)})
	}
	return hashtags
}

// startBridge starts a sandbox whose clock shows *now.
func startBridge(t *testing.T, now *time.Time) *fixture {
	t.Helper()
	return start(t, Options{Now: func() time.Time { return *now }, URL: "http://sandbox.example"})
}

func (b *fixture) media(t *testing.T, profile, query string) bridge.MediaPage {
	t.Helper()
	a := b.get(t, "/vendor/v1/"+profile+"/media?"+query)
	var result bridge.MediaPage
	if err := json.Unmarshal(a.body, &result); err != nil || a.status != http.StatusOK {
		t.Fatalf("%s %s: HTTP %d: %s", profile, query, a.status, a.body)
	}
	return result
}

// allMedia returns the items of all pages. It calls between before each page after the first one.
func (b *fixture) allMedia(t *testing.T, profile, query string, between func()) []bridge.Item {
	t.Helper()
	var all []bridge.Item
	page := b.media(t, profile, query)
	for all = page.Items; page.Next != ""; all = append(all, page.Items...) {
		between()
		page = b.media(t, profile, query+"&cursor="+url.QueryEscape(page.Next))
	}
	return all
}

func TestBridgeMediaStableWithinDay(t *testing.T) {
	t.Parallel()
	now := vendorNow
	b, other := startBridge(t, &now), startBridge(t, &now)
	for platform, types := range map[string][]string{
		"instagram": {"profile", "avatar", "posts", "reels", "stories", "highlights"},
		"tiktok":    {"profile", "avatar", "posts", "playlists"},
	} {
		for _, kind := range types {
			profile, query := platform+"/profiles/harbour.bread", "limit=50&type="+kind
			first := b.media(t, profile, query)
			if diff := cmp.Diff(first, other.media(t, profile, query)); diff != "" {
				t.Errorf("%s in another sandbox: %s", query, diff)
			}
			if kind != "stories" && len(first.Items) == 0 {
				t.Errorf("%s %s: no items", platform, kind)
			}
		}
	}
	posts := func(name string) bridge.MediaPage {
		return b.media(t, "instagram/profiles/"+name, "type=posts&limit=50")
	}
	morning := posts("harbour.bread")
	now = now.Add(14 * time.Hour)
	if diff := cmp.Diff(morning, posts("harbour.bread")); diff != "" {
		t.Errorf("later on the same day: %s", diff)
	}
	if cmp.Equal(morning.Items, posts("harbour.bread2").Items) {
		t.Error("two profiles are equal")
	}
	now = now.AddDate(0, 0, 10)
	later := posts("harbour.bread")
	if cmp.Equal(morning.Items, later.Items) || !strings.Contains(ids(later.Items), morning.Items[0].ID) {
		t.Error("ten days later, new posts are missing or an old post is gone")
	}
}

func ids(items []bridge.Item) string {
	var all strings.Builder
	for _, item := range items {
		all.WriteString(item.ID + " ")
	}
	return all.String()
}

// Pages list each item once, newest first, even if a new day starts between two requests.
func TestBridgePages(t *testing.T) {
	t.Parallel()
	now := vendorNow
	b := startBridge(t, &now)
	for profile, kind := range map[string]string{
		"instagram/profiles/harbour.bread": "posts", "instagram/profiles/studio_nord": "reels", "tiktok/profiles/x.y": "profile",
	} {
		startTime := now
		want := ids(b.allMedia(t, profile, "limit=50&type="+kind, func() {}))
		items := b.allMedia(t, profile, "limit=7&type="+kind, func() { now = now.Add(time.Hour) })
		if got := ids(items); got != want || len(items) < 30 || len(items) > 450 {
			t.Errorf("%s %s: %d items: %s, want %s", profile, kind, len(items), got, want)
		}
		seen, newest := map[string]bool{}, startTime.Format(time.RFC3339)
		for i, item := range items {
			if seen[item.ID] || item.TakenAt > newest {
				t.Errorf("%s %s: item %d is a duplicate or newer than the previous item", profile, kind, i)
			}
			seen[item.ID] = true
			if item.TakenAt != "" {
				newest = item.TakenAt
			}
		}
	}
}

func TestBridgeStoriesExpire(t *testing.T) {
	t.Parallel()
	now := vendorNow
	b := startBridge(t, &now)
	count := 0
	for range 30 {
		now = now.Add(7 * time.Hour)
		stories := b.media(t, "instagram/profiles/harbour.bread", "type=stories&limit=50").Items
		count += len(stories)
		for _, item := range stories {
			at, err := time.Parse(time.RFC3339, item.TakenAt)
			if err != nil || at.After(now) || now.Sub(at) >= 24*time.Hour || len(stories) > 6 {
				t.Errorf("at %s: one of %d stories has the time %q", now, len(stories), item.TakenAt)
			}
		}
	}
	if count == 0 {
		t.Error("no stories")
	}
}

func TestBridgeMediaErrors(t *testing.T) {
	t.Parallel()
	waits := make(chan time.Duration, 1)
	b := start(t, Options{After: func(d time.Duration) <-chan time.Time {
		waits <- d
		elapsed := make(chan time.Time)
		close(elapsed)
		return elapsed
	}})
	for path, want := range map[string]struct {
		status int
		error  string
	}{
		"instagram/profiles/missing.you/media?type=posts":                       {http.StatusNotFound, "profile_not_found"},
		"instagram/profiles/no-name/media?type=posts":                           {http.StatusNotFound, "profile_not_found"},
		"tiktok/profiles/private.me/media?type=posts":                           {http.StatusForbidden, "profile_private"},
		"tiktok/profiles/error.x/media?type=posts":                              {http.StatusInternalServerError, "internal"},
		"tiktok/profiles/a/media?type=stories":                                  {http.StatusBadRequest, "invalid_type"},
		"bluesky/profiles/a/media?type=posts":                                   {http.StatusBadRequest, "invalid_type"},
		"tiktok/profiles/a/media?type=posts&limit=51":                           {http.StatusBadRequest, "invalid_limit"},
		"tiktok/profiles/a/media?type=posts&limit=x":                            {http.StatusBadRequest, "invalid_limit"},
		"tiktok/profiles/a/media?type=posts&cursor=x":                           {http.StatusBadRequest, "invalid_cursor"},
		"tiktok/profiles/a/media?type=posts&cursor=eyJkIjoxfQ":                  {http.StatusBadRequest, "invalid_cursor"},
		"tiktok/profiles/a/media?type=posts&cursor=eyJ0IjoicG9zdHMiLCJmIjotMX0": {http.StatusBadRequest, "invalid_cursor"},
		"tiktok/profiles/slow.a/media?type=posts":                               {http.StatusOK, ""},
	} {
		if a := b.get(t, "/vendor/v1/"+path); a.status != want.status || a.Name() != want.error {
			t.Errorf("%s: HTTP %d: %s", path, a.status, a.body)
		}
	}
	if waited := <-waits; waited != 3*time.Second {
		t.Errorf("delay: %s", waited)
	}
	empty := "instagram/profiles/empty.room"
	if n := len(b.media(t, empty, "type=posts").Items); n != 0 {
		t.Errorf("empty profile: %d posts", n)
	}
	avatar := b.media(t, empty, "type=avatar").Items
	if diff := cmp.Diff(avatar, b.media(t, empty, "type=profile").Items); diff != "" || len(avatar) != 1 {
		t.Errorf("empty profile: items other than the avatar: %s", diff)
	}
}

// Every file matches its item, never changes, and differs from other files.
func TestBridgeFiles(t *testing.T) {
	t.Parallel()
	now := vendorNow
	b := startBridge(t, &now)
	items := b.media(t, "instagram/profiles/harbour.bread", "type=profile&limit=8").Items
	items = append(items, b.media(t, "instagram/profiles/studio_nord", "type=reels&limit=8").Items...)
	seen := map[[sha256.Size]byte]bool{}
	for _, item := range items {
		path := strings.TrimPrefix(item.URL, "http://sandbox.example")
		file := b.get(t, path)
		if !bytes.Equal(file.body, b.get(t, path).body) {
			t.Errorf("%s differs in the second response", path)
		}
		sum := sha256.Sum256(file.body)
		if seen[sum] || len(file.body) > 200_000 {
			t.Errorf("%s is a duplicate or too large: %d bytes", path, len(file.body))
		}
		seen[sum] = true
		if item.Kind == "video" {
			checkVideo(t, item, file)
		} else {
			checkPicture(t, item, file)
		}
	}
}

func checkPicture(t *testing.T, item bridge.Item, file answer) {
	t.Helper()
	picture, err := jpeg.Decode(bytes.NewReader(file.body))
	if err != nil || file.header.Get("Content-Type") != "image/jpeg" {
		t.Errorf("%s is not a JPEG: %v", item.URL, err)
	} else if size := picture.Bounds().Size(); size.X != item.Width || size.Y != item.Height {
		t.Errorf("%s has the size %s", item.URL, size)
	}
}

// checkVideo reads the boxes of an MP4, which must end with the file.
func checkVideo(t *testing.T, item bridge.Item, file answer) {
	t.Helper()
	var boxes []string
	remaining := file.body
	for len(remaining) >= 8 {
		size := int(remaining[0])<<24 | int(remaining[1])<<16 | int(remaining[2])<<8 | int(remaining[3])
		boxes = append(boxes, string(remaining[4:8]))
		if size < 8 || size > len(remaining) {
			break
		}
		remaining = remaining[size:]
	}
	if got := strings.Join(boxes, " "); got != "ftyp moov free mdat free" || len(remaining) != 0 {
		t.Errorf("%s has the boxes %s and %d more bytes", item.URL, got, len(remaining))
	}
	if item.Duration <= 0 || file.header.Get("Content-Type") != "video/mp4" || !bytes.Contains(file.body, []byte("avcC")) {
		t.Errorf("%s is not an H.264 video with a duration", item.URL)
	}
}

func TestBridgeFileRanges(t *testing.T) {
	t.Parallel()
	now := vendorNow
	b := startBridge(t, &now)
	path := "/vendor/files/640x360/0000000000000000001.mp4"
	whole := b.get(t, path).body
	request := func(method string, header http.Header) answer {
		r, _ := http.NewRequestWithContext(t.Context(), method, b.url+path, http.NoBody)
		r.Header = header
		response := must.Get(http.DefaultClient.Do(r))(t)
		defer response.Body.Close()
		var body bytes.Buffer
		_, _ = body.ReadFrom(response.Body)
		return answer{status: response.StatusCode, header: response.Header, body: body.Bytes()}
	}
	if a := request(http.MethodGet, http.Header{"Range": {"bytes=10-19"}}); a.status != http.StatusPartialContent ||
		!bytes.Equal(a.body, whole[10:20]) {
		t.Errorf("range: HTTP %d: %d bytes", a.status, len(a.body))
	}
	if a := request(http.MethodHead, http.Header{}); a.status != http.StatusOK || len(a.body) != 0 ||
		a.header.Get("Accept-Ranges") != "bytes" {
		t.Errorf("HEAD: HTTP %d: %d bytes", a.status, len(a.body))
	}
	for _, path := range []string{
		"1x1/0000000000000000001.jpg", "640x360/0000000000000000001.jpg", "640x360/1.mp4",
		"99999x99999/0000000000000000001.jpg", "640x360/0000000000000000001.gif",
	} {
		if a := b.get(t, "/vendor/files/"+path); a.status != http.StatusNotFound {
			t.Errorf("%s: HTTP %d", path, a.status)
		}
	}
}
