package network_test

import (
	"reflect"
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
			Threads:   &network.ThreadsOptions{}, X: &network.XOptions{}, Pinterest: &network.PinterestOptions{},
			LinkedIn: &network.LinkedInOptions{Mentions: []network.LinkedInMention{}},
		},
		"defaults": {
			Bluesky:   &network.BlueskyOptions{ReplySettings: []string{"everybody"}},
			Facebook:  &network.FacebookOptions{Format: "post"},
			Instagram: &network.InstagramOptions{Format: "post", ShareToFeed: new(true)},
			Threads:   &network.ThreadsOptions{ReplyControl: "everyone"}, LinkedIn: &network.LinkedInOptions{Visibility: "PUBLIC"},
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
	poll := func(duration string) network.Options {
		return network.Options{LinkedIn: &network.LinkedInOptions{
			Poll: &network.LinkedInOptionsPoll{Question: "Which?", Duration: duration},
		}}
	}
	if week := poll("SEVEN_DAYS"); !week.Equal(poll("")) || week.Equal(poll("ONE_DAY")) || week.LinkedIn.Poll.Duration == "" {
		t.Error("a poll of seven days differs from one without a duration, equals one of a day or was changed")
	}
	for name, o := range map[string]network.Options{
		"a pin's link":                        {Pinterest: &network.PinterestOptions{Link: "https://harbour.example"}},
		"connections only":                    {LinkedIn: &network.LinkedInOptions{Visibility: "CONNECTIONS"}},
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

// The options of every network count. No network may be forgotten.
func TestOptionsEqualOfEveryNetwork(t *testing.T) {
	t.Parallel()
	for field := range reflect.TypeFor[network.Options]().Fields() {
		var o network.Options
		chosen := reflect.New(field.Type.Elem())
		for _, f := range chosen.Elem().Fields() {
			if f.Kind() == reflect.String {
				f.SetString("chosen")
			}
		}
		reflect.ValueOf(&o).Elem().FieldByIndex(field.Index).Set(chosen)
		if o.Equal(network.Options{}) {
			t.Errorf("the options of %s equal none", field.Name)
		}
	}
}
