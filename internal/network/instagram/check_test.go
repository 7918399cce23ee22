package instagram_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"pressroom/internal/network"
	"pressroom/internal/network/instagram"
)

func TestCheck(t *testing.T) {
	t.Parallel()
	picture := network.Media{Kind: network.Image, Type: "image/jpeg", Size: 8 << 20, Width: 1440, Height: 1800}
	film := network.Media{Kind: network.Video, Type: "video/mp4", Size: 300_000_000, Duration: 15 * time.Minute, Width: 1080, Height: 1920}
	of := func(m network.Media, change func(*network.Media)) []network.Media {
		change(&m)
		return []network.Media{m}
	}
	one := []network.Media{picture}
	for name, c := range map[string]struct {
		text  string
		media []network.Media
		want  []string // the codes, with a ! where they block
	}{
		"an image":        {strings.Repeat("é", 2200), one, nil},
		"a reel":          {"", []network.Media{film}, nil},
		"both":            {"", []network.Media{film, picture}, nil},
		"a text":          {"words", nil, []string{"!media_missing"}},
		"nothing":         {"", nil, []string{"!media_missing"}},
		"too long":        {strings.Repeat("é", 2201), one, []string{"!caption_too_long"}},
		"emoji":           {strings.Repeat("👋", 1100), one, nil},
		"an emoji more":   {strings.Repeat("👋", 1101), one, []string{"!caption_too_long"}},
		"hashtags":        {strings.Repeat("#a ", 6), one, []string{"hashtags_too_many"}},
		"many hashtags":   {strings.Repeat("#a ", 31), one, []string{"!hashtags_too_many"}},
		"many mentions":   {strings.Repeat("@a ", 21), one, []string{"!mentions_too_many"}},
		"a PNG":           {"", of(picture, func(m *network.Media) { m.Type = "image/png" }), []string{"media_type"}},
		"no image":        {"", of(picture, func(m *network.Media) { m.Type = "application/pdf" }), []string{"!media_type"}},
		"a large image":   {"", of(picture, func(m *network.Media) { m.Size++ }), []string{"media_too_large"}},
		"a tall image":    {"", of(picture, func(m *network.Media) { m.Height = 1900 }), []string{"!media_aspect"}},
		"a WebM":          {"", of(film, func(m *network.Media) { m.Type = "video/webm" }), []string{"!media_type"}},
		"a large video":   {"", of(film, func(m *network.Media) { m.Size++ }), []string{"!media_too_large"}},
		"a long video":    {"", of(film, func(m *network.Media) { m.Duration++ }), []string{"!media_too_long"}},
		"a short video":   {"", of(film, func(m *network.Media) { m.Duration = 2 * time.Second }), []string{"!media_too_short"}},
		"eleven pictures": {"", []network.Media{picture, picture, picture, picture, picture, picture, picture, picture, picture, picture, picture}, []string{"!media_too_many"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, p := range instagram.New(instagram.Options{}).Check(network.Content{Text: c.text, Media: c.media}) {
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

// Any text can be planned, and none counts more than it has bytes.
func TestAnyText(t *testing.T) {
	t.Parallel()
	n := instagram.New(instagram.Options{})
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		if _, err := n.Plan(network.Intent{Seed: "s", Content: network.Content{Text: text}}); err != nil {
			t.Fatal(err)
		}
		for _, p := range n.Check(network.Content{Text: text}) {
			if p.Code == "caption_too_long" && len(text) <= 2200 {
				t.Fatalf("%d bytes are too long", len(text))
			}
		}
	})
}
