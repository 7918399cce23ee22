package network_test

import (
	"testing"

	"pressroom.example/pressroom/internal/network"
)

func TestOptionsEqual(t *testing.T) {
	t.Parallel()
	none := network.Options{}
	for name, same := range map[string]network.Options{
		"empty objects": {
			Bluesky: &network.BlueskyOptions{Languages: []string{}}, Facebook: &network.FacebookOptions{},
			Instagram: &network.InstagramOptions{Collaborators: []string{}, UserTags: []network.InstagramUserTag{}},
			Threads:   &network.ThreadsOptions{}, X: &network.XOptions{},
		},
		"defaults": {
			Bluesky:   &network.BlueskyOptions{ReplySettings: []string{"everybody"}},
			Facebook:  &network.FacebookOptions{Format: "post"},
			Instagram: &network.InstagramOptions{Format: "post", ShareToFeed: new(true)},
			Threads:   &network.ThreadsOptions{ReplyControl: "everyone"},
		},
	} {
		if !same.Equal(none) || !none.Equal(same) {
			t.Errorf("%s differ from no options", name)
		}
	}
	a := network.Options{Bluesky: &network.BlueskyOptions{
		ReplySettings: []string{"mentioned", "following"}, Labels: []string{"nudity", "porn"},
	}}
	b := network.Options{Bluesky: &network.BlueskyOptions{
		ReplySettings: []string{"following", "mentioned"}, Labels: []string{"porn", "nudity"},
	}}
	if !a.Equal(b) || a.Bluesky.ReplySettings[0] != "mentioned" {
		t.Errorf("the order of sets counts or was changed: %v", a.Bluesky.ReplySettings)
	}
	for name, o := range map[string]network.Options{
		"a team default replaced for TikTok":  {TikTok: &network.TikTokOptions{}},
		"a team default replaced for YouTube": {YouTube: &network.YouTubeOptions{}},
		"a story":                             {Instagram: &network.InstagramOptions{Format: "story"}},
		"a reel outside the feed":             {Instagram: &network.InstagramOptions{ShareToFeed: new(false)}},
		"a language":                          {Bluesky: &network.BlueskyOptions{Languages: []string{"en"}}},
		"nobody":                              {Bluesky: &network.BlueskyOptions{ReplySettings: []string{"nobody"}}},
	} {
		if o.Equal(none) {
			t.Errorf("%s equals no options", name)
		}
	}
}
