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

// Earlier posts are shown like others, with their times and counts.
func TestEarlierPosts(t *testing.T) {
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
		posts := []Earlier{{Text: "The first", At: first}, {Text: "The second", At: second}}
		if platform == "instagram" {
			posts[0].Image, posts[1].Image = picture.Bytes(), picture.Bytes()
		}
		must.NoError(t, b.AddEarlier(t.Context(), platform, handle, posts))
		held, err := b.posts(t.Context(), platform, "")
		if err != nil || len(held) != 2 {
			t.Fatalf("%s has %v (%v)", platform, held, err)
		}
		if !held[0].At.Equal(first) || held[1].Text != "The second" || !json.Valid(held[1].Body) {
			t.Errorf("%s has %+v", platform, held)
		}
		if counted := insights.Count(held[0], now); counted.Views == 0 || held[0].ID == held[1].ID {
			t.Errorf("%s has counted %+v at %s", platform, counted, held[0].ID)
		}
		for _, m := range held[1].Media {
			if got := fetch(t, b.url+"/"+m.Path); !bytes.Equal(got, picture.Bytes()) {
				t.Errorf("%s gives %d bytes of the picture", platform, len(got))
			}
		}
		if listed := len(held[1].Media); (platform == "instagram") != (listed == 1) {
			t.Errorf("%s shows %d pictures", platform, listed)
		}
	}
	if err := b.AddEarlier(t.Context(), "threads", "nobody", nil); err == nil || !strings.Contains(err.Error(),
		"no account with this handle") {
		t.Errorf("of an unknown account: %v", err)
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
