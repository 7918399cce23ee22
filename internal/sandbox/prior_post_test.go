package sandbox

import (
	"bytes"
	"encoding/json"
	"image"
	"image/jpeg"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/sandbox/insights"
	"pressroom.example/pressroom/internal/testkit/must"
)

// Prior posts are listed like other posts, with their times and counts.
func TestPriorPosts(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	b := start(t, Options{Now: func() time.Time { return now }})
	b.account(t, "alice.test")
	var picture bytes.Buffer
	must.NoError(t, jpeg.Encode(&picture, image.NewGray(image.Rect(0, 0, 64, 64)), nil))
	first, second := now.AddDate(0, 0, -30), now.AddDate(0, 0, -3)
	for platform, handle := range map[string]string{
		"bluesky": "alice.test", "threads": "harbour.coffee", "instagram": "harbour.coffee",
	} {
		posts := []PriorPost{{Text: "The first", At: first}, {Text: "The second", At: second}}
		if platform == "instagram" {
			posts[0].Image, posts[1].Image = picture.Bytes(), picture.Bytes()
		}
		must.NoError(t, b.AddPriorPosts(t.Context(), platform, handle, posts))
		stored, err := b.posts(t.Context(), platform, "")
		if err != nil || len(stored) != 2 {
			t.Fatalf("%s: stored posts: %v (%v)", platform, stored, err)
		}
		if !stored[0].At.Equal(first) || stored[1].Text != "The second" || !json.Valid(stored[1].Body) {
			t.Errorf("%s: stored posts: %+v", platform, stored)
		}
		if counts := insights.Count(stored[0], now); counts.Views == 0 || stored[0].ID == stored[1].ID {
			t.Errorf("%s: counts of %s: %+v", platform, stored[0].ID, counts)
		}
		for _, m := range stored[1].Media {
			if got := fetch(t, b.url+"/"+m.Path); !bytes.Equal(got, picture.Bytes()) {
				t.Errorf("%s: image has %d bytes", platform, len(got))
			}
		}
		if images := len(stored[1].Media); (platform == "instagram") != (images == 1) {
			t.Errorf("%s: post has %d images", platform, images)
		}
	}
	if err := b.AddPriorPosts(t.Context(), "threads", "nobody", nil); err == nil || !strings.Contains(err.Error(),
		"no account with this handle") {
		t.Errorf("unknown account: %v", err)
	}
}

func fetch(t *testing.T, address string) []byte {
	t.Helper()
	request := must.Get(http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil))(t)
	response := must.Get(http.DefaultClient.Do(request))(t)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%d (%v)", response.StatusCode, err)
	}
	return body
}
