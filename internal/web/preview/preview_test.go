package preview

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"pressroom.example/pressroom/internal/domain/post"
	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/testkit/must"
)

func TestFold(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text         string
		chars, lines int
		shown, rest  string
	}{
		{"short", 10, 3, "short", ""}, {"", 10, 3, "", ""},
		{"onetwothree four", 13, 3, "onetwothree", " four"},
		{"onetwothreefour", 5, 3, "onetw", "othreefour"},
		{strings.Repeat("👋🏽", 4), 3, 3, strings.Repeat("👋🏽", 3), "👋🏽"},
		{strings.Repeat("👋🏽", 3), 3, 3, strings.Repeat("👋🏽", 3), ""},
		{"a\nb\nc\nd", 50, 3, "a\nb\nc", "\nd"},
		{"a\nb\nc\n \n", 50, 3, "a\nb\nc\n \n", ""},
		{"a\nb", 50, 3, "a\nb", ""},
	} {
		if shown, rest := splitPreview(c.text, c.chars, c.lines); shown != c.shown || rest != c.rest {
			t.Errorf("%q at %d: %q and %q", c.text, c.chars, shown, rest)
		}
	}
	want := []part{{"Go", false}, {" ", false}, {"#coffee,", true}, {" ", false}, {"https://a.example", true}}
	if diff := cmp.Diff(want, parts("Go #coffee, https://a.example")); diff != "" {
		t.Error(diff)
	}
}

func TestFoldKeepsText(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringN(0, 40, -1).Draw(t, "text")
		shown, rest := splitPreview(text, rapid.IntRange(1, 30).Draw(t, "characters"), rapid.IntRange(1, 4).Draw(t, "lines"))
		if shown+rest != text || utf8.ValidString(text) != (utf8.ValidString(shown) && utf8.ValidString(rest)) {
			t.Fatalf("%q became %q and %q", text, shown, rest)
		}
		var all strings.Builder
		for _, p := range parts(text) {
			all.WriteString(p.Text)
		}
		if all.String() != text {
			t.Fatalf("%q became %q", text, all.String())
		}
	})
}

// The date of a post is its publication date or, if it is not published, its scheduled date in the time zone.
func TestDate(t *testing.T) {
	t.Parallel()
	zone := must.Get(time.LoadLocation("Europe/Berlin"))(t)
	scheduled, published := time.Date(2026, 6, 1, 23, 0, 0, 0, time.UTC), time.Date(2026, 6, 3, 9, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		post post.Record
		want string
	}{
		{post.Record{}, ""},
		{post.Record{ScheduledAt: scheduled}, "2 Jun 2026"},
		{post.Record{ScheduledAt: scheduled, PublishedAt: published}, "3 Jun 2026"},
	} {
		if got := Date(locale.English, c.post, zone); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// draw returns the HTML of a post on a network.
func draw(t *testing.T, platform string, c network.Content) string {
	t.Helper()
	html, err := New(Author{ID: 7, Platform: platform, Username: "harbour/Ideas", Name: "Harbour <b>"}, c).HTML()
	if err != nil {
		t.Fatal(err)
	}
	return string(html)
}

// Previews of all networks differ, escape the text of the post, and contain the whole text.
func TestLooks(t *testing.T) {
	t.Parallel()
	text := "Winter <market> #coffee\nof @harbour\n\n" + strings.Repeat("Twelve stalls and one long bar. ", 20)
	media := []network.Media{
		{ID: 11, Kind: network.Image, Name: "a&b", Width: 400, Height: 500, Alt: "The <quay>"},
		{ID: 12, Kind: network.Image, Name: "second", Gone: true},
		{ID: 13, Kind: network.Video, Name: "third", Cover: 2500e6},
	}
	for platform, wants := range map[string][]string{
		"x": {"@<bdi>harbour/Ideas", `class="pics n3"`}, "bluesky": {"@<bdi>harbour/Ideas", `class="pics n3"`},
		"threads": {`class="roll tall"`}, "instagram": {`class="roll tall"`, "… more", "1/3"},
		"facebook": {"Just now", "… more", `class="pics n3"`}, "linkedin": {"Repost", "… more", `class="pics n3"`},
		"tiktok": {"@<bdi>harbour/Ideas", "… more"}, "tiktok_business": {"pv-tiktok"},
		"youtube":   {"<b><bdi>Winter &lt;market&gt; #coffee</bdi></b>", "… more"},
		"pinterest": {"<b><bdi>Winter &lt;market&gt; #coffee</bdi></b>", "Saved to <bdi>Ideas"},
	} {
		got := draw(t, platform, network.Content{Text: text, Media: media})
		wants = append(wants, "pv-"+strings.TrimSuffix(platform, "_business"), `src="/accounts/7/picture"`,
			`<span class="lifted">#coffee</span>`, `<span class="lifted">@harbour</span>`,
			`src="/media/11/thumbnail" alt="The &lt;quay&gt;"`, "<bdi>second</bdi>, deleted", `src="/media/13/file#t=2.5"`)
		for _, want := range wants {
			if !strings.Contains(got, want) {
				t.Errorf("%s lacks %s:\n%s", platform, want, got)
			}
		}
		if strings.Contains(got, "<market>") || strings.Contains(got, "<b></bdi>") {
			t.Errorf("%s has markup of the text:\n%s", platform, got)
		}
		if n := strings.Count(got, "Twelve stalls"); n != 20 {
			t.Errorf("%s shows %d of 20 sentences", platform, n)
		}
	}
}

// A post with a time shows its date, and any other post is shown as if it were published now.
func TestPreviewDate(t *testing.T) {
	t.Parallel()
	for _, platform := range []string{"bluesky", "facebook", "linkedin", "threads", "x"} {
		p := New(Author{ID: 7, Platform: platform, Username: "harbour"}, network.Content{Text: "Open"})
		for when, want := range map[string]bool{"": true, "2 Dec 2026": false} {
			p.When = when
			html := string(must.Get(p.HTML())(t))
			if isNow := strings.Contains(strings.ToLower(html), "now"); isNow != want || !strings.Contains(html, when) {
				t.Errorf("%s on %q: %s", platform, when, html)
			}
		}
	}
}

func TestLinkCards(t *testing.T) {
	t.Parallel()
	text := network.Content{Text: "Read https://www.Harbour.example/menu."}
	both := network.Content{Text: text.Text, Media: []network.Media{{ID: 1, Kind: network.Image}}}
	for platform, want := range map[string][2]bool{
		"x": {true, false}, "threads": {true, false}, "facebook": {true, false}, "pinterest": {true, true}, "bluesky": {}, "linkedin": {},
		"instagram": {}, "tiktok": {}, "youtube": {},
	} {
		for i, content := range []network.Content{text, both} {
			card := New(Author{Platform: platform}, content).Card
			if (card == "harbour.example") != want[i] || card != "" && !want[i] {
				t.Errorf("%s: %q for %d media", platform, card, len(content.Media))
			}
		}
	}
	if got := draw(t, "x", text); !strings.Contains(got, `class="linkcard"`) {
		t.Error(got)
	}
}

// The preview of a pin shows its title, link and section. The preview of a LinkedIn post shows who can see it.
func TestPinAndVisibility(t *testing.T) {
	t.Parallel()
	pin := draw(t, "pinterest", network.Content{Text: "Read https://a.example", Options: network.Options{
		Pinterest: &network.PinterestOptions{Title: "Our <menu>", Link: "https://menu.example/a", BoardSection: "Winter"},
	}})
	for _, want := range []string{"<bdi>Our &lt;menu&gt;</bdi>", "menu.example", "</bdi> · <bdi>Winter</bdi>"} {
		if !strings.Contains(pin, want) {
			t.Errorf("%s lacks %s", pin, want)
		}
	}
	for visibility, want := range map[string]bool{"": false, "PUBLIC": false, "CONNECTIONS": true} {
		o := network.Options{LinkedIn: &network.LinkedInOptions{Visibility: visibility}}
		if got := draw(t, "linkedin", network.Content{Text: "Read", Options: o}); strings.Contains(got, "Connections only") != want {
			t.Errorf("%q: %s", visibility, got)
		}
	}
}

// Previews show the post's title on networks that publish it, unless the options have another one.
func TestTitle(t *testing.T) {
	t.Parallel()
	film := []network.Media{{ID: 1, Kind: network.Video, Width: 1920, Height: 1080}}
	photos := []network.Media{{ID: 1, Kind: network.Image}}
	for name, c := range map[string]struct {
		platform string
		media    []network.Media
		options  network.Options
		want     bool
	}{
		"youtube":                {"youtube", film, network.Options{}, true},
		"youtube with an option": {"youtube", film, network.Options{YouTube: &network.YouTubeOptions{Title: "Mine"}}, false},
		"pinterest":              {"pinterest", photos, network.Options{}, true},
		"facebook video":         {"facebook", film, network.Options{}, true},
		"facebook reel":          {"facebook", film, network.Options{Facebook: &network.FacebookOptions{Format: "reel"}}, true},
		"facebook photos":        {"facebook", photos, network.Options{}, false},
		"tiktok photos":          {"tiktok", photos, network.Options{}, true},
		"tiktok video":           {"tiktok", film, network.Options{}, false},
		"linkedin card": {"linkedin", nil, network.Options{LinkedIn: &network.LinkedInOptions{
			Article: &network.LinkedInOptionsArticle{Source: "https://a.example"},
		}}, true},
		"bluesky": {"bluesky", nil, network.Options{}, false},
	} {
		got := draw(t, c.platform, network.Content{Text: "Text", Title: "Our <menu>", Media: c.media, Options: c.options})
		if strings.Contains(got, "Our &lt;menu&gt;") != c.want {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// The preview of a post on LinkedIn shows its poll or link card.
func TestLinkedInOptions(t *testing.T) {
	t.Parallel()
	article := &network.LinkedInOptionsArticle{Title: "Our <menu>", Description: "Coffee"}
	for name, c := range map[string]struct {
		o     network.LinkedInOptions
		media []network.Media
		want  []string
		lacks string
	}{
		"poll": {
			o: network.LinkedInOptions{
				Poll: &network.LinkedInOptionsPoll{Question: "Which <one>?", Options: []string{"Espresso", "Filter"}},
			},
			want: []string{"Which &lt;one&gt;?", "<bdi>Espresso</bdi>", "<bdi>Filter</bdi>"},
		},
		"card": {o: network.LinkedInOptions{Article: article}, want: []string{"a.example", "Our &lt;menu&gt;", "Coffee"}},
		"card and image": {
			o: network.LinkedInOptions{Article: article}, media: []network.Media{{ID: 1, Kind: network.Image}}, lacks: "linkcard",
		},
		"neither": {lacks: "linkcard"},
	} {
		o := network.Options{LinkedIn: &c.o}
		got := draw(t, "linkedin", network.Content{Text: "See https://a.example/b", Media: c.media, Options: o})
		for _, want := range c.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s lacks %s: %s", name, want, got)
			}
		}
		if c.lacks != "" && strings.Contains(got, c.lacks) {
			t.Errorf("%s has %s: %s", name, c.lacks, got)
		}
	}
}

// A video in portrait orientation is shown as a Short, and a playable video has controls.
func TestVideos(t *testing.T) {
	t.Parallel()
	short := network.Content{Media: []network.Media{{ID: 1, Kind: network.Video, Width: 1080, Height: 1920}}}
	if got := draw(t, "youtube", short); !strings.Contains(got, "pv-youtube short") || !strings.Contains(got, `class="play"`) {
		t.Error(got)
	}
	p := New(Author{Platform: "x"}, short)
	p.Play = true
	if got, err := p.HTML(); err != nil || !strings.Contains(string(got), " controls>") || strings.Contains(string(got), `class="play"`) {
		t.Error(got, err)
	}
	many := network.Content{Media: make([]network.Media, 6)}
	if got := draw(t, "facebook", many); strings.Count(got, `class="pic"`) != 4 || !strings.Contains(got, "+2") {
		t.Error(got)
	}
}

func TestBlueskyOptions(t *testing.T) {
	t.Parallel()
	show := func(c network.Content, o network.BlueskyOptions) Post {
		c.Options.Bluesky = &o
		return New(Author{Platform: "bluesky"}, c)
	}
	linked := network.Content{Text: "See https://www.example.com/a"}
	card := &network.BlueskyOptionsLinkCard{Title: "Menu", Description: "Coffee"}
	if p := show(linked, network.BlueskyOptions{}); p.Card != "" {
		t.Errorf("a card without the option: %q", p.Card)
	}
	p := show(linked, network.BlueskyOptions{LinkCard: card, Labels: []string{"nudity"}})
	html := string(must.Get(p.HTML())(t))
	for _, want := range []string{"example.com", "Menu", "Coffee", "With a content warning"} {
		if !strings.Contains(html, want) {
			t.Errorf("no %q in %s", want, html)
		}
	}
	p = show(linked, network.BlueskyOptions{LinkCard: card, QuoteURL: "https://bsky.app/profile/a.test/post/1"})
	if html := string(must.Get(p.HTML())(t)); p.Card != "" || !strings.Contains(html, "bsky.app/profile/a.test/post/1") {
		t.Errorf("card %q with a quote: %s", p.Card, html)
	}
	linked.Media = []network.Media{{Kind: network.Image}}
	if p := show(linked, network.BlueskyOptions{LinkCard: card}); p.Card != "" {
		t.Errorf("a card beside an image: %q", p.Card)
	}
}

func TestPolls(t *testing.T) {
	t.Parallel()
	for platform, o := range map[string]network.Options{
		"x": {X: &network.XOptions{Poll: &network.XOptionsPoll{Options: []string{"Espresso", "Filter"}}}},
		"threads": {Threads: &network.ThreadsOptions{
			PollAttachment: &network.ThreadsOptionsPollAttachment{OptionA: "Espresso", OptionB: "Filter"},
		}},
	} {
		p := New(Author{Platform: platform}, network.Content{Text: "https://example.com", Options: o})
		html := string(must.Get(p.HTML())(t))
		if p.Card != "" || !strings.Contains(html, "Espresso") || !strings.Contains(html, "Filter") {
			t.Errorf("%s: card %q: %s", platform, p.Card, html)
		}
	}
}

// The options that a preview does not show are listed below it, in the language of the page.
func TestSettings(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		platform string
		options  network.Options
		lang     *locale.Language
		want     []Setting
	}{
		{"bluesky", network.Options{Bluesky: &network.BlueskyOptions{
			ReplySettings: []string{"mentioned", "followers"}, DisableQuotes: true, Languages: []string{"en", "de"},
		}}, nil, []Setting{
			{"Who can reply", "Mentioned people, Followers"}, {"Quotes", "Not allowed"}, {"Languages of the text", "en, de"},
		}},
		{"instagram", network.Options{Instagram: &network.InstagramOptions{
			Collaborators: []string{"ada", "ben"}, CoverMediaID: 3, ShareToFeed: new(false),
			UserTags: []network.InstagramUserTag{{Username: "cleo"}}, LocationID: "42",
		}}, nil, []Setting{
			{"Collaborators", "ada, ben"}, {"Tagged people", "cleo"}, {"Location ID", "42"},
			{"Cover", "An image of the library"}, {"Feed", "Not shown in the feed"},
		}},
		{"tiktok", network.Options{TikTok: &network.TikTokOptions{
			PrivacyLevel: "SELF_ONLY", AllowComment: true, AllowDuet: true, IsAIGC: true,
		}}, locale.German, []Setting{
			{"Who can view this post", locale.German.T("Only me")}, {"Allowed", "Kommentare, Duette"}, {"Labels", "KI-generiert"},
		}},
		{"tiktok", network.Options{TikTok: &network.TikTokOptions{Mode: network.TikTokInbox}}, nil,
			[]Setting{{"TikTok options", "Sent to TikTok as a draft to finish in the app"}}},
		{"youtube", network.Options{YouTube: &network.YouTubeOptions{
			PrivacyStatus: "unlisted", SelfDeclaredMadeForKids: new(false),
		}}, nil, []Setting{{"Who can watch the video", "Unlisted"}, {"Made for kids", "No, it is not made for kids"}}},
		{"x", network.Options{X: &network.XOptions{ReplySettings: "verified", MadeWithAI: true, PaidPartnership: true}}, nil,
			[]Setting{{"Who can reply", "Verified accounts"}, {"Labels", "Made with AI, Paid partnership"}}},
		{"threads", network.Options{X: &network.XOptions{MadeWithAI: true}}, nil, nil}, // options of another network
	} {
		content := network.Content{Text: "Open", Options: c.options}
		p := New(Author{Platform: c.platform, Username: "harbour"}, content).WithSettings(c.options)
		p.Lang = c.lang
		if diff := cmp.Diff(c.want, p.Settings()); diff != "" {
			t.Errorf("%s: %s", c.platform, diff)
		}
		if html := must.Get(p.HTML())(t); strings.Contains(string(html), "pv-settings") != (c.want != nil) {
			t.Errorf("%s: %s", c.platform, html)
		}
	}
}

// A post whose options for the network set the format reel fills the screen.
func TestReel(t *testing.T) {
	t.Parallel()
	reel := network.Options{Instagram: &network.InstagramOptions{Format: network.FormatReel}}
	c := network.Content{Text: "Open from eight", Options: reel}
	for platform, class := range map[string]string{"instagram": "pv-reel", "facebook": "pv-facebook"} {
		html := string(must.Get(New(Author{Platform: platform, Username: "harbour"}, c).HTML())(t))
		if !strings.Contains(html, class) || !strings.Contains(html, "Open from eight") {
			t.Errorf("%s: %s, want %s", platform, html, class)
		}
	}
}
