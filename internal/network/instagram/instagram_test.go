package instagram_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/network/instagram"
	"pressroom.example/pressroom/internal/network/networktest"
)

const (
	ready = `{"network":"instagram","text":"x","media":[{"id":1,"kind":"image","type":"image/jpeg","size":9,"width":9,"height":9}],` +
		`"container":"18000000000000001","made":"2026-11-21T09:00:00Z"}`
	planned = `{"network":"instagram","text":"x","media":[{"id":1,"kind":"image","type":"image/jpeg","size":9,"width":9,"height":9}]}`
	failed  = `{"id":"181","status_code":"ERROR","status":"Error: Media upload has failed with error code `
	day     = 24 * time.Hour
	usage   = "X-Business-Use-Case-Usage"
)

var (
	picture = network.Media{Kind: network.Image, Type: "image/jpeg", Size: 8 << 20, Width: 1440, Height: 1800}
	film    = network.Media{
		Kind: network.Video, Type: "video/mp4", Size: 300_000_000, Duration: 15 * time.Minute, Width: 1080, Height: 1920,
	}
	clip = network.Media{
		Kind: network.Video, Type: "video/mp4", Size: 100_000_000, Duration: time.Minute, Width: 1080, Height: 1920,
	}
	one     = []network.Media{picture}
	upright = []network.Media{{Kind: network.Image, Type: "image/jpeg", Size: 8 << 20, Width: 1080, Height: 1920}}
	story   = network.Options{Instagram: &network.InstagramOptions{Format: network.FormatStory}}
	tag     = []network.InstagramUserTag{{Username: "mira.keller"}}
	reel    = network.Options{Instagram: &network.InstagramOptions{Format: network.FormatReel}}
	kinds   = []string{"instagram", "facebook"}
	scopes  = map[string][]string{
		"instagram": {"instagram_business_basic", "instagram_business_content_publish", "instagram_business_manage_insights",
			"instagram_business_manage_comments"},
		"facebook": {
			"instagram_basic", "instagram_content_publish", "instagram_manage_insights", "instagram_manage_comments",
			"pages_show_list", "pages_read_engagement", "business_management",
		},
	}
)

// withChange returns the media item m with a change.
func withChange(m network.Media, change func(*network.Media)) []network.Media {
	change(&m)
	return []network.Media{m}
}

func options(base string, app network.App) instagram.Options {
	return instagram.Options{
		App: app, AuthorizeHost: base + "/www", TokenHost: base + "/api", GraphHost: base + "/graph",
		Facebook: instagram.Facebook{
			ClientID: "other-app", ClientSecret: app.ClientSecret, DialogHost: base + "/facebook",
			GraphHost: base + "/facebook", Scopes: app.Scopes,
		},
	}
}

func media(kinds ...string) func(*networktest.Library) []network.Media {
	return func(l *networktest.Library) []network.Media {
		var media []network.Media
		for i, kind := range kinds {
			if kind == network.Video {
				media = append(media, l.Video(20_000))
			} else {
				media = append(media, l.Image("jpeg", 40+i, 40))
			}
		}
		return media
	}
}

var adapter = networktest.Case{
	Platform:     "instagram",
	CheckTraffic: checkCall, IsDescribed: isDescribed,
	New: func(base string, app network.App) network.Network { return instagram.New(options(base, app)) },
	Signing: networktest.Signing{
		Kinds: kinds,
		Candidates: func(found []network.Candidate, url, kind string) []network.Candidate {
			g := found[0].Grant
			want := network.Grant{
				Server: url + "/graph", Kind: kind, Account: g.Account, Username: "harbour.coffee",
				AccessToken: g.AccessToken,
				Expires:     networktest.Start.Add(60 * day),
				Scopes:      scopes[kind], Extra: map[string]string{"issued_at": "2026-11-21T09:30:00Z"},
				Holder: "instagram:" + strings.TrimPrefix(g.Holder, "instagram:"),
			}
			if kind == "facebook" {
				want.Server, want.Holder = url+"/facebook", "facebook:"+strings.TrimPrefix(g.Holder, "facebook:")
				want.Extra["page"], want.Extra["user_token"] = g.Extra["page"], g.Extra["user_token"]
			}
			return []network.Candidate{{DisplayName: "Harbour Coffee", Grant: want}}
		},
		BadCode: "100", CodeLifetime: 10 * time.Minute, CodeSuffix: "#_",
		TokenLifetime: 60 * day, RefreshAge: 59 * day, GrantLifetime: 61 * day, MinRefreshAge: day,
		UnknownTokenError: networktest.ExpectedError{Class: network.ReconnectRequired, Code: "190"},
		ExpiredRefresh:    "190/463",
		RevokedCode:       "190/463", SecondRevocation: network.ReconnectRequired,
	},
	Publishing: networktest.Publishing{
		Posts: []networktest.Content{
			{Name: "an image", Media: media(network.Image), Format: network.FormatImage},
			{Name: "a reel", Media: media(network.Video), Format: network.FormatReel},
			{Name: "images", Media: media(network.Image, network.Image), Format: network.FormatCarousel, Variant: true},
			{
				Name: "a reel with options", Media: media(network.Video), Options: with(network.InstagramOptions{
					Collaborators: []string{"mira.keller"}, UserTags: tag, AudioName: "Waves", GraduationStrategy: "MANUAL",
				}), Format: network.FormatReel, Variant: true,
			},
			{Name: "several", Media: media(network.Image, network.Video, network.Image), Format: network.FormatCarousel},
			{Name: "a story", Media: media(network.Image), Options: story, NoText: true, Uncollected: true},
			{Name: "a video story", Media: media(network.Video), Options: story, NoText: true, Uncollected: true},
		},
		SecondCommit: network.OutcomeUnknown,
		FileLimits: []network.FileLimits{
			{Types: []string{"image/jpeg"}, MaxBytes: 8 << 20},
			{Types: []string{"video/mp4", "video/quicktime"}, MaxBytes: 300_000_000},
			{Types: []string{"video/mp4", "video/quicktime"}, MaxBytes: 100_000_000},
		},
		Checks: map[string]networktest.CheckCase{
			"an image":           networktest.NewCheckCase(strings.Repeat("é", 2200), one),
			"a reel":             networktest.NewCheckCase("", []network.Media{film}),
			"both":               networktest.NewCheckCase("", []network.Media{film, picture}),
			"a text":             networktest.NewCheckCase("words", nil, "!media_missing"),
			"nothing":            networktest.NewCheckCase("", nil, "!media_missing"),
			"too long":           networktest.NewCheckCase(strings.Repeat("é", 2201), one, "!caption_too_long"),
			"emoji":              networktest.NewCheckCase(strings.Repeat("👋", 1100), one),
			"one emoji too many": networktest.NewCheckCase(strings.Repeat("👋", 1101), one, "!caption_too_long"),
			"hashtags":           networktest.NewCheckCase(strings.Repeat("#a ", 6), one, "hashtags_too_many"),
			"many hashtags":      networktest.NewCheckCase(strings.Repeat("#a ", 31), one, "!hashtags_too_many"),
			"many mentions":      networktest.NewCheckCase(strings.Repeat("@a ", 21), one, "!mentions_too_many"),
			"a PNG": networktest.NewCheckCase("", withChange(picture,
				func(m *network.Media) { m.Type = "image/png" }), "media_type"),
			"no image": networktest.NewCheckCase("", withChange(picture,
				func(m *network.Media) { m.Type = "application/pdf" }), "!media_type"),
			"a large image": networktest.NewCheckCase("", withChange(picture, func(m *network.Media) { m.Size++ }),
				"media_too_large"),
			"a tall image": networktest.NewCheckCase("", withChange(picture, func(m *network.Media) { m.Height = 1900 }), "!media_aspect"),
			"a WebM":       networktest.NewCheckCase("", withChange(film, func(m *network.Media) { m.Type = "video/webm" }), "!media_type"),
			"a large video": networktest.NewCheckCase("", withChange(film, func(m *network.Media) { m.Size++ }),
				"!media_too_large"),
			"a long video": networktest.NewCheckCase("", withChange(film, func(m *network.Media) { m.Duration++ }),
				"!media_too_long"),
			"a short video": networktest.NewCheckCase("", withChange(film, func(m *network.Media) {
				m.Duration = 2 * time.Second
			}), "!media_too_short"),
			"eleven pictures": networktest.NewCheckCase("", slices.Repeat(one, 11), "!media_too_many"),
		},
		Rejections: map[string]networktest.Rejection{
			"text only": {Text: "words", Class: network.RejectedMedia, Code: "media_missing"},
			"too long": {
				Text: strings.Repeat("é", 2201), Media: media(network.Image), Class: network.Rejected, Code: "caption_too_long",
			},
			"too many": {Media: func(*networktest.Library) []network.Media {
				return make([]network.Media, 11)
			}, Class: network.RejectedMedia},
			"an empty story": {Text: "words", Options: story, Class: network.RejectedMedia, Code: "media_missing"},
			"two stories": {
				Media: media(network.Image, network.Image), Options: story, Class: network.RejectedMedia, Code: "media_too_many",
			},
			"a story that is not a JPEG": {Media: func(l *networktest.Library) []network.Media {
				return []network.Media{l.Fake(network.Image, "image/jpeg", "\x89PNG\r\n\x1a\n...")}
			}, Options: story, Class: network.RejectedMedia, Code: "36001/2207005"},
			"a story that is not a video": {Media: func(l *networktest.Library) []network.Media {
				return []network.Media{l.Fake(network.Video, "video/mp4", "no film")}
			}, Options: story, Class: network.RejectedMedia, Code: "2207026"},
			"a reel of an image": {
				Media: media(network.Image), Options: reel, Class: network.Rejected, Code: "option_not_supported",
			},
			"too narrow": {Media: func(l *networktest.Library) []network.Media {
				return []network.Media{l.Image("jpeg", 4, 44)}
			}, Class: network.RejectedMedia, Code: "media_aspect"},
			"file narrower than its description": {Media: func(l *networktest.Library) []network.Media {
				return withChange(l.Image("jpeg", 4, 44), func(m *network.Media) { m.Width, m.Height = 40, 40 })
			}, Class: network.RejectedMedia, Code: "36003/2207009"},
			"not a JPEG": {Media: func(l *networktest.Library) []network.Media {
				return []network.Media{l.Fake(network.Image, "image/jpeg", "\x89PNG\r\n\x1a\n...")}
			}, Class: network.RejectedMedia, Code: "36001/2207005"},
			"a missing image": {Media: func(l *networktest.Library) []network.Media {
				return []network.Media{l.Remove(l.Image("jpeg", 9, 9), true)}
			}, Class: network.Transient, Code: "9004/2207052"},
			"a missing video": {Media: func(l *networktest.Library) []network.Media {
				return []network.Media{l.Remove(l.Video(100), true)}
			}, Class: network.RejectedMedia, Code: "2207052"},
			"not a video": {Media: func(l *networktest.Library) []network.Media {
				return []network.Media{l.Fake(network.Video, "video/mp4", "no film")}
			}, Class: network.RejectedMedia, Code: "2207026"},
		},
		Drafts: []string{`{"network":"instagram","container":"../me"}`, `{"network":"threads","container":"18000000000000001"}`},
		Expiry: networktest.Expiry{After: 25 * time.Hour, Commit: "24/2207008", Resolve: "EXPIRED"},
	},
	Failures: networktest.Failures{
		Grant: network.Grant{Account: "101", Extra: map[string]string{"page": "301", "user_token": "most-secret"}},
		Calls: []networktest.Call{
			networktest.PermalinkCall("17"), networktest.CommitCall(ready), networktest.RefreshCall("instagram", networktest.AccessToken),
			networktest.RefreshCall("facebook", "most-secret", "app-secret"), networktest.ExchangeCall("instagram"),
			networktest.ExchangeCall("facebook"),
		},
		Quote: func(message string) networktest.StubResponse {
			return networktest.StubResponse{Status: http.StatusBadRequest,
				Body: graph(`"code":190,"message":"` + message + `"`)}
		},
		Errors: map[string]networktest.Failure{
			"expired": networktest.NewFailure(400, graph(`"code":190,"error_subcode":463`), network.ReconnectRequired,
				network.ReconnectRequired, network.ReconnectRequired, network.ReconnectRequired),
			"checkpoint": networktest.NewFailure(400, graph(`"code":190,"error_subcode":459`), network.ReconnectRequired,
				network.ReconnectRequired, network.ReconnectRequired, network.ReconnectRequired),
			"session": networktest.NewFailure(400, graph(`"code":102`), network.ReconnectRequired, network.ReconnectRequired,
				network.ReconnectRequired, network.ReconnectRequired),
			"permission": networktest.NewFailure(403, graph(`"code":10`), network.ReconnectRequired, network.OutcomeUnknown,
				network.ReconnectRequired, network.ReconnectRequired),
			"wrong app": networktest.NewFailure(400,
				`{"error_type":"OAuthException","code":400,"error_message":"Invalid platform app"}`,
				network.AppNotApproved, network.AppNotApproved, network.AppNotApproved, network.AppNotApproved),
			"failed inside": networktest.NewFailure(500, graph(`"code":10`), network.ReconnectRequired, network.OutcomeUnknown,
				network.ReconnectRequired, network.ReconnectRequired),
			"another permission": networktest.NewFailure(403, graph(`"code":200`), network.ReconnectRequired,
				network.OutcomeUnknown,
				network.ReconnectRequired, network.ReconnectRequired),
			"restricted": networktest.NewFailure(400, graph(`"code":25,"error_subcode":2207050`), network.ReconnectRequired,
				network.ReconnectRequired, network.ReconnectRequired, network.ReconnectRequired),
			"throttled":           networktest.NewFailure(400, graph(`"code":80002`), network.RateLimited),
			"throttled elsewhere": networktest.NewFailure(429, `slow down`, network.RateLimited),
			"policy":              networktest.NewFailure(400, graph(`"code":368`), network.RateLimited),
			"spam": networktest.NewFailure(400, graph(`"code":4,"error_subcode":2207051`), network.Rejected,
				network.OutcomeUnknown, network.ReconnectRequired, network.ReconnectRequired),
			"quota": networktest.NewFailure(400, graph(`"code":9,"error_subcode":2207042`), network.QuotaExceeded,
				network.QuotaExceeded, network.QuotaExceeded, network.QuotaExceeded),
			"temporary": networktest.NewFailure(500, graph(`"code":2`), network.Transient, network.OutcomeUnknown,
				network.Transient, network.Transient),
			"its own": networktest.NewFailure(400, graph(`"code":-1,"error_subcode":2207001`), network.Transient,
				network.OutcomeUnknown, network.Transient, network.Transient),
			"its own, unknown": networktest.NewFailure(400, graph(`"code":-2,"error_subcode":2299999`), network.Transient,
				network.OutcomeUnknown, network.Transient, network.Transient),
			"says so": networktest.NewFailure(400, graph(`"code":77777,"is_transient":true`), network.Transient,
				network.OutcomeUnknown, network.Transient, network.Transient),
			"not fetched": networktest.NewFailure(400, graph(`"code":9004,"error_subcode":2207052`), network.Transient,
				network.OutcomeUnknown, network.Transient, network.Transient),
			"container expired": networktest.NewFailure(400, graph(`"code":24,"error_subcode":2207008`), network.Transient,
				network.OutcomeUnknown, network.Transient, network.Transient),
			"not ready": networktest.NewFailure(400, graph(`"code":9007,"error_subcode":2207027`), network.Processing,
				network.Processing, network.Processing, network.Processing),
			"format": networktest.NewFailure(400, graph(`"code":36001,"error_subcode":2207005`),
				network.RejectedMedia, network.OutcomeUnknown, network.RejectedMedia, network.RejectedMedia),
			"caption": networktest.NewFailure(400, graph(`"code":36004,"error_subcode":2207010`), network.Rejected,
				network.OutcomeUnknown, network.ReconnectRequired, network.ReconnectRequired),
			"product tag": networktest.NewFailure(400, graph(`"code":100,"error_subcode":2207035`), network.Rejected,
				network.OutcomeUnknown, network.ReconnectRequired, network.ReconnectRequired),
			"place": networktest.NewFailure(400,
				graph(`"code":100,"message":"INSTAGRAM_PLATFORM_API__INVALID_LOCATION_ID"`), network.Rejected,
				network.OutcomeUnknown, network.ReconnectRequired, network.ReconnectRequired),
			"unknown": networktest.NewFailure(400, graph(`"code":77777`), network.Rejected, network.OutcomeUnknown,
				network.ReconnectRequired, network.ReconnectRequired),
			"no Graph": networktest.NewFailure(404, `<html>`, network.Transient, network.OutcomeUnknown, network.Transient),
			"wrong types": networktest.NewFailure(200, `{"id":5,"permalink":{},"access_token":7}`, network.Transient,
				network.OutcomeUnknown, network.Transient, network.Transient),
			"no usable field": networktest.NewFailure(200, `{"permalink":"javascript:alert(1)"}`, "", network.OutcomeUnknown,
				network.Transient, network.Transient),
		},
		RetryTimes: map[string]networktest.RetryTimeCase{
			"minutes": rateLimited(`4`,
				http.Header{
					usage: {`{"1":[{"call_count":100,"estimated_time_to_regain_access":7},{"estimated_time_to_regain_access":3}]}`},
				}, 7*time.Minute),
			"seconds": rateLimited(`4`,
				http.Header{usage: {`{"1":[{"estimated_time_to_regain_access":1}]}`}, "Retry-After": {"2"}}, 2*time.Second),
			"no time":        rateLimited(`17`, nil, 0),
			"policy":         rateLimited(`368`, nil, 24*time.Hour),
			"a day's quota":  rateLimited(`9,"error_subcode":2207042`, nil, 24*time.Hour),
			"another, never": rateLimited(`190`, http.Header{"Retry-After": {"2"}}, 0),
		},
		Resolves: resolveCases(),
		GiveUps: map[string]networktest.GiveUpCase{
			"expired":              creating(`{"id":"181","status_code":"EXPIRED"}`, network.Transient, 4),
			"unknown":              creating(`{"id":"181","status_code":"ERROR"}`, network.Transient, 4),
			"download failed":      creating(failed+`2207003"}`, network.RejectedMedia, 4),
			"invalid media format": creating(failed+`2207009"}`, network.RejectedMedia, 1),
			"invalid text":         creating(failed+`2207010"}`, network.Rejected, 1),
		},
	},
	Collecting: networktest.Collecting{Metrics: []string{"reach", "views", "likes", "comments", "shares", "saves"}},
	Containers: networktest.Containers{NotReady: "9007/2207027"},
}

func graph(inner string) string { return `{"error":{` + inner + `}}` }

// rateLimited returns a case with a rate limit response.
func rateLimited(code string, header http.Header, after time.Duration) networktest.RetryTimeCase {
	class := network.RateLimited
	switch code {
	case "190":
		class = network.ReconnectRequired
	case `9,"error_subcode":2207042`:
		class = network.QuotaExceeded
	}
	r := networktest.RetryTimeCase{
		Response: networktest.StubResponse{Status: http.StatusBadRequest, Header: header,
			Body: graph(`"code":` + code)}, Class: class,
	}
	if after > 0 {
		r.RetryAt = networktest.Start.Add(after)
	}
	return r
}

// creating returns a case in which all containers have the given state.
func creating(state string, class network.ErrorClass, calls int) networktest.GiveUpCase {
	return networktest.GiveUpCase{Draft: planned, Handler: networktest.ListHandler("/media", `{"id":"181"}`, state),
		Class: class, Calls: calls}
}

// resolveCases returns container states and lists of posts, with the expected verdicts.
func resolveCases() map[string]networktest.ResolveCase {
	const (
		gone  = `{"error":{"code":100,"error_subcode":33}}`
		throt = `{"error":{"code":4}}`
		dead  = `{"error":{"code":190}}`
		none  = `{"data":[]}`
		one   = `{"data":[{"id":"171","caption":" x\n","media_type":"IMAGE","timestamp":"2026-11-21T09:01:00+0000",
			"permalink":"javascript:x"}]}`
		other = `{"data":[{"id":"171","caption":"y","timestamp":"2026-11-21T09:01:00+0000"},
			{"id":"172","caption":"x","media_type":"VIDEO","timestamp":"2026-11-21T09:01:00+0000"},
			{"id":"173","caption":"x","timestamp":"2026-11-20T09:01:00+0000"},
			{"id":"../me","caption":"x","timestamp":"2026-11-21T09:01:00+0000"},
			{"id":"174","caption":"x","timestamp":"noon"}]}`
		published = `{"status_code":"PUBLISHED","status":"Published"}`
		failed    = `{"status_code":"ERROR","status":"Error: Media upload has failed with error code `
	)
	look := func(container, posts string, verdict network.Verdict, class network.ErrorClass,
		id string) networktest.ResolveCase {
		return networktest.ResolveCase{
			Draft: ready, Handler: networktest.ListHandler("/media", posts, container), Verdict: verdict, Class: class,
			Receipt: network.Receipt{ID: id},
		}
	}
	return map[string]networktest.ResolveCase{
		"published":                      look(published, one, network.Published, "", "171"),
		"published, not listed":          look(published, other, network.Published, "", ""),
		"published, lists are throttled": look(published, throt, network.Unknown, network.RateLimited, ""),
		"published, lists are rejected":  look(published, dead, network.Published, "", ""),
		"finished":                       look(`{"status_code":"FINISHED"}`, one, network.Absent, "", ""),
		"in progress":                    look(`{"status_code":"IN_PROGRESS"}`, one, network.Unknown, network.Processing, ""),
		"expired":                        look(`{"status_code":"EXPIRED"}`, one, network.Absent, network.Transient, ""),
		"invalid video":                  look(failed+`2207026"}`, one, network.Absent, network.RejectedMedia, ""),
		"a video not fetched":            look(failed+`2207052"}`, one, network.Absent, network.RejectedMedia, ""),
		"the network's own failure":      look(failed+`2207082"}`, one, network.Absent, network.Transient, ""),
		"an unknown failure":             look(failed+`2299999"}`, one, network.Absent, network.Transient, ""),
		"a failure without a reason":     look(`{"status_code":"ERROR"}`, one, network.Absent, network.Transient, ""),
		"an unknown state":               look(`{"status_code":"RESTING"}`, one, network.Unknown, network.Transient, ""),
		"gone, listed":                   look(gone, one, network.Published, "", "171"),
		"gone, not listed":               look(gone, none, network.Unknown, network.Transient, ""),
		"gone, lists are throttled":      look(gone, throt, network.Unknown, network.RateLimited, ""),
		"invalid token":                  look(dead, one, network.Unknown, network.ReconnectRequired, ""),
	}
}

func TestConformance(t *testing.T) {
	t.Parallel()
	networktest.Run(t, adapter)
}
