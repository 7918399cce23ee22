package tiktok_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"pressroom/internal/network"
	"pressroom/internal/network/tiktok"
)

func TestCheck(t *testing.T) {
	t.Parallel()
	photo := network.Media{Kind: network.Image, Type: "image/jpeg", Size: 20_000_000, Width: 1920, Height: 1080}
	film := network.Media{Kind: network.Video, Type: "video/webm", Size: 4_000_000_000, Width: 360, Height: 4096, Duration: 10 * time.Minute}
	of := func(m network.Media, change func(*network.Media)) []network.Media {
		change(&m)
		return []network.Media{m}
	}
	for name, c := range map[string]struct {
		text  string
		media []network.Media
		want  []string // the codes, with a ! where they block
	}{
		"a photo":            {"", []network.Media{photo}, nil},
		"a video":            {strings.Repeat("é", 2200), []network.Media{film}, nil},
		"a text alone":       {"x", nil, []string{"!media_missing"}},
		"emoji of a photo":   {strings.Repeat("👋", 2000), []network.Media{photo}, nil},
		"too many of these":  {strings.Repeat("👋", 2001), []network.Media{photo}, []string{"!caption_too_long"}},
		"too long a title":   {strings.Repeat("é", 2201), []network.Media{film}, []string{"!caption_too_long"}},
		"both":               {"", []network.Media{photo, film}, []string{"!media_mix"}},
		"two videos":         {"", []network.Media{film, film}, []string{"!media_too_many"}},
		"a PNG":              {"", of(photo, func(m *network.Media) { m.Type = "image/png" }), []string{"media_type"}},
		"no photo":           {"", of(photo, func(m *network.Media) { m.Type = "application/pdf" }), []string{"!media_type"}},
		"a wide photo":       {"", of(photo, func(m *network.Media) { m.Width++ }), []string{"media_too_large"}},
		"a narrow video":     {"", of(film, func(m *network.Media) { m.Width-- }), []string{"!media_aspect"}},
		"a short video":      {"", of(film, func(m *network.Media) { m.Duration = 3*time.Second - 1 }), []string{"!media_too_short"}},
		"a long video":       {"", of(film, func(m *network.Media) { m.Duration++ }), []string{"!media_too_long"}},
		"thirty-six photos":  {"", slicesOf(photo, 36), []string{"!media_too_many"}},
		"thirty-five photos": {"", slicesOf(photo, 35), nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, p := range tiktok.New(tiktok.Options{}).Check(network.Content{Text: c.text, Media: c.media}) {
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

func slicesOf(m network.Media, count int) []network.Media {
	many := make([]network.Media, count)
	for i := range many {
		many[i] = m
	}
	return many
}

// The same intent gives the same draft, whatever the text.
func TestPlanIsTheSame(t *testing.T) {
	t.Parallel()
	n := tiktok.New(tiktok.Options{})
	rapid.Check(t, func(t *rapid.T) {
		intent := network.Intent{Seed: "s", First: start, At: start, Content: network.Content{Text: string(rapid.SliceOf(rapid.Byte()).Draw(t, "text"))}}
		first, err := n.Plan(intent)
		intent.At = start.Add(time.Hour)
		second, again := n.Plan(intent)
		if err != nil || again != nil || string(first) != string(second) {
			t.Fatalf("%s and %s, %v, %v", first, second, err, again)
		}
	})
}
