package tiktok_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/network/networktest"
	"pressroom.example/pressroom/internal/network/tiktok"
	"pressroom.example/pressroom/internal/testkit/must"
)

func tiktokOptions(o network.TikTokOptions) network.Options { return network.Options{TikTok: &o} }

// direct has the minimal choices for a direct post.
var direct = network.TikTokOptions{PrivacyLevel: "SELF_ONLY", MusicUsageConfirmed: true}

func directWith(change func(*network.TikTokOptions)) *network.TikTokOptions {
	o := direct
	change(&o)
	return &o
}

// A post needs the choices that TikTok's guidelines require. The operator's defaults apply only to posts without
// choices.
func TestCheckChoices(t *testing.T) {
	t.Parallel()
	inbox := network.TikTokOptions{Mode: network.TikTokInbox}
	covered := film
	covered.Cover = time.Second
	for name, c := range map[string]struct {
		options  *network.TikTokOptions
		text     string
		media    network.Media
		defaults network.TikTokOptions
		scopes   []string // of the app; the default ones if empty
		want     []string // codes; "!" marks a blocking problem
	}{
		"nothing chosen":    {want: []string{"!option_missing", "!option_missing"}, media: film},
		"operator defaults": {defaults: direct, media: film},
		"paid partnership, visible to self": {
			options: directWith(func(o *network.TikTokOptions) { o.BrandContent = true }), media: film,
			want: []string{"!option_not_supported"},
		},
		"empty choices override defaults": {options: &network.TikTokOptions{}, media: film, defaults: direct,
			want: []string{"!option_missing", "!option_missing"}},
		"the fewest": {options: &direct, media: film},
		"no audience": {options: directWith(func(o *network.TikTokOptions) { o.PrivacyLevel = "" }), media: film, defaults: direct,
			want: []string{"!option_missing"}},
		"music usage not confirmed": {options: directWith(func(o *network.TikTokOptions) { o.MusicUsageConfirmed = false }),
			media: film, defaults: direct, want: []string{"!option_missing"}},
		"an inbox":                         {options: &inbox, media: film},
		"inbox with a caption":             {options: &inbox, text: "x", media: film, want: []string{"caption_not_sent"}},
		"inbox with a cover":               {options: &inbox, media: covered, want: []string{"option_not_supported"}},
		"inbox with a caption of photos":   {options: &inbox, text: "x", media: photo},
		"an app for the inbox":             {media: film, scopes: inboxScopes},
		"an app for the inbox, a caption":  {text: "x", media: film, scopes: inboxScopes, want: []string{"caption_not_sent"}},
		"an app for both needs the choice": {media: film, scopes: bothScopes, want: []string{"!option_missing", "!option_missing"}},
		"inbox mode with an audience": {options: directWith(func(o *network.TikTokOptions) { o.Mode = "inbox" }), media: film,
			want: []string{"option_not_supported"}},
		"duet with photos": {options: directWith(func(o *network.TikTokOptions) { o.AllowDuet = true }), media: photo,
			want: []string{"option_not_supported"}},
		"photos by AI": {options: directWith(func(o *network.TikTokOptions) { o.IsAIGC = true }), media: photo,
			want: []string{"!option_not_supported"}},
		"AI-generated video": {options: directWith(func(o *network.TikTokOptions) { o.IsAIGC = true }), media: film},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := tiktok.New(tiktok.Options{App: network.App{Scopes: c.scopes}, Defaults: c.defaults})
			var got []string
			for _, p := range n.Check(network.Content{
				Text: c.text, Media: []network.Media{c.media}, Options: network.Options{TikTok: c.options},
			}) {
				if p.Blocking {
					p.Code = "!" + p.Code
				}
				got = append(got, p.Code)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A post without choices goes to the inbox if no app with an ID may publish.
func TestInboxOnlyApps(t *testing.T) {
	t.Parallel()
	publishing, inbox := network.OAuthApp{ClientID: "publishing"}, network.OAuthApp{ClientID: "inbox", Scopes: inboxScopes}
	for name, c := range map[string]struct {
		id       string // client ID of the main app, which may publish
		business network.OAuthApp
		problems int
	}{
		"only for business accounts":          {business: inbox},
		"only for business, which publishes":  {business: publishing, problems: 2},
		"for all accounts, and another inbox": {id: "publishing", business: inbox, problems: 2},
	} {
		n := tiktok.New(tiktok.Options{App: network.App{ClientID: c.id}, Business: c.business})
		if found := n.Check(network.Content{Media: []network.Media{film}}); len(found) != c.problems {
			t.Errorf("%s: problems %+v", name, found)
		}
	}
}

// A choice that the account's settings do not allow is rejected, not changed.
func TestCreator(t *testing.T) {
	t.Parallel()
	const levels = `"privacy_level_options":["SELF_ONLY","FOLLOWER_OF_CREATOR"]`
	all := directWith(func(o *network.TikTokOptions) { o.AllowComment, o.AllowDuet, o.AllowStitch = true, true, true })
	for name, c := range map[string]struct {
		creator string
		options network.TikTokOptions
		class   network.ErrorClass
		code    string
		message string
	}{
		"allowed":    {`{` + levels + `,"max_video_post_duration_sec":60}`, direct, "", "", ""},
		"everything": {`{` + levels + `}`, *all, "", "", ""},
		"audience not offered": {`{` + levels + `}`,
			*directWith(func(o *network.TikTokOptions) { o.PrivacyLevel = "PUBLIC_TO_EVERYONE" }),
			network.Rejected, "privacy_level_option_mismatch", "audience “Everyone”. Choose from: Only me, Followers."},
		"disabled features not requested": {`{` + levels + `,"comment_disabled":true,"duet_disabled":true}`, direct, "", "", ""},
		"comments disabled": {`{` + levels + `,"comment_disabled":true}`, *all,
			network.Rejected, "interaction_disabled", "comments."},
		"duets, stitches": {`{` + levels + `,"duet_disabled":true,"stitch_disabled":true}`, *all,
			network.Rejected, "interaction_disabled", "duets and stitches."},
		"too long": {`{` + levels + `,"max_video_post_duration_sec":59}`, direct,
			network.RejectedMedia, "duration_check_failed", "59 seconds"},
		"no audiences":     {`{}`, direct, network.Transient, "", ""},
		"unknown audience": {`{"privacy_level_options":["NEW"]}`, direct, network.Rejected, "privacy_level_option_mismatch", "NEW"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := networktest.NewLibrary(t)
			g := serve(t, map[string]string{
				"/creator_info/query/": success(c.creator),
				"/video/init/":         success(`{"publish_id":"v","upload_url":"https://up.test/?token=t"}`),
			})
			n := networkAt(networktest.Start)
			d, err := n.Plan(network.Submission{Seed: "s", Content: network.Content{
				Media: []network.Media{l.Video(small)}, Options: tiktokOptions(c.options),
			}})
			must.NoError(t, err)
			d, _, err = n.Prepare(t.Context(), g, d, l)
			if c.class != "" {
				failed := networktest.WantClass(t, err, c.class, c.code)
				if !strings.Contains(failed.Message, c.message) {
					t.Errorf("message %q", failed.Message)
				}
				return
			}
			var kept struct{ Privacy string }
			if must.NoError(t, err); json.Unmarshal(d, &kept) != nil || kept.Privacy != c.options.PrivacyLevel {
				t.Errorf("draft %s", d)
			}
		})
	}
}

// publishWith publishes a post with options through the sandbox, and returns its receipt.
func publishWith(t *testing.T, f *networktest.Fixture, text string, o network.TikTokOptions, media []network.Media) (
	network.Receipt, error,
) {
	t.Helper()
	return publishContent(t, f, network.Content{Text: text, Media: media, Options: tiktokOptions(o)})
}

func publishContent(t *testing.T, f *networktest.Fixture, c network.Content) (network.Receipt, error) {
	t.Helper()
	g := f.Grant()
	d, err := f.Network().Plan(network.Submission{Seed: "s", FirstSubmittedAt: f.Clock.Now(), At: f.Clock.Now(),
		Content: c})
	must.NoError(t, err)
	if d, err = f.Prepare(g, d); err != nil {
		return network.Receipt{}, err
	}
	receipt, err := f.Commit(g, d)
	if networktest.Class(err) == network.Processing {
		_, receipt, err = f.Decide(g, d)
	}
	return receipt, err
}

// The request sends the choices with the names of TikTok's API.
func TestSentChoices(t *testing.T) {
	t.Parallel()
	all := network.TikTokOptions{PrivacyLevel: "MUTUAL_FOLLOW_FRIENDS", AllowComment: true, AllowStitch: true,
		BrandOrganic: true, BrandContent: true, IsAIGC: true, MusicUsageConfirmed: true}
	photos := all
	photos.AllowStitch, photos.IsAIGC = false, false
	for name, c := range map[string]struct {
		call    string
		media   func(*networktest.Library) []network.Media
		options network.TikTokOptions
		want    map[string]any
	}{
		"a video": {"/video/init/", smallFilm, all, map[string]any{
			"title": "x", "privacy_level": "MUTUAL_FOLLOW_FRIENDS", "disable_comment": false, "disable_duet": true,
			"disable_stitch": false, "brand_organic_toggle": true, "brand_content_toggle": true, "is_aigc": true,
		}},
		"video without interactions": {"/video/init/", smallFilm, direct, map[string]any{
			"title": "x", "privacy_level": "SELF_ONLY", "disable_comment": true, "disable_duet": true,
			"disable_stitch": true, "brand_organic_toggle": false, "brand_content_toggle": false, "is_aigc": false,
		}},
		"photos": {"/content/init/", images, photos, map[string]any{
			"title": "Menu", "description": "x",
			"privacy_level": "MUTUAL_FOLLOW_FRIENDS", "disable_comment": false, "auto_add_music": false,
			"brand_organic_toggle": true, "brand_content_toggle": true,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := networktest.New(t, adapter, 0)
			_, err := publishContent(t, f, network.Content{Text: "x", Title: "Menu", Media: c.media(f.Library),
				Options: tiktokOptions(c.options)})
			must.NoError(t, err)
			var sent struct {
				Info map[string]any `json:"post_info"`
			}
			must.NoError(t, json.Unmarshal(f.Transport.Requests(c.call)[0].Body, &sent))
			if diff := cmp.Diff(c.want, sent.Info); diff != "" {
				t.Error(diff)
			}
			f.WantPosts(1)
		})
	}
}

// In inbox mode, a person completes the post in the TikTok app. The mode needs a separate scope, and nothing becomes
// visible.
func TestInbox(t *testing.T) {
	t.Parallel()
	inbox := network.TikTokOptions{Mode: network.TikTokInbox}
	for name, media := range map[string]func(*networktest.Library) []network.Media{"a video": smallFilm, "photos": images} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := networktest.New(t, adapter, 0)
			_, err := publishWith(t, f, "x", inbox, media(f.Library))
			networktest.WantClass(t, err, network.AppNotApproved, "scope_not_authorized")
			f.Scopes(append([]string{"video.upload"}, defaultScopes...)...)
			receipt, err := publishWith(t, f, "x", inbox, media(f.Library))
			if err != nil || !strings.HasPrefix(receipt.ID, "publish:") || receipt.Permalink != "" {
				t.Errorf("%+v, %v", receipt, err)
			}
			f.WantPosts(0)
		})
	}
}

var (
	bothScopes  = append([]string{"video.upload"}, defaultScopes...)
	inboxScopes = slices.DeleteFunc(slices.Clone(bothScopes), func(scope string) bool { return scope == "video.publish" })
)

// An app that may only upload to the inbox connects accounts, sends posts to the inbox, and explains how to post
// directly.
func TestInboxOnlyApp(t *testing.T) {
	t.Parallel()
	for name, media := range map[string]func(*networktest.Library) []network.Media{"a video": smallFilm, "photos": images} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := networktest.New(t, adapter, 0)
			f.Scopes(inboxScopes...)
			g := f.Grant()
			if bad := networktest.Findings(f.CheckAccount(g), network.CheckFailed); len(bad) > 0 {
				t.Errorf("failures: %q", bad)
			}
			receipt, err := publishWith(t, f, "x", network.TikTokOptions{Mode: network.TikTokInbox}, media(f.Library))
			if err != nil || receipt.Permalink != "" {
				t.Errorf("%+v, %v", receipt, err)
			}
			_, err = publishWith(t, f, "x", direct, media(f.Library))
			if failed := networktest.WantClass(t, err, network.AppNotApproved, "scope_not_authorized"); !strings.Contains(
				failed.Message, "Choose inbox mode") {
				t.Errorf("message %q", failed.Message)
			}
		})
	}
}

// An unaudited app cannot post to public accounts with any audience, but it can send posts to the inbox.
func TestUnaudited(t *testing.T) {
	t.Parallel()
	for name, media := range map[string]func(*networktest.Library) []network.Media{"a video": smallFilm, "photos": images} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := networktest.New(t, adapter, 0)
			_, err := publishWith(t, f, "[sandbox:unapproved]", direct, media(f.Library))
			failed := networktest.WantClass(t, err, network.AppNotApproved,
				"unaudited_client_can_only_post_to_private_accounts")
			if failed.Status != http.StatusForbidden {
				t.Errorf("HTTP %d", failed.Status)
			}
			f.WantPosts(0)
			f.Scopes(append([]string{"video.upload"}, defaultScopes...)...)
			_, err = publishWith(t, f, "[sandbox:unapproved]", network.TikTokOptions{Mode: network.TikTokInbox}, media(f.Library))
			must.NoError(t, err)
		})
	}
}
