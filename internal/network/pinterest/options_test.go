package pinterest_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/network/networktest"
	"pressroom.example/pressroom/internal/network/pinterest"
	"pressroom.example/pressroom/internal/testkit/must"
)

// optionsOf returns a post with options for Pinterest.
func optionsOf(text string, o network.PinterestOptions, media ...network.Media) network.Content {
	return network.Content{Text: text, Media: media, Options: network.Options{Pinterest: &o}}
}

// prepare plans and prepares a pin.
func prepare(t *testing.T, f *networktest.Fixture, g network.Grant, c network.Content) (network.Draft, error) {
	t.Helper()
	intent := network.Submission{Seed: c.Text, FirstSubmittedAt: networktest.Start, At: networktest.Start, Content: c}
	d, _, err := f.Network().Prepare(t.Context(), g, must.Get(f.Network().Plan(intent))(t), f.Library)
	return d, err
}

// A pin has the chosen title and link, and is in the section of the board with the chosen name or ID.
func TestOptions(t *testing.T) {
	t.Parallel()
	f := networktest.New(t, adapter, 0)
	g, n := f.Grant(), f.Network()
	title := ""
	publish := func(text string, o network.PinterestOptions) map[string]any {
		c := optionsOf(text, o, f.Library.Image("png", 9, 9))
		c.Title = title
		d := must.Get(prepare(t, f, g, c))(t)
		receipt := must.Get(n.Commit(t.Context(), g, d, f.Library))(t)
		verdict, found, err := n.Resolve(t.Context(), g, d, network.CommitHistory{First: f.Clock.Now(), Last: f.Clock.Now()})
		if err != nil || verdict != network.Published || found.ID != receipt.ID {
			t.Errorf("%s: %v, %+v, %v", text, verdict, found, err)
		}
		sent := f.Transport.Requests("POST /pinterest/v5/pins")
		var body map[string]any
		must.NoError(t, json.Unmarshal(sent[len(sent)-1].Body, &body))
		for _, name := range []string{"alt_text", "board_id", "description", "media_source"} {
			delete(body, name)
		}
		return body
	}
	byName := publish("See https://example.org/a", network.PinterestOptions{
		Title: " Menu ", Link: "https://example.com/menu", BoardSection: "winter",
	})
	section, _ := byName["board_section_id"].(string)
	want := map[string]any{"title": "Menu", "link": "https://example.com/menu", "board_section_id": section}
	if diff := cmp.Diff(want, byName); diff != "" || section == "" {
		t.Error(section, diff)
	}
	want = map[string]any{"title": "See https://example.org/b", "link": "https://example.org/b", "board_section_id": section}
	if diff := cmp.Diff(want, publish("See https://example.org/b", network.PinterestOptions{BoardSection: section})); diff != "" {
		t.Error(diff)
	}
	want, title = map[string]any{"title": "Cake"}, "Title of the post"
	if diff := cmp.Diff(want, publish("None", network.PinterestOptions{Title: "Cake"})); diff != "" {
		t.Error(diff)
	}
	want["title"] = title
	if diff := cmp.Diff(want, publish("Own", network.PinterestOptions{})); diff != "" {
		t.Error(diff)
	}
}

// Pins with equal texts and images are told apart by their title and section. After a lost response, a pin is not taken
// for another one.
func TestResolveByTitleAndSection(t *testing.T) {
	t.Parallel()
	for name, other := range map[string]network.PinterestOptions{
		"title": {Title: "Cake"}, "section": {Title: "Menu", BoardSection: "winter"},
	} {
		f := networktest.New(t, adapter, 0)
		g, n, image := f.Grant(), f.Network(), f.Library.Image("png", 9, 9)
		lost := must.Get(prepare(t, f, g, optionsOf("", network.PinterestOptions{Title: "Menu"}, image)))(t)
		must.Get(n.Commit(t.Context(), g, must.Get(prepare(t, f, g, optionsOf("", other, image)))(t), f.Library))(t)
		since := network.CommitHistory{First: f.Clock.Now(), Last: f.Clock.Now()}
		f.Clock.Advance(time.Hour)
		if verdict, receipt, err := n.Resolve(t.Context(), g, lost, since); err != nil || verdict != network.Absent {
			t.Errorf("another %s: %v, %+v, %v", name, verdict, receipt, err)
		}
	}
}

// A pin for a section that the board does not have is not published.
func TestMissingSection(t *testing.T) {
	t.Parallel()
	f := networktest.New(t, adapter, 0)
	g := f.Grant()
	c := optionsOf("x", network.PinterestOptions{BoardSection: "Christmas"}, f.Library.Image("png", 9, 9))
	_, err := prepare(t, f, g, c)
	if rejected := networktest.WantClass(t, err, network.Rejected, "SectionNotFound"); !strings.Contains(rejected.Message, "section") {
		t.Errorf("%+v", rejected)
	}
	f.WantPosts(0)
}

func TestDraftOfInvalidSection(t *testing.T) {
	t.Parallel()
	n := pinterest.New(pinterest.Options{})
	for _, section := range []string{`"section":"a"`, `"section":"a","section_id":"../me"`} {
		d := network.Draft(`{"pinterest":true,"ready":"2026-11-21T09:00:00Z","media":[{"id":1,"kind":"image"}],` + section + `}`)
		_, err := n.Commit(t.Context(), network.Grant{Extra: map[string]string{"board": "1"}}, d, nil)
		networktest.WantClass(t, err, network.Rejected, "")
	}
}

func TestCheckOptions(t *testing.T) {
	t.Parallel()
	media := network.Media{Kind: network.Image, Type: "image/png"}
	for name, c := range map[string]struct {
		o    network.PinterestOptions
		want []string
	}{
		"none": {}, "all": {o: network.PinterestOptions{Title: strings.Repeat("é", 100), Link: "https://a.test", BoardSection: "Kuchen"}},
		"long title":      {network.PinterestOptions{Title: strings.Repeat("é", 101)}, []string{"title"}},
		"another scheme":  {network.PinterestOptions{Link: "ftp://a.test"}, []string{"link"}},
		"long link":       {network.PinterestOptions{Link: "https://a.test/" + strings.Repeat("a", 2048)}, []string{"link"}},
		"long section":    {network.PinterestOptions{BoardSection: strings.Repeat("é", 181)}, []string{"board_section"}},
		"link and a name": {network.PinterestOptions{Link: "x", BoardSection: "x"}, []string{"link"}},
	} {
		var got []string
		for _, p := range pinterest.New(pinterest.Options{}).Check(optionsOf("text", c.o, media)) {
			_, field, _ := strings.Cut(p.Message, "(options.pinterest.")
			field, _, _ = strings.Cut(field, ")")
			if got = append(got, field); p.Code != "option_not_supported" || !p.Blocking {
				t.Errorf("%s: %+v", name, p)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

func TestAltTextOfVideo(t *testing.T) {
	t.Parallel()
	networktest.WantVideoAltText(t, adapter)
}
