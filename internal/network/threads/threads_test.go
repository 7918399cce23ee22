package threads_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/network/networktest"
	"pressroom.example/pressroom/internal/network/threads"
)

const (
	ready   = `{"network":"threads","text":"x","container":"18000000000000001","made":"2026-11-21T09:00:00Z"}`
	planned = `{"network":"threads","text":"x"}`
	day     = 24 * time.Hour
	usage   = "X-Business-Use-Case-Usage"
)

var (
	picture = network.Media{Kind: network.Image, Type: "image/jpeg", Size: 8_000_000, Width: 1440, Height: 1000}
	film    = network.Media{Kind: network.Video, Type: "video/mp4", Size: 1_000_000_000, Duration: 5 * time.Minute}
)

// withChange returns the media item m with a change.
func withChange(m network.Media, change func(*network.Media)) []network.Media {
	change(&m)
	return []network.Media{m}
}

var adapter = networktest.Case{
	Platform:     "threads",
	CheckTraffic: checkCall, IsDescribed: isDescribed,
	New: func(base string, app network.App) network.Network {
		return threads.New(threads.Options{App: app, AuthorizeHost: base, GraphHost: base})
	},
	Signing: networktest.Signing{
		Candidates: func(found []network.Candidate, url, _ string) []network.Candidate {
			g := found[0].Grant
			return []network.Candidate{{DisplayName: "Harbour Coffee", Grant: network.Grant{
				Server: url, Account: g.Account, Username: "harbour.coffee", AccessToken: g.AccessToken,
				Expires: networktest.Start.Add(60 * day),
				Scopes:  []string{"threads_basic", "threads_content_publish", "threads_manage_insights", "threads_read_replies"},
				Extra:   map[string]string{"issued_at": "2026-11-21T09:30:00Z"},
				Holder:  "threads:" + g.Account,
			}}}
		},
		BadCode: "100", CodeLifetime: 10 * time.Minute, CodeSuffix: "#_",
		TokenLifetime: 60 * day, RefreshAge: 59 * day, GrantLifetime: 61 * day, MinRefreshAge: day,
		UnknownTokenError: networktest.ExpectedError{Class: network.ReconnectRequired, Code: "190"},
		ExpiredRefresh:    "190/463",
	},
	Publishing: networktest.Publishing{
		Posts: []networktest.Content{
			{Name: "text", Format: network.FormatText, UploadStart: "/v1.0/me/threads"},
			{Name: "a poll", Format: network.FormatText, Variant: true, Options: network.Options{Threads: &network.ThreadsOptions{
				ReplyControl: "followers_only", TopicTag: "Coffee",
				PollAttachment: &network.ThreadsOptionsPollAttachment{OptionA: "Yes", OptionB: "No"},
			}}},
			{Name: "an image", Media: func(l *networktest.Library) []network.Media {
				return []network.Media{l.Image("png", 40, 30)}
			}, Format: network.FormatImage},
			{Name: "a video", Media: func(l *networktest.Library) []network.Media {
				return []network.Media{l.Video(20_000)}
			}, Format: network.FormatVideo, Variant: true},
			{Name: "several", Media: func(l *networktest.Library) []network.Media {
				return []network.Media{l.Image("jpeg", 50, 40), l.Video(20_000), l.Image("png", 40, 30)}
			}, Format: network.FormatCarousel},
		},
		SecondCommit: network.OutcomeUnknown,
		FileLimits: []network.FileLimits{
			{Types: []string{"image/jpeg", "image/png"}, MaxBytes: 8_000_000, MaxSide: 1440},
			{Types: []string{"video/mp4", "video/quicktime"}, MaxBytes: 1_000_000_000},
		},
		Checks: map[string]networktest.CheckCase{
			"a text":                  networktest.NewCheckCase(strings.Repeat("é", 500), nil),
			"no text":                 networktest.NewCheckCase(" \u200b\n", nil, "!caption_missing"),
			"too long":                networktest.NewCheckCase(strings.Repeat("é", 501), nil, "!caption_too_long"),
			"emoji":                   networktest.NewCheckCase(strings.Repeat("👋", 125), nil),
			"one emoji too many":      networktest.NewCheckCase(strings.Repeat("👋", 126), nil, "!caption_too_long"),
			"a family":                networktest.NewCheckCase(strings.Repeat("x", 475)+"👨‍👩‍👧‍👦", nil),
			"combined emoji too many": networktest.NewCheckCase(strings.Repeat("x", 476)+"👨‍👩‍👧‍👦", nil, "!caption_too_long"),
			"one link repeated":       networktest.NewCheckCase(strings.Repeat("https://a.test ", 6), nil),
			"too many links": networktest.NewCheckCase("http://a.a http://a.b http://a.c http://a.d http://a.e HTTPS://a.f",
				nil, "!links_too_many"),
			"a hashtag":    networktest.NewCheckCase("#one a#no", nil),
			"two hashtags": networktest.NewCheckCase("#one #two #three", nil, "hashtags_too_many"),
			"media only":   networktest.NewCheckCase("", []network.Media{picture, film}),
			"a GIF": networktest.NewCheckCase("",
				withChange(picture, func(m *network.Media) { m.Type = "image/gif" }), "media_type"),
			"no image": networktest.NewCheckCase("", withChange(picture,
				func(m *network.Media) { m.Type = "application/pdf" }), "!media_type"),
			"a large image": networktest.NewCheckCase("", withChange(picture, func(m *network.Media) { m.Size++ }),
				"media_too_large"),
			"a wide image": networktest.NewCheckCase("", withChange(picture, func(m *network.Media) { m.Width++ }),
				"media_too_large"),
			"a strip": networktest.NewCheckCase("", withChange(picture, func(m *network.Media) { m.Height = 143 }), "!media_aspect"),
			"a WebM":  networktest.NewCheckCase("", withChange(film, func(m *network.Media) { m.Type = "video/webm" }), "!media_type"),
			"a large video": networktest.NewCheckCase("", withChange(film, func(m *network.Media) { m.Size++ }),
				"!media_too_large"),
			"twenty-one": networktest.NewCheckCase("", slices.Repeat([]network.Media{picture}, 21), "!media_too_many"),
			"a long video": networktest.NewCheckCase("", withChange(film, func(m *network.Media) { m.Duration++ }),
				"!media_too_long"),
		},
		Rejections: map[string]networktest.Rejection{
			"too long": {Text: strings.Repeat("é", 501), Class: network.Rejected, Code: "caption_too_long"},
			"too many links": {
				Text: "http://a.b http://a.c http://a.d http://a.e http://a.f http://a.g", Class: network.Rejected, Code: "links_too_many",
			},
			"too many": {Media: func(*networktest.Library) []network.Media {
				return make([]network.Media, 21)
			}, Class: network.RejectedMedia},
			"file narrower than its description": {Media: func(l *networktest.Library) []network.Media {
				return withChange(l.Image("png", 4, 44), func(m *network.Media) { m.Width, m.Height = 0, 0 })
			}, Class: network.RejectedMedia, Code: "36003/2207009"},
			"not an image": {Media: func(l *networktest.Library) []network.Media {
				return []network.Media{l.Fake(network.Image, "image/png", "GIF89a...")}
			}, Class: network.RejectedMedia, Code: "36001/2207005"},
			"a missing image": {Media: func(l *networktest.Library) []network.Media {
				return []network.Media{l.Remove(l.Image("png", 9, 9), true)}
			}, Class: network.Transient, Code: "9004/2207052"},
			"not a video": {Media: func(l *networktest.Library) []network.Media {
				return []network.Media{l.Fake(network.Video, "video/mp4", "no film")}
			}, Class: network.RejectedMedia, Code: "FAILED_PROCESSING_VIDEO"},
		},
		Drafts: []string{`{"network":"threads","container":"../me"}`},
		Expiry: networktest.Expiry{After: 25 * time.Hour, Commit: "24/2207008", Resolve: "EXPIRED"},
	},
	Failures: networktest.Failures{
		Calls: []networktest.Call{
			networktest.PermalinkCall("17"), networktest.CommitCall(ready),
			networktest.RefreshCall("", networktest.AccessToken), networktest.ExchangeCall(""),
		},
		Quote: func(message string) networktest.StubResponse {
			return networktest.StubResponse{Status: http.StatusBadRequest,
				Body: graph(`"code":190,"message":"` + message + `"`)}
		},
		Errors: map[string]networktest.Failure{
			"expired":       networktest.NewFailure(400, graph(`"code":190,"error_subcode":463`), network.ReconnectRequired),
			"permission":    networktest.NewFailure(403, graph(`"code":200`), network.ReconnectRequired, network.OutcomeUnknown),
			"failed inside": networktest.NewFailure(500, graph(`"code":10`), network.ReconnectRequired, network.OutcomeUnknown),
			"app blocked": networktest.NewFailure(400, graph(`"code":200,"message":"API access blocked."`),
				network.AppNotApproved, network.AppNotApproved),
			"app not reviewed": networktest.NewFailure(400, graph(`"code":100,"message":"Unsupported request - method type: get"`),
				network.AppNotApproved, network.AppNotApproved),
			"wrong secret": networktest.NewFailure(400, graph(`"code":1,"message":"Error validating client secret."`),
				network.AppNotApproved, network.AppNotApproved),
			"throttled":           networktest.NewFailure(400, graph(`"code":32`), network.RateLimited),
			"throttled elsewhere": networktest.NewFailure(429, `slow down`, network.RateLimited),
			"spam": networktest.NewFailure(400, graph(`"code":4,"error_subcode":2207051`), network.Rejected,
				network.OutcomeUnknown),
			"quota":     networktest.NewFailure(400, graph(`"code":9,"error_subcode":2207042`), network.QuotaExceeded),
			"temporary": networktest.NewFailure(500, graph(`"code":2`), network.Transient, network.OutcomeUnknown),
			"says so": networktest.NewFailure(400, graph(`"code":77777,"is_transient":true`),
				network.Transient, network.OutcomeUnknown),
			"restricted": networktest.NewFailure(400, graph(`"code":25,"error_subcode":2207050`), network.ReconnectRequired),
			"format": networktest.NewFailure(400, graph(`"code":36001,"error_subcode":2207005`),
				network.RejectedMedia, network.OutcomeUnknown),
			"unknown":   networktest.NewFailure(400, graph(`"code":77777`), network.Rejected, network.OutcomeUnknown),
			"no Graph":  networktest.NewFailure(404, `<html>`, network.Transient, network.OutcomeUnknown),
			"not ready": networktest.NewFailure(400, graph(`"code":9007,"error_subcode":2207027`), network.Processing),
			"not found yet": networktest.NewFailure(400, graph(`"code":24,"error_subcode":4279009`),
				network.Processing, network.Processing),
			"not found":   networktest.NewFailure(400, graph(`"code":24`), network.Processing),
			"wrong types": networktest.NewFailure(200, `{"id":5,"permalink":{}}`, network.Transient, network.OutcomeUnknown),
			"no id":       networktest.NewFailure(200, `{"permalink":"javascript:alert(1)"}`, "", network.OutcomeUnknown),
		},
		RetryTimes: map[string]networktest.RetryTimeCase{
			"minutes": rateLimited(`4`,
				http.Header{
					usage: {`{"1":[{"call_count":100,"estimated_time_to_regain_access":7},{"estimated_time_to_regain_access":3}]}`},
				}, 7*time.Minute),
			"seconds": rateLimited(`4`,
				http.Header{usage: {`{"1":[{"estimated_time_to_regain_access":1}]}`}, "Retry-After": {"2"}}, 2*time.Second),
			"too long": rateLimited(`613`, http.Header{usage: {
				`{"1":[{"estimated_time_to_regain_access":99999999999}]}`}}, 24*time.Hour),
			"no time":        rateLimited(`17`, nil, 0),
			"nonsense":       rateLimited(`17`, http.Header{usage: {`[[["`}, "Retry-After": {"-1"}}, 0),
			"below zero":     rateLimited(`17`, http.Header{usage: {`{"1":[{"estimated_time_to_regain_access":-5}]}`}}, 0),
			"policy":         rateLimited(`368`, nil, 24*time.Hour),
			"a day's quota":  rateLimited(`9,"error_subcode":2207042`, nil, 24*time.Hour),
			"another, never": rateLimited(`190`, http.Header{"Retry-After": {"2"}}, 0),
		},
		Resolves: resolveCases(),
		GiveUps: map[string]networktest.GiveUpCase{
			"expired": creating(`{"id":"181","status":"EXPIRED"}`, network.Transient, 4),
			"unknown": creating(`{"id":"181","status":"ERROR","error_message":"UNKNOWN"}`, network.Transient, 4),
			"download failed": creating(`{"id":"181","status":"ERROR","error_message":"FAILED_DOWNLOADING_VIDEO"}`,
				network.RejectedMedia, 4),
			"invalid aspect ratio": creating(`{"id":"181","status":"ERROR","error_message":"INVALID_ASPEC_RATIO"}`,
				network.RejectedMedia, 1),
		},
	},
	Collecting: networktest.Collecting{Metrics: []string{"views", "likes", "comments", "shares"}},
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
	return networktest.GiveUpCase{Draft: planned, Handler: networktest.ListHandler("/threads", `{"id":"181"}`, state),
		Class: class, Calls: calls}
}

// resolveCases returns container states and lists of posts, with the expected verdicts.
func resolveCases() map[string]networktest.ResolveCase {
	const (
		gone  = `{"error":{"code":100,"error_subcode":33}}`
		post  = `{"error":{"code":100,"message":"(#100) Tried accessing nonexisting field (status)"}}`
		throt = `{"error":{"code":4}}`
		dead  = `{"error":{"code":190}}`
		none  = `{"data":[]}`
		one   = `{"data":[{"id":"171","text":" x\n","media_type":"TEXT_POST","timestamp":"2026-11-21T09:01:00+0000",
			"permalink":"javascript:x"}]}`
		other = `{"data":[{"id":"171","text":"y","timestamp":"2026-11-21T09:01:00+0000"},
			{"id":"172","text":"x","media_type":"IMAGE","timestamp":"2026-11-21T09:01:00+0000"},
			{"id":"173","text":"x","timestamp":"2026-11-20T09:01:00+0000"},
			{"id":"../me","text":"x","timestamp":"2026-11-21T09:01:00+0000"},
			{"id":"174","text":"x","timestamp":"noon"}]}`
		published = `{"status":"PUBLISHED"}`
	)
	look := func(container, posts string, verdict network.Verdict, class network.ErrorClass,
		id string) networktest.ResolveCase {
		return networktest.ResolveCase{
			Draft: ready, Handler: networktest.ListHandler("/threads", posts, container), Verdict: verdict, Class: class,
			Receipt: network.Receipt{ID: id},
		}
	}
	return map[string]networktest.ResolveCase{
		"published":                      look(published, one, network.Published, "", "171"),
		"published, not listed":          look(published, other, network.Published, "", ""),
		"published, lists are throttled": look(published, throt, network.Unknown, network.RateLimited, ""),
		"published, lists are rejected":  look(published, dead, network.Published, "", ""),
		"finished":                       look(`{"status":"FINISHED"}`, one, network.Absent, "", ""),
		"in progress":                    look(`{"status":"IN_PROGRESS"}`, one, network.Unknown, network.Processing, ""),
		"expired":                        look(`{"status":"EXPIRED"}`, one, network.Absent, network.Transient, ""),
		"a bad video": look(`{"status":"ERROR","error_message":"INVALID_DURATION"}`, one,
			network.Absent, network.RejectedMedia, ""),
		"an unknown failure":        look(`{"status":"ERROR","error_message":"UNKNOWN"}`, one, network.Absent, network.Transient, ""),
		"an unknown state":          look(`{"status":"RESTING"}`, one, network.Unknown, network.Transient, ""),
		"gone, listed":              look(gone, one, network.Published, "", "171"),
		"gone, not listed":          look(gone, none, network.Unknown, network.Transient, ""),
		"gone, lists are throttled": look(gone, throt, network.Unknown, network.RateLimited, ""),
		"not a container, listed":   look(post, one, network.Published, "", "171"),
		"not a container, unlisted": look(post, none, network.Unknown, network.Rejected, ""),
		"invalid token":             look(dead, one, network.Unknown, network.ReconnectRequired, ""),
	}
}

func TestConformance(t *testing.T) {
	t.Parallel()
	networktest.Run(t, adapter)
}
