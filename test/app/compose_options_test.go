package app

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/testkit/fixture"
	"pressroom.example/pressroom/internal/testkit/must"
)

// addAccountOf adds an account of a network that the test does not call.
func (c *crew) addAccountOf(t *testing.T, platform string) string {
	t.Helper()
	var id int64
	must.NoError(t, c.db.InTx(t.Context(), "test.account", func(ctx context.Context, tx *db.Tx) error {
		return tx.QueryRow(ctx, `INSERT INTO social_accounts (team_id, platform, network_id, username, display_name,
			connection_state, sealed_grant, created_at, updated_at) VALUES (?, ?, ?, 'harbour', 'Harbour', 'connected', ?, 1, 1)
			RETURNING id`, c.team.ID, platform, fmt.Sprint(platform, c.team.ID), []byte{}).Scan(&id)
	}))
	return fmt.Sprint(id)
}

// The composer has the options that TikTok and YouTube require a person to choose. They have no defaults and are
// validated, saved and shown again.
func TestComposerOptions(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		tikTok, youTube := c.addAccountOf(t, "tiktok"), c.addAccountOf(t, "youtube")
		b, video := c.as(t, access.Editor), fmt.Sprint(c.addVideo(t))
		f := b.open("/posts/new?media="+video).
			shows(http.StatusOK, "TikTok options", "YouTube options", "Music Usage Confirmation", "Default: Public",
				"Default: the channel’s setting").form("Save draft")
		for _, name := range []string{"tiktok-privacy", "tiktok-comment", "tiktok-music", "youtube-privacy", "youtube-kids"} {
			if preset := f.values.Get(name); preset != "" {
				t.Errorf("%s has a default: %q", name, preset)
			}
		}
		f.fill("caption", "Open from eight").fill("account", tikTok, youTube).
			fill("tiktok-privacy", "MUTUAL_FOLLOW_FRIENDS").fill("tiktok-comment", "yes").fill("tiktok-partnership", "yes").
			fill("tiktok-music", "yes").fill("youtube-title", " Opening hours ").fill("youtube-kids", "no")
		f.values.Set("youtube-playlist", " PL-harbour_1 ") // shown if playlists are turned on, or for a post that has one
		saved := f.press().shows(http.StatusOK, "Saved.")
		isNot := false
		want := network.Options{
			TikTok: &network.TikTokOptions{
				PrivacyLevel: "MUTUAL_FOLLOW_FRIENDS", AllowComment: true, BrandContent: true, MusicUsageConfirmed: true,
			},
			YouTube: &network.YouTubeOptions{Title: "Opening hours", SelfDeclaredMadeForKids: &isNot, PlaylistID: "PL-harbour_1"},
		}
		if diff := cmp.Diff(want, c.storedPost(t, saved.path).Options); diff != "" {
			t.Error(diff)
		}

		edit := b.open(saved.path + "/edit").form("Save")
		if v := edit.values; v.Get("tiktok-privacy") != "MUTUAL_FOLLOW_FRIENDS" || v.Get("tiktok-comment") != "yes" ||
			v.Get("tiktok-duet") != "" || v.Get("youtube-title") != "Opening hours" || v.Get("youtube-kids") != "no" {
			t.Errorf("form values = %v", v)
		}
		edit.fill("caption", "Open from nine").press().shows(http.StatusOK, "Saved.")
		if diff := cmp.Diff(want, c.storedPost(t, saved.path).Options); diff != "" {
			t.Error(diff)
		}

		b.open(saved.path+"/edit").form("Save").fill("youtube-title", "a < b").press().
			shows(http.StatusUnprocessableEntity, "YouTube does not allow")
		b.open(saved.path+"/edit").form("Save").fill("youtube-playlist", "https://youtube.com/playlist?list=PL1").press().
			shows(http.StatusUnprocessableEntity, "The ID of a playlist has letters")
		b.open(saved.path+"/edit").form("Save").fill("tiktok-privacy", "NOBODY").press().
			shows(http.StatusUnprocessableEntity, "Choose who can see the post on TikTok.")
		date, clock, _ := c.formTime(t, 48*time.Hour)
		b.open(saved.path+"/edit").form("Schedule").fill("date", date).fill("time", clock).fill("tiktok-privacy", "SELF_ONLY").press().
			shows(http.StatusUnprocessableEntity, "does not allow a paid partnership")
		b.open(saved.path+"/edit").form("Schedule").fill("date", date).fill("time", clock).fill("tiktok-music").press().
			shows(http.StatusUnprocessableEntity, "TikTok requires agreement to its Music Usage Confirmation").
			contains(`id="error-tiktok-options"`)
		b.open(saved.path+"/edit").form("Schedule").fill("date", date).fill("time", clock).fill("tiktok-privacy", "").press().
			shows(http.StatusUnprocessableEntity, "TikTok requires a choice of who can see the post").
			contains(`id="error-tiktok-privacy"`)
	})
}

// The composer has Instagram's format. The preview shows a story without the text.
func TestComposerStory(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		account := c.addAccountOf(t, "instagram")
		b, image := c.as(t, access.Editor), strings.TrimPrefix(c.addImage(t, "sign", 90), "/media/")
		f := b.open("/posts/new?media="+image).shows(http.StatusOK, "Instagram options", "Post Reel Story").form("Save draft")
		saved := f.fill("caption", "Open from eight").fill("account", account).fill("instagram-format", "story").press().
			shows(http.StatusOK, "Saved.", "has no text. The text of the post is not sent.").contains(`class="pv pv-story"`)
		want := network.Options{Instagram: &network.InstagramOptions{Format: "story"}}
		if diff := cmp.Diff(want, c.storedPost(t, saved.path).Options); diff != "" {
			t.Error(diff)
		}
		edit := b.open(saved.path + "/edit").form("Save")
		if format := edit.values.Get("instagram-format"); format != "story" {
			t.Errorf("the form has the format %q", format)
		}
		edit.fill("instagram-format", "highlight").press().shows(http.StatusUnprocessableEntity, "Choose a format for Instagram.")
		b.open(saved.path+"/edit").form("Save").fill("instagram-format", "").press().
			shows(http.StatusOK, "Saved.").contains(`class="pv pv-instagram"`)
		if o := c.storedPost(t, saved.path).Options; !o.IsZero() {
			t.Errorf("options %+v", o)
		}
	})
}

// The composer keeps every option of Instagram, such as the places of tags, which it has no fields for.
func TestComposerInstagram(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		account := c.addAccountOf(t, "instagram")
		b, cover := c.as(t, access.Editor), strings.TrimPrefix(c.addImage(t, "cover", 90), "/media/")
		f := b.open("/posts/new?media=" + fmt.Sprint(c.addVideo(t))).form("Save draft")
		f.values.Set("instagram-cover", cover) // shown for a post that has one
		f.values.Set("instagram-tag-place", "mira.keller 0.25 1")
		saved := f.fill("account", account).fill("instagram-format", "reel").fill("instagram-collaborators", "@studio.north, mira.keller").
			fill("instagram-tags", "mira.keller studio.north").fill("instagram-location", "123").fill("instagram-audio", " Waves ").
			fill("instagram-trial", "MANUAL").fill("instagram-not-in-feed", "yes").press().shows(http.StatusOK, "Saved.")
		id, err := strconv.ParseInt(cover, 10, 64)
		must.NoError(t, err)
		want := network.Options{Instagram: &network.InstagramOptions{
			Format: "reel", ShareToFeed: new(false), CoverMediaID: id, Collaborators: []string{"studio.north", "mira.keller"},
			UserTags:   []network.InstagramUserTag{{Username: "mira.keller", X: new(0.25), Y: new(1.0)}, {Username: "studio.north"}},
			LocationID: "123", AudioName: "Waves", GraduationStrategy: "MANUAL",
		}}
		if diff := cmp.Diff(want, c.storedPost(t, saved.path).Options); diff != "" {
			t.Error(diff)
		}
		b.open(saved.path+"/edit").form("Save").fill("caption", "Open from nine").press().shows(http.StatusOK, "Saved.")
		if diff := cmp.Diff(want, c.storedPost(t, saved.path).Options); diff != "" {
			t.Errorf("an edit changed the options: %s", diff)
		}
		for field, wrong := range map[string][2]string{
			"instagram-collaborators": {"a b c d", "Enter up to three usernames"},
			"instagram-tags":          {"no-name!", "Enter up to 20 usernames"},
			"instagram-location":      {"Kiel", "has only digits"}, "instagram-trial": {"NEVER", "Choose how a trial reel"},
		} {
			b.open(saved.path+"/edit").form("Save").fill(field, wrong[0]).press().shows(http.StatusUnprocessableEntity, wrong[1])
		}
	})
}

// The composer has the options of Facebook.
func TestComposerFacebook(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		account := c.addAccountOf(t, "facebook")
		b := c.as(t, access.Editor)
		saved := b.open("/posts/new").shows(http.StatusOK, "Facebook options").form("Save draft").fill("account", account).
			fill("caption", "Our menu").fill("facebook-link", "https://menu.test/today").fill("facebook-place", "123").press().
			shows(http.StatusOK, "Saved.", "menu.test")
		want := network.Options{Facebook: &network.FacebookOptions{Link: "https://menu.test/today", Place: "123"}}
		if diff := cmp.Diff(want, c.storedPost(t, saved.path).Options); diff != "" {
			t.Error(diff)
		}
		for field, wrong := range map[string][2]string{
			"facebook-format": {"highlight", "Choose a format for Facebook."}, "facebook-link": {"menu", "A link begins with"},
			"facebook-place": {"Kiel", "has only digits"}, "facebook-title": {strings.Repeat("é", 256), "at most 255 characters"},
		} {
			b.open(saved.path+"/edit").form("Save").fill(field, wrong[0]).press().shows(http.StatusUnprocessableEntity, wrong[1])
		}
		b.open(saved.path+"/edit").form("Save").fill("facebook-format", "story").press().
			shows(http.StatusOK, "A story on Facebook needs an image or a video.").contains(`class="pv pv-story"`)
	})
}

// A thumbnail that the API chose is kept by an edit, unless the person clears it.
func TestComposerThumbnail(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		youTube := must.Get(strconv.ParseInt(c.addAccountOf(t, "youtube"), 10, 64))(t)
		image := must.Get(strconv.ParseInt(strings.TrimPrefix(c.addImage(t, "cover.png", 9), "/media/"), 10, 64))(t)
		made := c.callTool(t, "create_post", map[string]any{
			"caption": "By the API", "account_ids": []int64{youTube},
			"options": map[string]any{"youtube": map[string]any{"thumbnail_media_id": image}},
		})
		page := "/posts/" + fmt.Sprint(made["id"])
		b := c.as(t, access.Editor)
		b.open(page+"/edit").form("Save").fill("caption", "By hand").press().shows(http.StatusOK, "Saved.")
		if got := c.storedPost(t, page).Options.YouTube; got == nil || got.ThumbnailMediaID != image {
			t.Errorf("kept: %+v", got)
		}
		b.open(page+"/edit").form("Save").fill("youtube-thumbnail").press().shows(http.StatusOK, "Saved.")
		if got := c.storedPost(t, page).Options.YouTube; got != nil {
			t.Errorf("cleared: %+v", got)
		}
	})
}

// A form without a network's fields keeps the options set through the API.
func TestComposerKeepsOtherOptions(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		made := c.callTool(t, "create_post", map[string]any{
			"caption": "By the API", "account_ids": []int64{c.account},
			"options": map[string]any{"tiktok": map[string]any{"privacy_level": "SELF_ONLY"}},
		})
		id := fmt.Sprint(made["id"])
		c.as(t, access.Editor).open("/posts/"+id+"/edit").shows(http.StatusOK).lacks("TikTok options").
			form("Save").fill("caption", "By hand").press().shows(http.StatusOK, "Saved.")
		got := c.storedPost(t, "/posts/"+id)
		want := network.Options{TikTok: &network.TikTokOptions{PrivacyLevel: "SELF_ONLY"}}
		if diff := cmp.Diff(want, got.Options); diff != "" || got.Caption != "By hand" {
			t.Errorf("%q: %s", got.Caption, diff)
		}
	})
}

// The composer shows the options that TikTok currently allows for the selected account.
func TestComposerCreatorInfo(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		link, _ := c.callTool(t, "get_connect_link", map[string]any{"platform": "tiktok"})["url"].(string)
		id := must.Get(fixture.ConnectByConsent(t.Context(), h.Server, c.people[access.Owner].ID, "tiktok", link, "mira.keller"))(t)
		b := c.as(t, access.Editor)
		b.open("/posts/new?account="+c.id()).shows(http.StatusOK, "TikTok options").lacks("Videos up to")
		b.open(fmt.Sprint("/posts/new?account=", id)).shows(http.StatusOK, "Videos up to 10 minutes.",
			"Turned off: duets, stitches.")
		link, _ = c.callTool(t, "get_connect_link", map[string]any{"platform": "tiktok"})["url"].(string)
		busy := must.Get(fixture.ConnectByConsent(t.Context(), h.Server, c.people[access.Owner].ID, "tiktok", link, "busy.bistro"))(t)
		b.open(fmt.Sprint("/posts/new?account=", busy)).shows(http.StatusOK, "TikTok is not accepting posts for busy.bistro at the moment",
			"spam_risk_too_many_posts")
		page := b.open(fmt.Sprint("/posts/new?account=", id))
		for option, disabled := range map[string]bool{
			`value="PUBLIC_TO_EVERYONE" data-limited="PUBLIC_TO_EVERYONE"`:   false,
			`value="FOLLOWER_OF_CREATOR" data-limited="FOLLOWER_OF_CREATOR"`: true,
			`name="tiktok-comment" value="yes" data-limited="comment"`:       false,
			`name="tiktok-duet" value="yes" data-limited="duet"`:             true,
			`name="tiktok-stitch" value="yes" data-limited="stitch"`:         true,
		} {
			if _, rest, found := strings.Cut(page.source, option); !found || strings.HasPrefix(rest, " disabled>") != disabled {
				t.Errorf("%s: found %t, followed by %.20s", option, found, rest)
			}
		}
		f := page.form("Save draft").fill("account", c.id(), fmt.Sprint(id))
		preview := b.send(http.MethodPost, "/posts/preview", f.values).source
		if !strings.Contains(preview, `data-off="duet stitch FOLLOWER_OF_CREATOR"`) {
			t.Errorf("the preview does not say what the account forbids: %s", preview)
		}
		kept := page.form("Save draft").fill("tiktok-duet", "yes").fill("caption", "x").press().shows(http.StatusOK, "Saved.")
		if _, rest, _ := strings.Cut(b.open(kept.path+"/edit").source, `data-limited="duet"`); !strings.HasPrefix(rest, " checked>") {
			t.Errorf("a forbidden choice of the post cannot be removed: %.20s", rest)
		}
	})
}

// The composer shows the settings of each selected account. A post says if its video is too long for an account.
func TestComposerVideoLimit(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		var ids []int64
		address := "/posts/new?"
		for _, name := range []string{"harbour.coffee", "mira.keller", "atelier.blau", "studio.north"} {
			link, _ := c.callTool(t, "get_connect_link", map[string]any{"platform": "tiktok"})["url"].(string)
			id := must.Get(fixture.ConnectByConsent(t.Context(), h.Server, c.people[access.Owner].ID, "tiktok", link, name))(t)
			ids, address = append(ids, id), address+fmt.Sprint("&account=", id)
		}
		const tooLong = "The video lasts 90 seconds; TikTok allows at most 60 for this account. Trim it."
		film := c.addVideo(t)
		must.NoError(t, h.db.InTx(t.Context(), "test.long_film", func(ctx context.Context, tx *db.Tx) error {
			_, err := tx.Exec(ctx, `UPDATE media SET duration = 90000000 WHERE id = ?`, film)
			return err
		}))
		b := c.as(t, access.Editor)
		page := b.open(address).shows(http.StatusOK, "harbour.coffee : Videos up to",
			"mira.keller : Videos up to", "atelier.blau : Videos up to", "studio.north : Videos up to")
		f := page.form("Save draft").fill("caption", "A film")
		f.values.Set("media", fmt.Sprint(film)) // uploaded by the script of the page
		if preview := b.send(http.MethodPost, "/posts/preview", f.values).source; strings.Count(preview, tooLong) != 2 {
			t.Errorf("the preview does not name the limit once in the list of problems and once at the account: %s", preview)
		}
		made := c.callTool(t, "create_post", map[string]any{
			"caption": "By the API", "account_ids": ids, "media_ids": []int64{film},
			"options": map[string]any{"tiktok": map[string]any{"privacy_level": "SELF_ONLY", "music_usage_confirmed": true}},
		})
		checked := c.callTool(t, "validate_post", map[string]any{"post_id": made["id"]})
		if got := fmt.Sprint(checked["problems"]); !strings.Contains(got, tooLong) {
			t.Errorf("problems %s", got)
		}
	})
}

// A person sets the team's default for TikTok. It applies to posts without TikTok options.
func TestTikTokDefault(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		admin := c.as(t, access.Admin)
		admin.open("/settings/team").shows(http.StatusOK).lacks("Default options for TikTok")
		tikTok := must.Get(strconv.ParseInt(c.addAccountOf(t, "tiktok"), 10, 64))(t)
		c.as(t, access.Editor).open("/settings/team").shows(http.StatusOK).lacks("Default options for TikTok")
		made := c.callTool(t, "create_post", map[string]any{
			"caption": "By the API", "account_ids": []int64{tikTok}, "media_ids": []int64{c.addVideo(t)},
		})
		problems := func() string {
			return fmt.Sprint(c.callTool(t, "validate_post", map[string]any{"post_id": made["id"]})["problems"])
		}
		effective := func() *network.TikTokOptions { // of the delivery
			p := c.storedPost(t, "/posts/"+fmt.Sprint(made["id"]))
			return p.Content(p.Targets[0], "en").Options.TikTok
		}
		if got := effective(); got != nil {
			t.Errorf("without a default: %+v", got)
		}
		const save = "Save TikTok default"
		form := func() *form {
			return admin.open("/settings/team").shows(http.StatusOK, "Default options for TikTok").form(save)
		}
		form().fill("tiktok-mode", "direct").press().shows(http.StatusUnprocessableEntity, "Choose who can see the post on TikTok.")
		form().fill("tiktok-mode", "direct").fill("tiktok-privacy", "SELF_ONLY").press().
			shows(http.StatusUnprocessableEntity, "TikTok requires agreement to its Music Usage Confirmation.")
		form().fill("tiktok-mode", "direct").fill("tiktok-privacy", "SELF_ONLY").fill("tiktok-music", "yes").
			fill("tiktok-comment", "yes").press().shows(http.StatusOK, "Saved.")
		if v := form().values; v.Get("tiktok-privacy") != "SELF_ONLY" || v.Get("tiktok-comment") != "yes" || v.Get("tiktok-duet") != "" {
			t.Errorf("form values %v", v)
		}
		admin.open("/settings/audit").shows(http.StatusOK, "turned the team’s default for TikTok on")
		if got := effective(); got == nil || *got != (network.TikTokOptions{
			PrivacyLevel: "SELF_ONLY", AllowComment: true, MusicUsageConfirmed: true,
		}) {
			t.Errorf("with a default: %+v", got)
		}
		shown := c.callTool(t, "get_post", map[string]any{"id": made["id"]})
		want := map[string]any{"tiktok": map[string]any{
			"privacy_level": "SELF_ONLY", "allow_comment": true, "music_usage_confirmed": true,
		}}
		if diff := cmp.Diff(want, shown["default_options"]); diff != "" || shown["options"] != nil {
			t.Errorf("options %v, default %s", shown["options"], diff)
		}
		editor := c.as(t, access.Editor)
		editor.open("/posts/new").shows(http.StatusOK, "Default: Only me")

		own := map[string]any{"tiktok": map[string]any{"privacy_level": "PUBLIC_TO_EVERYONE"}}
		c.callTool(t, "update_post", map[string]any{"id": made["id"], "options": own})
		shown = c.callTool(t, "get_post", map[string]any{"id": made["id"]})
		if diff := cmp.Diff(own, shown["options"]); diff != "" || shown["default_options"] != nil {
			t.Errorf("default %v, options %s", shown["default_options"], diff)
		}
		if got := problems(); !strings.Contains(got, "option_missing") {
			t.Errorf("own options without an agreement: %s", got)
		}
		c.callTool(t, "update_post", map[string]any{"id": made["id"], "options": map[string]any{}})
		form().fill("tiktok-mode", "inbox").press().shows(http.StatusOK, "Saved.")
		editor.open("/posts/new").shows(http.StatusOK, "the post goes to the inbox in the TikTok app")
		form().fill("tiktok-mode", "").press().shows(http.StatusOK, "Saved.")
		admin.open("/settings/audit").shows(http.StatusOK, "turned the team’s default for TikTok off")
		if got := effective(); got != nil {
			t.Errorf("after the default was removed: %+v", got)
		}
	})
}

// The page of a post says what a published video lacks, and what to do.
func TestPostWarnings(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		account := c.addAccountOf(t, "youtube")
		made := c.callTool(t, "create_post", map[string]any{
			"caption": "x", "account_ids": []int64{must.Get(strconv.ParseInt(account, 10, 64))(t)},
		})
		page := "/posts/" + fmt.Sprint(made["id"])
		must.NoError(t, c.db.InTx(t.Context(), "test.warning", func(ctx context.Context, tx *db.Tx) error {
			_, err := tx.Exec(ctx, `UPDATE post_targets SET state = 'published', published_at = 1,
				warnings = '[{"step":"thumbnail","code":"forbidden"}]' WHERE post_id = ?`, made["id"])
			if err == nil {
				_, err = tx.Exec(ctx, `UPDATE posts SET status = 'published', published_at = 1 WHERE id = ?`, made["id"])
			}
			return err
		}))
		b := c.as(t, access.Editor)
		for _, path := range []string{page, page + "/accounts/" + account} {
			b.open(path).shows(http.StatusOK, "The thumbnail was not set.", "Verify the channel at youtube.com/verify")
		}
	})
}
