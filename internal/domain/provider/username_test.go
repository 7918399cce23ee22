package provider

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

var validUsernames = []struct{ platform, text, want string }{
	{Instagram, "natgeo", "natgeo"},
	{Instagram, "@NatGeo", "natgeo"},
	{Instagram, " \tnatgeo\n", "natgeo"},
	{Instagram, "a_b.c.d", "a_b.c.d"},
	{Instagram, "_", "_"},
	{Instagram, strings.Repeat("x", 30), strings.Repeat("x", 30)},
	{Instagram, "https://www.instagram.com/NatGeo/", "natgeo"},
	{Instagram, "http://instagram.com/natgeo", "natgeo"},
	{Instagram, "HTTPS://M.Instagram.COM/natgeo//", "natgeo"},
	{Instagram, "instagram.com/natgeo?igsh=ü&x=https://evil.example/", "natgeo"},
	{Instagram, "instagram.com/natgeo#top", "natgeo"},
	{Instagram, "instagram.com/natgeo/reels/", "natgeo"},
	{Instagram, "instagram.com/natgeo/p/C0dE/?img_index=1", "natgeo"},
	{Instagram, "instagram.com/@natgeo", "natgeo"},
	{Instagram, "instagram.com/%40natgeo", "natgeo"},
	{Instagram, "instagram.com/_u/natgeo", "natgeo"},
	{Instagram, "instagram.com/stories/natgeo/3141592653589793238/", "natgeo"},
	{Instagram, "instagr.am/natgeo", "natgeo"},
	{TikTok, "kh", "kh"},
	{TikTok, "@Khaby.Lame", "khaby.lame"},
	{TikTok, "explore", "explore"},
	{TikTok, "a..b", "a..b"},
	{TikTok, strings.Repeat("x", 24), strings.Repeat("x", 24)},
	{TikTok, "https://www.tiktok.com/@khaby.lame?lang=en", "khaby.lame"},
	{TikTok, "tiktok.com/@khaby.lame/video/7000000000000000000", "khaby.lame"},
	{TikTok, "m.tiktok.com/%40khaby.lame/", "khaby.lame"},
}

var invalidUsernames = []struct{ platform, text string }{
	{"", "natgeo"}, {"youtube", "natgeo"},
	{Instagram, ""}, {Instagram, "@"}, {Instagram, "@@natgeo"}, {Instagram, " "}, {Instagram, "nat geo"},
	{Instagram, ".natgeo"}, {Instagram, "natgeo."}, {Instagram, "nat..geo"}, {Instagram, "nat-geo"},
	{Instagram, "nat\x00geo"},
	{Instagram, strings.Repeat("x", 31)}, {Instagram, strings.Repeat("x", 3000)},
	{Instagram, "ｎａｔｇｅｏ"}, {Instagram, "nаtgeo"}, {Instagram, "nat\u212aeo"}, {Instagram, "nat\u200bgeo"},
	{Instagram, "＠natgeo"},
	{Instagram, "instagram.com"}, {Instagram, "www.instagram.com"}, {Instagram, "https://instagram.com"},
	{Instagram, "instagram.com/"},
	{Instagram, "tiktok.com"}, {TikTok, "vm.tiktok.com"}, {TikTok, "instagram.com"},
	{Instagram, "instagram.com/p/C0dE/"}, {Instagram, "instagram.com/reel/C0dE"},
	{Instagram, "instagram.com/reels/C0dE"},
	{Instagram, "instagram.com/stories"}, {Instagram, "instagram.com/stories/"},
	{Instagram, "instagram.com/stories/highlights/17/"},
	{Instagram, "instagram.com/explore/tags/cats"}, {Instagram, "accounts"}, {Instagram, "@about"},
	{Instagram, "instagram.com/share/x"},
	{Instagram, "instagram.com//natgeo"}, {Instagram, "//instagram.com/natgeo"},
	{Instagram, "ftp://instagram.com/natgeo"},
	{Instagram, "https://http://instagram.com/natgeo"}, {Instagram, "https:instagram.com/natgeo"},
	{Instagram, "instagram.com:443/natgeo"},
	{Instagram, "natgeo@instagram.com/natgeo"}, {Instagram, "instagram.com./natgeo"},
	{Instagram, "instagram.com.evil.example/natgeo"},
	{Instagram, "evil.example/instagram.com/natgeo"}, {Instagram, "evil.example?instagram.com/natgeo"},
	{Instagram, `instagram.com\natgeo`},
	{Instagram, "instagram.com/nat%67eo"}, {Instagram, "ｉnstagram.com/natgeo"},
	{Instagram, "help.instagram.com/natgeo"},
	{Instagram, "tiktok.com/@natgeo"}, {TikTok, "instagram.com/natgeo"}, {TikTok, "youtube.com/@khaby"},
	{TikTok, "k"}, {TikTok, "khaby."}, {TikTok, strings.Repeat("x", 25)},
	{TikTok, "tiktok.com/khaby"}, {TikTok, "tiktok.com/@"}, {TikTok, "tiktok.com/t/ZT0/"},
	{TikTok, "https://vm.tiktok.com/ZM0/"},
	{TikTok, "vt.tiktok.com/@khaby"}, {TikTok, "tiktok.com/tag/cats"}, {TikTok, "tiktok.com/embed/@khaby"},
}

func TestUsername(t *testing.T) {
	for _, c := range validUsernames {
		if got, err := ParseUsername(c.platform, c.text); got != c.want || err != nil {
			t.Errorf("%s %q: %q, %v; want %q", c.platform, c.text, got, err, c.want)
		}
		if got, err := ParseUsername(c.platform, ProfileURL(c.platform, c.want)); got != c.want || err != nil {
			t.Errorf("%s %q: its profile URL is parsed as %q, %v", c.platform, c.want, got, err)
		}
	}
	if ProfileURL("youtube", "natgeo") != "" {
		t.Error("an unknown platform has profile URLs")
	}
	for _, c := range invalidUsernames {
		got, err := ParseUsername(c.platform, c.text)
		if err == nil {
			t.Errorf("%s %q was parsed as %q", c.platform, c.text, got)
		} else if len(c.text) > 7 && strings.Contains(err.Error(), c.text) {
			t.Errorf("%q is repeated in the error", c.text)
		}
	}
}

// Valid names are parsed from every notation.
func TestParseUsernameNotations(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		platform := rapid.SampledFrom([]string{Instagram, TikTok}).Draw(t, "platform")
		name := rapid.StringMatching(`[a-zA-Z0-9_]{2,8}(\.[a-zA-Z0-9_]{1,4}){0,3}`).Draw(t, "name")
		want, err := ParseUsername(platform, name)
		if err != nil {
			t.Skip("reserved")
		}
		for _, form := range []string{"@NAME", "https://HOST/@NAME", "HOST/@NAME/", "http://www.HOST/@NAME?a=b#c",
			"m.HOST/@NAME/below"} {
			text := strings.NewReplacer("HOST", platform+".com", "NAME", name).Replace(form)
			if got, err := ParseUsername(platform, text); got != want || err != nil {
				t.Errorf("%q: %q, %v; want %q", text, got, err, want)
			}
		}
	})
}

func TestMediaTypes(t *testing.T) {
	if MediaTypes("youtube") != nil || len(MediaTypes(Instagram)) != 6 || len(MediaTypes(TikTok)) != 4 {
		t.Error("the media types differ from the contract")
	}
	MediaTypes(Instagram)[0] = "changed"
	if MediaTypes(Instagram)[0] != Profile {
		t.Error("a caller can modify the media types")
	}
	for _, kind := range append(MediaTypes(Instagram), MediaTypes(TikTok)...) {
		if want := kind == Profile || kind == Posts || kind == Reels; HasPages(kind) != want {
			t.Errorf("%s: further pages: %t", kind, !want)
		}
	}
}

// FuzzUsername checks that parsing a parsed user name returns the same name.
func FuzzUsername(f *testing.F) {
	for _, c := range validUsernames {
		f.Add(c.text)
	}
	for _, c := range invalidUsernames {
		f.Add(c.text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for platform, naming := range usernameRulesByPlatform {
			name, err := ParseUsername(platform, text)
			if err != nil {
				continue
			}
			if again, err := ParseUsername(platform, name); again != name || err != nil ||
				!naming.pattern.MatchString(name) {
				t.Errorf("%s %q: %q, then %q, %v", platform, text, name, again, err)
			}
		}
	})
}
