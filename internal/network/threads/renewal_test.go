package threads_test

import (
	"maps"
	"testing"
	"time"

	"pgregory.net/rapid"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/network/networktest"
	"pressroom.example/pressroom/internal/network/threads"
	"pressroom.example/pressroom/internal/testkit/must"
)

// A token of unknown age is renewed.
func TestRefreshWithoutAge(t *testing.T) {
	t.Parallel()
	f := networktest.New(t, adapter, 0)
	g := f.Grant()
	g.Extra = maps.Clone(g.Extra)
	delete(g.Extra, "issued_at")
	f.Clock.Advance(25 * time.Hour)
	f.Renew(g)
}

// Without access to insights, posts are still listed.
func TestCollectWithoutInsights(t *testing.T) {
	t.Parallel()
	f := networktest.New(t, adapter, 0)
	f.Scopes("threads_basic", "threads_content_publish")
	g := f.Grant()
	f.Post(g, "text")
	if got := f.Collect(g, networktest.Start.Add(-time.Hour), 500); len(got.Posts) != 1 || got.Posts[0].Likes != nil ||
		got.Followers != nil {
		t.Errorf("%+v", got)
	}
}

// The length of a text is at most its number of bytes.
func TestCheckAnyText(t *testing.T) {
	t.Parallel()
	n := threads.New(threads.Options{})
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		must.Get(n.Plan(network.Submission{Seed: "s", Content: network.Content{Text: text}}))(t)
		for _, p := range n.Check(network.Content{Text: text}) {
			if p.Code == "caption_too_long" && len(text) <= 500 {
				t.Fatalf("%d bytes are too long", len(text))
			}
		}
	})
}

// Collect distinguishes an account without a picture from a picture that cannot be read.
func TestCollectWithoutPicture(t *testing.T) {
	t.Parallel()
	for body, none := range map[string]bool{
		`{"data":[]}`: true, `{"data":[],"threads_profile_picture_url":"https://cdn.test/1"}`: false,
	} {
		s := networktest.NewStub(t, adapter, network.App{}, networktest.StubResponse{Body: body})
		got, err := s.Network.(network.Collector).Collect(t.Context(), s.Grant, networktest.Start, 10)
		if err != nil || got.NoPicture != none || none == (got.Picture != "") {
			t.Errorf("%s: %+v, %v", body, got, err)
		}
	}
}
