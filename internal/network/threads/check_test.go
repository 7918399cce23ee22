package threads_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"pressroom/internal/network"
	"pressroom/internal/network/threads"
)

func TestCheck(t *testing.T) {
	t.Parallel()
	picture := network.Media{Kind: network.Image, Type: "image/jpeg", Size: 8_000_000, Width: 1440, Height: 1000}
	film := network.Media{Kind: network.Video, Type: "video/mp4", Size: 1_000_000_000, Duration: 5 * time.Minute}
	of := func(m network.Media, change func(*network.Media)) []network.Media {
		change(&m)
		return []network.Media{m}
	}
	for name, c := range map[string]struct {
		text  string
		media []network.Media
		want  []string // the codes, with a ! where they block
	}{
		"a text":           {strings.Repeat("é", 500), nil, nil},
		"no text":          {" \u200b\n", nil, []string{"!caption_missing"}},
		"too long":         {strings.Repeat("é", 501), nil, []string{"!caption_too_long"}},
		"emoji":            {strings.Repeat("👋", 125), nil, nil},
		"an emoji more":    {strings.Repeat("👋", 126), nil, []string{"!caption_too_long"}},
		"a family":         {strings.Repeat("x", 475) + "👨‍👩‍👧‍👦", nil, nil},
		"a family too far": {strings.Repeat("x", 476) + "👨‍👩‍👧‍👦", nil, []string{"!caption_too_long"}},
		"one link often":   {strings.Repeat("https://a.test ", 6), nil, nil},
		"too many links":   {"http://a.a http://a.b http://a.c http://a.d http://a.e HTTPS://a.f", nil, []string{"!links_too_many"}},
		"a hashtag":        {"#one a#no", nil, nil},
		"two hashtags":     {"#one #two #three", nil, []string{"hashtags_too_many"}},
		"media alone":      {"", []network.Media{picture, film}, nil},
		"a GIF":            {"", of(picture, func(m *network.Media) { m.Type = "image/gif" }), []string{"media_type"}},
		"no image":         {"", of(picture, func(m *network.Media) { m.Type = "application/pdf" }), []string{"!media_type"}},
		"a large image":    {"", of(picture, func(m *network.Media) { m.Size++ }), []string{"media_too_large"}},
		"a wide image":     {"", of(picture, func(m *network.Media) { m.Width++ }), []string{"media_too_large"}},
		"a strip":          {"", of(picture, func(m *network.Media) { m.Height = 143 }), []string{"!media_aspect"}},
		"a WebM":           {"", of(film, func(m *network.Media) { m.Type = "video/webm" }), []string{"!media_type"}},
		"a large video":    {"", of(film, func(m *network.Media) { m.Size++ }), []string{"!media_too_large"}},
		"a long video":     {"", of(film, func(m *network.Media) { m.Duration++ }), []string{"!media_too_long"}},
		"twenty-one": {"", func() []network.Media {
			var many []network.Media
			for range 21 {
				many = append(many, picture)
			}
			return many
		}(), []string{"!media_too_many"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, p := range threads.New(threads.Options{}).Check(network.Content{Text: c.text, Media: c.media}) {
				code := p.Code
				if p.Blocking {
					code = "!" + code
				}
				got = append(got, code)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// No text counts more than it has bytes.
func TestCheckAnyText(t *testing.T) {
	t.Parallel()
	n := threads.New(threads.Options{})
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		if _, err := n.Plan(network.Intent{Seed: "s", Content: network.Content{Text: text}}); err != nil {
			t.Fatal(err)
		}
		for _, p := range n.Check(network.Content{Text: text}) {
			if p.Code == "caption_too_long" && len(text) <= 500 {
				t.Fatalf("%d bytes are too long", len(text))
			}
		}
	})
}
