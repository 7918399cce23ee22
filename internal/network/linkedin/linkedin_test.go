package linkedin_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/network/linkedin"
	"pressroom.example/pressroom/internal/network/networktest"
)

const (
	ready    = `{"linkedin":true,"text":"x","planned":"2026-11-21T09:30:00Z","ready":true}`
	uploaded = `{"linkedin":true,"text":"x","media":[{"kind":"image"}],"assets":["urn:li:image:1"],` +
		`"arrived":"2026-11-21T09:30:00Z"}`
	listCall     = "/rest/posts?"
	sizeCall     = "/rest/networkSizes/"
	statsCall    = "/rest/organizationalEntityShareStatistics?"
	memberCall   = "/rest/memberCreatorPostAnalytics?"
	accessDenied = `{"status":403,"code":"ACCESS_DENIED","message":"Not enough permissions to access this resource"}`
	day          = 24 * time.Hour
)

func images(formats ...string) func(*networktest.Library) []network.Media {
	return func(l *networktest.Library) []network.Media {
		var media []network.Media
		for i, format := range formats {
			media = append(media, l.Image(format, 40+i, 30))
		}
		return media
	}
}

// withMinSize sets the stated size of a video to at least LinkedIn's minimum.
func withMinSize(m network.Media) network.Media {
	m.Size = max(m.Size, 75_000)
	return m
}

func film(size int) func(*networktest.Library) []network.Media {
	return func(l *networktest.Library) []network.Media { return []network.Media{withMinSize(l.Video(size))} }
}

var (
	splitScopes = []string{
		"openid", "profile", "email", "w_member_social", "w_organization_social", "r_organization_social",
		"rw_organization_admin",
	}
	midnight = time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)
	none     = "reach views likes comments shares clicks"
)

// adapter connects the organization that a member administers.
var adapter = networktest.Case{
	Platform: "linkedin",
	New: func(base string, app network.App) network.Network {
		return linkedin.New(linkedin.Options{
			App: app, AuthorizeHost: base, APIHost: base, WebURL: base + "/web", Organizations: true,
		})
	},
	Signing: networktest.Signing{
		CandidateIndex: 1, Account: "harbour.coffee.company",
		Candidates: func(found []network.Candidate, url, _ string) []network.Candidate {
			var want []network.Candidate
			for i, kind := range []string{"member", "organization"} {
				g := found[i].Grant
				want = append(want, network.Candidate{DisplayName: "Harbour Coffee", Grant: network.Grant{
					Server: url, AccessToken: g.AccessToken, RefreshToken: g.RefreshToken, Kind: kind,
					Account: g.Account, Username: "Harbour Coffee",
					Expires: networktest.Start.Add(60 * day), RefreshExpires: networktest.Start.Add(365 * day), Scopes: splitScopes,
				}})
			}
			want[1].DisplayName, want[1].Grant.Username = "Harbour Coffee Company", "harbour.coffee.company"
			return want
		},
		BadCode: "invalid_request", CodeLifetime: 10 * time.Minute,
		TokenLifetime: 60 * day, RefreshAge: 61 * day, GrantLifetime: 305 * day, ResolveNeedsToken: true,
		ExpiredRefresh:    "invalid_grant",
		ExpiredTokenError: networktest.ExpectedError{Class: network.RefreshRequired, Code: "EXPIRED_ACCESS_TOKEN"},
		UnknownTokenError: networktest.ExpectedError{Class: network.RefreshRequired, Code: "INVALID_ACCESS_TOKEN"},
	},
	Publishing: networktest.Publishing{
		Posts: []networktest.Content{
			{
				Name: "text", Text: "Grüße 👋 & more (really) @you\n\n*https://example.org/a_b?c=d#e* #tag_two <x> {y} | \\ ~ [z]",
				Format: network.FormatText, AbsentAfter: time.Minute,
			},
			{
				Name: "an image", Media: images("png"), Format: network.FormatImage, AbsentAfter: time.Minute,
				UploadStart: "images?action=initializeUpload",
			},
			{Name: "a GIF", Media: images("gif"), Format: network.FormatImage, Variant: true},
			{Name: "several", Media: images("jpeg", "gif", "png"), Format: network.FormatCarousel, Variant: true},
			{
				Name: "a short video", Media: film(9000), Format: network.FormatVideo, AbsentAfter: time.Minute,
				UploadStart: "videos?action=initializeUpload",
			},
			{Name: "a video", Media: film(9 << 20), Format: network.FormatVideo, Variant: true},
		},
		SecondCommit: network.Duplicate, Duplicates: true, DuplicateAfter: 25 * time.Hour,
		FileLimits: []network.FileLimits{
			{Types: []string{"image/jpeg", "image/png", "image/gif"}, MaxBytes: 5_000_000, MaxSide: 6012},
			{Types: []string{"video/mp4"}, MaxBytes: 500_000_000},
		},
		Rejections: map[string]networktest.Rejection{
			"too long": {Text: strings.Repeat("é", 3001), Class: network.Rejected, Code: "caption_too_long"},
			"too many": {Media: func(*networktest.Library) []network.Media {
				return make([]network.Media, 21)
			}, Class: network.RejectedMedia},
			"mixed": {Media: func(l *networktest.Library) []network.Media {
				return []network.Media{l.Image("png", 9, 9), withMinSize(l.Video(9000))}
			}, Class: network.RejectedMedia, Code: "media_mix"},
			"not an image": {Media: func(l *networktest.Library) []network.Media {
				return []network.Media{l.Fake(network.Image, "image/png", "BM...")}
			}, Class: network.RejectedMedia, Code: "PROCESSING_FAILED"},
			"not a video": {Media: func(l *networktest.Library) []network.Media {
				return []network.Media{withMinSize(l.Fake(network.Video, "video/mp4", "no film"))}
			}, Class: network.RejectedMedia, Code: "PROCESSING_FAILED"},
			"an empty video": {Media: film(0), Class: network.RejectedMedia, Code: "ILLEGAL_ARGUMENT"},
			"a missing image": {Media: func(l *networktest.Library) []network.Media {
				return []network.Media{l.Remove(l.Image("png", 9, 9), true)}
			}, Class: network.RejectedMedia, Code: "missing"},
		},
		Drafts: []string{
			`{"linkedin":true,"ready":true,"assets":["urn:li:image:1"]}`, `{"linkedin":true,"ready":true,"media":[{}],"assets":["../me"]}`,
		},
	},
	Failures: networktest.Failures{
		Grant: network.Grant{Kind: "organization", Account: "urn:li:organization:1"},
		Calls: []networktest.Call{
			networktest.PrepareCall(uploaded), networktest.CommitCall(ready), networktest.RefreshCall(""),
			networktest.ExchangeCall(""), networktest.ResolveCall(ready),
		},
		Quote: func(message string) networktest.StubResponse {
			return networktest.StubResponse{
				Status: http.StatusBadRequest,
				Body: `{"status":400,"code":"ILLEGAL_ARGUMENT","message":"` + message +
					`","error":"invalid_request","error_description":"` + message + `"}`,
			}
		},
		Errors: map[string]networktest.Failure{
			"expired": networktest.NewFailure(401,
				`{"status":401,"serviceErrorCode":65602,"code":"EXPIRED_ACCESS_TOKEN"}`, network.RefreshRequired,
				network.RefreshRequired),
			"permission": networktest.NewFailure(403, `{"status":403,"serviceErrorCode":100,"code":"ACCESS_DENIED"}`,
				"", network.ReconnectRequired),
			"unknown field": networktest.NewFailure(403,
				`{"status":403,"message":"Unpermitted fields present in REQUEST_BODY"}`, "", network.AppNotApproved),
			"version": networktest.NewFailure(426, `{"status":426,"code":"NONEXISTENT_VERSION"}`,
				network.AppNotApproved, network.AppNotApproved),
			"throttled": networktest.NewFailure(429, `slow down`, network.RateLimited),
			"duplicate": networktest.NewFailure(422,
				`{"status":422,"errorDetails":{"inputErrors":[{"code":"DUPLICATE_POST"}]}}`, network.Duplicate, network.Duplicate),
			"duplicate, before": networktest.NewFailure(422, `{"status":422,"code":"DUPLICATE_POST"}`,
				network.Duplicate, network.Duplicate),
			"content": networktest.NewFailure(422, `{"status":422,"message":"no"}`, network.Rejected, network.Rejected),
			"argument": networktest.NewFailure(400, `{"status":400,"code":"ILLEGAL_ARGUMENT"}`,
				network.Rejected, network.Rejected),
			"conflict":            networktest.NewFailure(409, `{"status":409}`, network.Transient, network.OutcomeUnknown),
			"temporary":           networktest.NewFailure(500, `{"status":500}`, network.Transient, network.OutcomeUnknown),
			"response of a proxy": networktest.NewFailure(400, `<html>`, network.Transient, network.OutcomeUnknown),
			"unknown status":      networktest.NewFailure(200, `{"status":"RESTING"}`, network.Transient, network.OutcomeUnknown),
			"no id":               networktest.NewFailure(201, `{"status":"AVAILABLE"}`, "", network.OutcomeUnknown),
			"failed": networktest.NewFailure(200, `{"status":"PROCESSING_FAILED","processingFailureReason":"no"}`,
				network.RejectedMedia, network.OutcomeUnknown),
			"token: no token": networktest.NewFailure(200, `{}`, networktest.Skip, networktest.Skip, network.Transient),
			"token: dead": networktest.NewFailure(400,
				`{"error":"invalid_grant","error_description":"old was revoked"}`, networktest.Skip, networktest.Skip,
				network.ReconnectRequired),
			"token: the app": networktest.NewFailure(401, `{"error":"invalid_client"}`, networktest.Skip,
				networktest.Skip, network.Transient),
			"token: request": networktest.NewFailure(400, `{"error":"invalid_request"}`, networktest.Skip,
				networktest.Skip, network.Transient),
			"token: too often": networktest.NewFailure(429, ``, networktest.Skip, networktest.Skip, network.RateLimited),
		},
		RetryTimes: map[string]networktest.RetryTimeCase{
			"seconds":  rateLimited("2", networktest.Start.Add(2*time.Second)),
			"no time":  rateLimited("", midnight),
			"nonsense": rateLimited("-1", midnight),
		},
		Resolves:   resolveCases(),
		EmptyLists: map[string]http.Handler{ready: networktest.StubResponse{Body: `{"elements":[]}`}},
	},
	Collecting: networktest.Collecting{
		Metrics: strings.Fields(none), NoPicture: true, PageSize: 50, MetricsAfter: day,
		CollectFailures: func(now time.Time) map[string]networktest.CollectFailure {
			return map[string]networktest.CollectFailure{
				"too often, the list": networktest.NewCollectFailure(networktest.Interceptor{
					Part: listCall, Status: 429, Body: `{"status":429}`,
				}, network.RateLimited, midnight, 0),
				"too often, the statistics": networktest.NewCollectFailure(networktest.Interceptor{
					Part: statsCall, Status: 429, Header: map[string]string{"Retry-After": "7"},
				}, network.RateLimited, now.Add(7*time.Second), 1),
				"too often, the followers": networktest.NewCollectFailure(networktest.Interceptor{
					Part: sizeCall, Status: 429, Body: `{"status":429}`,
				}, network.RateLimited, midnight, 1),
				"invalid token": networktest.NewCollectFailure(networktest.Interceptor{
					Part: listCall, Status: 401, Body: `{"status":401}`,
				}, network.RefreshRequired, time.Time{}, 0),
				"posts may not be read": networktest.NewCollectFailure(networktest.Interceptor{
					Part: listCall, Status: 403, Body: accessDenied,
				}, network.AppNotApproved, time.Time{}, 0),
				"an unsupported version": networktest.NewCollectFailure(networktest.Interceptor{
					Part: "/rest/", Status: 426, Body: `{"status":426,"code":"NONEXISTENT_VERSION"}`,
				}, network.AppNotApproved, time.Time{}, 0),
				"a failure": networktest.NewCollectFailure(networktest.Interceptor{Part: statsCall, Status: 503},
					network.Transient, time.Time{}, 1),
				"nonsense": networktest.NewCollectFailure(networktest.Interceptor{Part: listCall, Status: 200, Body: "["},
					network.Transient, time.Time{}, 0),
			}
		},
		Withheld: map[string]networktest.WithheldCase{
			"followers": networktest.NewWithheldCase("followers", networktest.Interceptor{Part: sizeCall, Status: 403,
				Body: accessDenied}),
			"an edge type": networktest.NewWithheldCase("followers",
				networktest.Interceptor{Part: sizeCall, Status: 400, Body: `{"status":400,"code":"ILLEGAL_ARGUMENT"}`}),
			"statistics": networktest.NewWithheldCase(none, networktest.Interceptor{Part: statsCall, Status: 403,
				Body: accessDenied}),
			"unknown posts": networktest.NewWithheldCase(none, networktest.Interceptor{
				Part: statsCall, Status: 200, Body: `{"elements":[{"share":"urn:li:share:1","totalShareStatistics":{"likeCount":1}}]}`,
			}),
		},
	},
}

func rateLimited(header string, after time.Time) networktest.RetryTimeCase {
	answer := networktest.StubResponse{
		Status: http.StatusTooManyRequests, Header: http.Header{"Retry-After": {header}}, Body: `{"status":429}`,
	}
	return networktest.RetryTimeCase{Call: 1, Response: answer, Class: network.RateLimited, RetryAt: after}
}

// resolveCases returns lists of an author's posts, with the expected verdicts.
func resolveCases() map[string]networktest.ResolveCase {
	start := networktest.Start
	post := func(id, commentary string, at time.Time, more string) string {
		return fmt.Sprintf(`{"id":%q,"commentary":%q,"createdAt":%d%s}`, id, commentary, at.UnixMilli(), more)
	}
	list := func(posts ...string) string { return `{"elements":[` + strings.Join(posts, ",") + `]}` }
	look := func(status int, body string, verdict network.Verdict, class network.ErrorClass,
		id string) networktest.ResolveCase {
		return networktest.ResolveCase{
			Draft: ready, Elapsed: time.Hour, Handler: networktest.StubResponse{Status: status, Body: body},
			Verdict: verdict,
			Class:   class, Receipt: network.Receipt{ID: id},
		}
	}
	const first, second = "urn:li:share:1", "urn:li:ugcPost:2"
	ours := post(first, " x\n", start.Add(time.Second), "")
	return map[string]networktest.ResolveCase{
		"listed":                  look(200, list(ours), network.Published, "", first),
		"network clock is behind": look(200, list(post(second, "x", start.Add(-4*time.Minute), "")), network.Published, "", second),
		"older":                   look(200, list(post(first, "x", start.Add(-6*time.Minute), "")), network.Absent, "", ""),
		"another text":            look(200, list(post(first, "y", start, "")), network.Absent, "", ""),
		"with an image": look(200,
			list(post(first, "x", start, `,"content":{"media":{"id":"urn:li:image:1"}}`)), network.Absent, "", ""),
		"no post":             look(200, list(post("../me", "x", start, "")), network.Absent, "", ""),
		"two":                 look(200, list(ours, post(second, "x", start, "")), network.Unknown, network.OutcomeUnknown, ""),
		"also an older match": look(200, list(ours, post(second, "x", start.Add(-time.Hour), "")), network.Published, "", first),
		"many others": look(200,
			list(strings.Split(strings.Repeat(post(first, "y", start, "")+";", 50), ";")[:50]...), network.Unknown,
			network.OutcomeUnknown, ""),
		"none":          look(200, list(), network.Absent, "", ""),
		"nonsense":      look(200, `[`, network.Unknown, network.Transient, ""),
		"not allowed":   look(403, `{"status":403,"code":"ACCESS_DENIED"}`, network.Unknown, network.OutcomeUnknown, ""),
		"too often":     look(429, `{"status":429}`, network.Unknown, network.RateLimited, ""),
		"invalid token": look(401, `{"status":401}`, network.Unknown, network.RefreshRequired, ""),
		"a failure":     look(503, ``, network.Unknown, network.Transient, ""),
	}
}

func TestConformance(t *testing.T) {
	t.Parallel()
	networktest.Run(t, adapter)
}

// withOptions returns the adapter with other options. It connects members.
func withOptions(change func(*linkedin.Options)) networktest.Case {
	c := adapter
	c.CandidateIndex, c.Account = 0, networktest.Account
	c.New = func(base string, app network.App) network.Network {
		opts := linkedin.Options{App: app, AuthorizeHost: base, APIHost: base, WebURL: base + "/web", Organizations: true}
		change(&opts)
		return linkedin.New(opts)
	}
	return c
}

// members is the adapter with an app that has the self-service products.
var members = withOptions(func(opts *linkedin.Options) { opts.Organizations = false })
