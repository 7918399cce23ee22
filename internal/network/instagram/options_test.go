package instagram_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/network/networktest"
)

// reelOptions are all options of reels.
var reelOptions = with(network.InstagramOptions{
	Format: network.FormatReel, ShareToFeed: new(false), CoverMediaID: 2, Collaborators: []string{"mira.keller", "studio.north"},
	UserTags: tag, LocationID: "123", AudioName: " Waves ", GraduationStrategy: "SS_PERFORMANCE",
})

// with returns options for Instagram.
func with(o network.InstagramOptions) network.Options { return network.Options{Instagram: &o} }

// Check applies the limits of stories, and reports options that have no effect.
func TestCheckOptions(t *testing.T) {
	t.Parallel()
	networktest.RunChecks(t, adapter, map[string]networktest.CheckCase{
		"a story": networktest.NewCheckCase("", upright).With(story),
		"a story with a text": networktest.NewCheckCase(strings.Repeat("#a ", 40)+strings.Repeat("é", 2200), upright,
			"caption_not_sent").With(story),
		"an invisible text in a story": networktest.NewCheckCase(" \u200b\n", upright).With(story),
		"an empty story":               networktest.NewCheckCase("words", nil, "!media_missing", "caption_not_sent").With(story),
		"two stories":                  networktest.NewCheckCase("", slices.Repeat(upright, 2), "!media_too_many").With(story),
		"a story that is not upright":  networktest.NewCheckCase("", one, "media_aspect").With(story),
		"a tall story": networktest.NewCheckCase("", withChange(upright[0], func(m *network.Media) {
			m.Height = 3 * m.Width
		}), "media_aspect").With(story),
		"a PNG story": networktest.NewCheckCase("", withChange(upright[0],
			func(m *network.Media) { m.Type = "image/png" }), "media_type").With(story),
		"a video story": networktest.NewCheckCase("", []network.Media{clip}).With(story),
		"a long video story": networktest.NewCheckCase("", withChange(clip, func(m *network.Media) {
			m.Duration++
		}), "!media_too_long").With(story),
		"a short video story": networktest.NewCheckCase("", withChange(clip, func(m *network.Media) {
			m.Duration = 2 * time.Second
		}), "!media_too_short").With(story),
		"a large video story": networktest.NewCheckCase("", withChange(clip, func(m *network.Media) {
			m.Size++
		}), "!media_too_large").With(story),
		"a flat video story": networktest.NewCheckCase("", withChange(clip, func(m *network.Media) {
			m.Width, m.Height = 1920, 90
		}), "!media_aspect").With(story),
		"a reel by choice":   networktest.NewCheckCase("", []network.Media{film}).With(reel),
		"a reel of an image": networktest.NewCheckCase("", one, "!option_not_supported").With(reel),
		"a reel of two":      networktest.NewCheckCase("", []network.Media{film, film}, "!option_not_supported").With(reel),
		"options of reels":   networktest.NewCheckCase("", []network.Media{film}).With(reelOptions),
		"options of reels without a reel": networktest.NewCheckCase("", one, "option_not_supported", "option_not_supported",
			"option_not_supported").With(with(network.InstagramOptions{ShareToFeed: new(true), CoverMediaID: 1, AudioName: "a"})),
		"a trial that is no reel": networktest.NewCheckCase("", one, "!option_not_supported").
			With(with(network.InstagramOptions{GraduationStrategy: "MANUAL"})),
		"people in a story": networktest.NewCheckCase("", upright, "option_not_supported", "option_not_supported").With(
			with(network.InstagramOptions{
				Format: network.FormatStory, Collaborators: []string{"mira"}, LocationID: "1", UserTags: tag,
			})),
		"tags in an image": networktest.NewCheckCase("", one).With(with(network.InstagramOptions{UserTags: tag})),
		"tags in two videos": networktest.NewCheckCase("", []network.Media{film, film}, "option_not_supported").
			With(with(network.InstagramOptions{UserTags: tag})),
		"an empty reel": networktest.NewCheckCase("", nil, "!media_missing", "!option_not_supported").With(reel),
	})
}
