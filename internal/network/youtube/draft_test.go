package youtube_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/network/youtube"
	"pressroom.example/pressroom/internal/testkit/must"
)

// plannedVideo has the fields of a Draft that describe its video.
type plannedVideo struct {
	Title, Description, Privacy string
	Tags                        []string
}

func TestPlan(t *testing.T) {
	t.Parallel()
	film := func(name string) []network.Media { return []network.Media{{Kind: network.Video, Name: name}} }
	for name, c := range map[string]struct {
		text  string
		media []network.Media
		want  plannedVideo
	}{
		"one line":                             {"Hello", film("a.mp4"), plannedVideo{Title: "Hello"}},
		"the first line":                       {"\n  Hello \r\nthere", film("a.mp4"), plannedVideo{Title: "Hello"}},
		"a long line":                          {strings.Repeat("é", 150), film("a.mp4"), plannedVideo{Title: strings.Repeat("é", 100)}},
		"signs":                                {"<b>Hello</b> > you", film("a.mp4"), plannedVideo{Title: "bHello/b you"}},
		"no text":                              {"", film("Opening <day>.final.mp4"), plannedVideo{Title: "Opening day.final"}},
		"first line without usable characters": {"<>\nx", film("a.mp4"), plannedVideo{Title: "a"}},
		"no name":                              {" ", film(".mp4"), plannedVideo{Title: "Video"}},
		"no video":                             {"", nil, plannedVideo{Title: "Video"}},
		"tags": {
			"a #one #two#no #one #ünï", film("a.mp4"), plannedVideo{Title: "a #one #two#no #one #ünï", Tags: []string{"one", "two", "ünï"}},
		},
		"too many tags": {
			"x\n#" + strings.Repeat("a", 300) + " #" + strings.Repeat("b", 250) + " #" + strings.Repeat("c", 199) + " #d", film("a.mp4"),
			plannedVideo{Title: "x", Tags: []string{strings.Repeat("a", 300), strings.Repeat("c", 199)}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := youtube.New(youtube.Options{Privacy: "unlisted"})
			d := must.Get(n.Plan(network.Submission{Content: network.Content{Text: c.text, Media: c.media}}))(t)
			var got plannedVideo
			must.NoError(t, json.Unmarshal(d, &got))
			c.want.Description, c.want.Privacy = c.text, "unlisted"
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// The title in the options takes precedence over the post's title, which takes precedence over the text.
func TestPlanTitle(t *testing.T) {
	t.Parallel()
	n := youtube.New(youtube.Options{})
	for want, c := range map[string]network.Content{
		"Mine": {Title: "Post", Options: network.Options{YouTube: &network.YouTubeOptions{Title: "Mine"}}},
		"Post": {Title: "Post", Options: network.Options{YouTube: &network.YouTubeOptions{CategoryID: "27"}}},
		"Text": {Title: "\u200b"},
	} {
		c.Text = "Text"
		var got plannedVideo
		must.NoError(t, json.Unmarshal(must.Get(n.Plan(network.Submission{Content: c}))(t), &got))
		if got.Title != want || got.Description != "Text" {
			t.Errorf("planned %+v, want the title %s", got, want)
		}
	}
}

// A video without choices has the options in the settings.
func TestDefaultOptions(t *testing.T) {
	t.Parallel()
	kids := true
	for name, c := range map[string]struct {
		set  youtube.Options
		want network.YouTubeOptions
	}{
		"none": {youtube.Options{}, network.YouTubeOptions{PrivacyStatus: "public"}},
		"settings": {
			youtube.Options{Privacy: "private", MadeForKids: &kids},
			network.YouTubeOptions{PrivacyStatus: "private", SelfDeclaredMadeForKids: &kids},
		},
	} {
		if diff := cmp.Diff(&c.want, youtube.New(c.set).DefaultOptions().YouTube); diff != "" {
			t.Error(name, diff)
		}
	}
}

// Plan returns a valid title and valid tags for any text.
func TestPlanAnyText(t *testing.T) {
	t.Parallel()
	n := youtube.New(youtube.Options{})
	rapid.Check(t, func(t *rapid.T) {
		text, name := rapid.String().Draw(t, "text"), rapid.String().Draw(t, "name")
		d := must.Get(n.Plan(network.Submission{Content: network.Content{Text: text, Media: []network.Media{{Name: name}}}}))(t)
		var got plannedVideo
		must.NoError(t, json.Unmarshal(d, &got))
		if got.Title == "" || utf8.RuneCountInString(got.Title) > 100 || strings.ContainsAny(got.Title, "<>\n") {
			t.Fatalf("title %q", got.Title)
		}
		if all := strings.Join(got.Tags, ","); utf8.RuneCountInString(all) > 500 {
			t.Fatalf("tags %q", all)
		}
	})
}
