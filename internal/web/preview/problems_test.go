package preview

import (
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/network"
)

func TestProblemText(t *testing.T) {
	t.Parallel()
	for _, c := range [][2]string{
		{
			"Too long for X: 300/280 weighted characters. Shorten the text.",
			"Zu lang für X: 300/280 gewichtete Zeichen. Kürzen Sie den Text.",
		},
		{
			"A post on YouTube needs a video. Add one.",
			"Ein Beitrag auf YouTube braucht ein Video. Fügen Sie eines hinzu.",
		},
		{
			"Image 2 has a file type that X does not support. Use JPEG, PNG or WebP.",
			"Bild 2 hat einen Typ, den X nicht erlaubt. Verwenden Sie JPEG, PNG oder WebP.",
		},
		{
			"The video lasts 90 seconds; TikTok allows at most 60 for this account. Trim it.",
			"Das Video dauert 90 Sekunden; TikTok erlaubt für dieses Konto höchstens 60. Kürzen Sie es.",
		},
		{
			"Video 1 lasts 0.5 seconds; X requires at least 3. Use a longer video.",
			"Video 1 dauert 0,5 Sekunden; X verlangt mindestens 3. Verwenden Sie ein längeres Video.",
		},
		{
			"This account does not offer the audience “Everyone”. Choose from: Only me, Followers.",
			"Dieses Konto bietet die Zielgruppe „Alle“ nicht an. Zur Wahl stehen: Nur ich, Follower.",
		},
		{
			"The thread is incomplete: 2 parts are published. The network failed or could not be reached. Retry later.",
			"Der Thread ist unvollständig: 2 Teile sind veröffentlicht. Das Netzwerk war gestört oder nicht erreichbar. Versuchen " +
				"Sie es später erneut.",
		},
		{
			"Something else.",
			"Something else.",
		},
	} {
		text, want := c[0], c[1]
		if got := ProblemText(locale.German, text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
		if got := ProblemText(locale.English, text); got != text {
			t.Errorf("%q in English: %q", text, got)
		}
	}
}

// A text for people does not contain the name of an API field.
func TestProblemTextFields(t *testing.T) {
	t.Parallel()
	text := "TikTok requires a choice of who can see the post (options.tiktok.privacy_level), or inbox mode."
	want := "TikTok requires a choice of who can see the post, or inbox mode."
	if got := ProblemText(locale.English, text); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// Every problem that the rules of a network find has a translation.
func TestProblemsTranslated(t *testing.T) {
	t.Parallel()
	many := []network.Media{}
	for range 40 {
		many = append(many, network.Media{Kind: network.Image, Type: "image/gif", Size: 1 << 40, Width: 90_000, Height: 10},
			network.Media{Kind: network.Video, Type: "video/webm", Size: 1, Width: 10, Height: 90_000, Duration: 100 * time.Hour},
			network.Media{Kind: network.Video, Type: "video/mp4", Size: 1 << 50, Width: 10, Height: 10, Duration: time.Millisecond})
	}
	found := map[string]bool{}
	for _, platform := range []string{"instagram", "facebook", "tiktok", "youtube", "linkedin", "x", "threads", "pinterest", "bluesky"} {
		rules, _ := network.DefaultRules(platform)
		for _, c := range []network.Content{
			{}, {Text: strings.Repeat("#a @b $C https://a.example <>\uFEFF ", 5000), Media: many}, {Media: many[:1]}, {Media: many[1:2]},
			{Media: many[:2]}, {Text: "<"},
		} {
			for _, p := range rules.Check(c) {
				found[p.Message] = true
			}
			c.Title = strings.Repeat("<>", 300)
			for _, p := range rules.CheckTitle(platform, c) {
				found[p.Message] = true
			}
			for _, p := range rules.CheckStory(c) {
				found[p.Message] = true
			}
		}
	}
	if len(found) < 30 {
		t.Errorf("only %d problems were found", len(found))
	}
	for text := range found {
		if got := ProblemText(locale.German, text); got == text {
			t.Errorf("%q is not translated", text)
		}
	}
}
