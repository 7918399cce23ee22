package youtube_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"pressroom/internal/network"
	"pressroom/internal/network/youtube"
)

// described is what a Draft says of its video.
type described struct {
	Title, Description, Privacy string
	Tags                        []string
}

func TestPlan(t *testing.T) {
	t.Parallel()
	film := func(name string) []network.Media { return []network.Media{{Kind: network.Video, Name: name}} }
	for name, c := range map[string]struct {
		text  string
		media []network.Media
		want  described
	}{
		"one line":          {"Hello", film("a.mp4"), described{Title: "Hello"}},
		"the first line":    {"\n  Hello \r\nthere", film("a.mp4"), described{Title: "Hello"}},
		"a long line":       {strings.Repeat("é", 150), film("a.mp4"), described{Title: strings.Repeat("é", 100)}},
		"signs":             {"<b>Hello</b> > you", film("a.mp4"), described{Title: "bHello/b you"}},
		"no text":           {"", film("Opening <day>.final.mp4"), described{Title: "Opening day.final"}},
		"nothing but signs": {"<>\nx", film("a.mp4"), described{Title: "a"}},
		"no name":           {" ", film(".mp4"), described{Title: "Video"}},
		"no video":          {"", nil, described{Title: "Video"}},
		"tags":              {"a #one #two#no #one #ünï", film("a.mp4"), described{Title: "a #one #two#no #one #ünï", Tags: []string{"one", "two", "ünï"}}},
		"too many tags": {
			"x\n#" + strings.Repeat("a", 300) + " #" + strings.Repeat("b", 250) + " #" + strings.Repeat("c", 199) + " #d", film("a.mp4"),
			described{Title: "x", Tags: []string{strings.Repeat("a", 300), strings.Repeat("c", 199)}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, err := youtube.New(youtube.Options{Privacy: "unlisted"}).Plan(network.Intent{Content: network.Content{Text: c.text, Media: c.media}})
			if err != nil {
				t.Fatal(err)
			}
			var got described
			if err := json.Unmarshal(d, &got); err != nil {
				t.Fatal(err)
			}
			c.want.Description, c.want.Privacy = c.text, "unlisted"
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Whatever the text, the title and the tags are some that the network takes.
func TestPlanAnyText(t *testing.T) {
	t.Parallel()
	n := youtube.New(youtube.Options{})
	rapid.Check(t, func(t *rapid.T) {
		text, name := rapid.String().Draw(t, "text"), rapid.String().Draw(t, "name")
		d, err := n.Plan(network.Intent{Content: network.Content{Text: text, Media: []network.Media{{Name: name}}}})
		if err != nil {
			t.Fatal(err)
		}
		var got described
		if err := json.Unmarshal(d, &got); err != nil {
			t.Fatal(err)
		}
		if got.Title == "" || utf8.RuneCountInString(got.Title) > 100 || strings.ContainsAny(got.Title, "<>\n") {
			t.Fatalf("title %q", got.Title)
		}
		if all := strings.Join(got.Tags, ","); utf8.RuneCountInString(all) > 500 {
			t.Fatalf("tags %q", all)
		}
	})
}

func TestCheck(t *testing.T) {
	t.Parallel()
	film := []network.Media{{Kind: network.Video, Type: "video/mp4", Size: 1}}
	for name, c := range map[string]struct {
		text  string
		media []network.Media
		want  []string // the codes, with a ! where they block
	}{
		"a video":         {"", film, nil},
		"a long text":     {strings.Repeat("x", 5000), film, nil},
		"too long":        {strings.Repeat("x", 5001), film, []string{"!caption_too_long"}},
		"too many bytes":  {strings.Repeat("é", 2501), film, []string{"!caption_too_long"}},
		"less than":       {"1 < 2", film, []string{"!caption_characters"}},
		"greater than":    {"2 > 1", film, []string{"!caption_characters"}},
		"a text alone":    {"x", nil, []string{"!media_missing"}},
		"an image":        {"x", []network.Media{{Kind: network.Image, Type: "image/png"}}, []string{"!media_type"}},
		"a WebM":          {"x", []network.Media{{Kind: network.Video, Type: "video/webm"}}, []string{"!media_type"}},
		"too many tags":   {strings.Repeat("#tag ", 61), film, []string{"hashtags_too_many"}},
		"two videos":      {"x", append(film, film...), []string{"!media_too_many"}},
		"a sign, no file": {"<", nil, []string{"!caption_characters", "!media_missing"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, p := range youtube.New(youtube.Options{}).Check(network.Content{Text: c.text, Media: c.media}) {
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
