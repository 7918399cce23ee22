package facebook_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/network/facebook"
	"pressroom.example/pressroom/internal/network/networktest"
)

const (
	readyText  = `{"facebook":true,"text":"x","made":"2026-11-21T09:00:00Z"}`
	readyVideo = `{"facebook":true,"text":"x","media":[{"kind":"video"}],"video":"15001","session":"16001",` +
		`"made":"2026-11-21T09:00:00Z"}`
	readyReel = `{"facebook":true,"text":"x","media":[{"kind":"video"}],"video":"15001","reel":true,` +
		`"made":"2026-11-21T09:00:00Z"}`
	plannedReel  = `{"facebook":true,"text":"x","reel":true,"media":[{"id":1,"kind":"video","type":"video/mp4","size":100}]}`
	plannedVideo = `{"facebook":true,"text":"x","media":[{"id":1,"kind":"video","type":"video/mp4","size":100}]}`
	day          = 24 * time.Hour
)

var usage = http.Header{"X-Business-Use-Case-Usage": {`{"1":[{"call_count":100,"estimated_time_to_regain_access":7}]}`}}

func image(l *networktest.Library) []network.Media { return []network.Media{l.Image("png", 40, 30)} }

func images(l *networktest.Library) []network.Media {
	return []network.Media{l.Image("gif", 8, 9), l.Image("png", 40, 30)}
}

// film returns a video that is uploaded in more than one chunk.
func film(l *networktest.Library) []network.Media { return []network.Media{l.Video(2_600_024)} }

// reel returns a video in the format of reels.
func reel(l *networktest.Library) []network.Media {
	m := l.Video(2_600_024)
	m.Width, m.Height = 1080, 1920
	return []network.Media{m}
}

// with returns options for Facebook.
func with(o network.FacebookOptions) network.Options { return network.Options{Facebook: &o} }

var story = with(network.FacebookOptions{Format: network.FormatStory})

var adapter = networktest.Case{
	Platform:     "facebook",
	CheckTraffic: checkCall, IsDescribed: isDescribed,
	New: func(base string, app network.App) network.Network {
		return facebook.New(facebook.Options{
			App: app, AuthorizeHost: base + "/www", GraphHost: base + "/graph", VideoHost: base + "/video",
			UploadHost: base + "/upload",
		})
	},
	Signing: networktest.Signing{
		Candidates: func(found []network.Candidate, url, _ string) []network.Candidate {
			g, ends := found[0].Grant, networktest.Start.Add(60*day)
			return []network.Candidate{{DisplayName: "Harbour Coffee", Grant: network.Grant{
				Server: url + "/graph", Account: g.Account, Username: "harbour.coffee", AccessToken: g.AccessToken,
				Expires:      ends,
				RefreshToken: g.RefreshToken, RefreshExpires: ends,
				Scopes: []string{"pages_show_list", "pages_read_engagement", "pages_manage_posts", "read_insights",
					"pages_manage_engagement", "business_management"},
				Holder: "facebook:" + strings.TrimPrefix(g.Holder, "facebook:"),
			}}}
		},
		BadCode: "100", CodeLifetime: 10 * time.Minute,
		TokenLifetime: 60 * day, RefreshAge: 30 * day, GrantLifetime: 61 * day, RotatesRefresh: true, TokenNeverExpires: true,
		UnknownTokenError: networktest.ExpectedError{Class: network.ReconnectRequired, Code: "190"},
		ExpiredRefresh:    "190/463",
		RevokedCode:       "190/463", SecondRevocation: network.ReconnectRequired,
	},
	Publishing: networktest.Publishing{
		Posts: []networktest.Content{
			{Name: "text", Format: network.FormatText, AbsentAfter: time.Minute},
			{Name: "https://a.test/page", Text: "see https://a.test/page", Format: network.FormatLink, Variant: true},
			{Name: "an image", Media: image, Format: network.FormatImage, AbsentAfter: time.Minute, UploadStart: "/photos"},
			{
				Name: "images", Media: images, Format: network.FormatCarousel, AbsentAfter: time.Minute,
				UploadStart: "/photos",
				Uploads:     2,
			},
			{
				Name: "a video", Media: film, Format: network.FormatVideo, AbsentAfter: time.Minute,
				UploadStart: "/videos",
				Uploads:     4, ListedElsewhere: true,
			},
			{
				Name: "a reel", Media: reel, Format: network.FormatReel, AbsentAfter: time.Minute,
				UploadStart: "/video-upload/", ListedElsewhere: true,
			},
			{Name: "a post with options", Text: "see https://a.test/", Options: with(network.FacebookOptions{
				Link: "https://b.test/page", Place: "123",
			}), Format: network.FormatLink, Variant: true},
			{Name: "a reel with options", Media: reel, Options: with(network.FacebookOptions{
				Format: network.FormatReel, Title: "Waves", Place: "123",
			}), Format: network.FormatReel, Variant: true, ListedElsewhere: true},
			{
				Name: "a story", Media: image, Options: story, NoText: true, Uncollected: true,
				AbsentAfter: time.Minute, UploadStart: "/photos",
			},
			{
				Name: "a video story", Media: reel, Options: story, NoText: true, Uncollected: true,
				AbsentAfter: time.Minute, UploadStart: "/video-upload/",
			},
		},
		SecondCommit: network.Duplicate, Duplicates: true,
		FileLimits: []network.FileLimits{
			{Types: []string{"image/jpeg", "image/png", "image/gif"}, MaxBytes: 4_000_000},
			{Types: []string{"video/mp4", "video/quicktime"}, MaxBytes: 10_000_000_000},
		},
		Rejections: map[string]networktest.Rejection{
			"too long": {Text: strings.Repeat("é", 63_207), Class: network.Rejected, Code: "caption_too_long"},
			"nothing":  {Class: network.Rejected, Code: "caption_missing"},
			"too many": {Media: func(*networktest.Library) []network.Media {
				return make([]network.Media, 11)
			}, Class: network.RejectedMedia},
			"mixed": {Media: func(l *networktest.Library) []network.Media {
				return []network.Media{l.Image("png", 9, 9), l.Video(100)}
			}, Class: network.RejectedMedia, Code: "media_mix"},
			"an empty story": {Text: "words", Options: story, Class: network.RejectedMedia, Code: "media_missing"},
			"two stories":    {Media: images, Options: story, Class: network.RejectedMedia, Code: "media_too_many"},
			"a story that is not an image": {Media: func(l *networktest.Library) []network.Media {
				return []network.Media{l.Fake(network.Image, "image/png", "%PDF-1.7")}
			}, Options: story, Class: network.RejectedMedia, Code: "100/1366046"},
			"a story that is not a video": {Media: func(l *networktest.Library) []network.Media {
				return []network.Media{l.Fake(network.Video, "video/mp4", "no film")}
			}, Options: story, Class: network.RejectedMedia, Code: "error", Commit: true},
			"a reel of an image": {
				Media: image, Options: with(network.FacebookOptions{Format: network.FormatReel}), Class: network.Rejected,
				Code: "option_not_supported",
			},
			"not an image": {Media: func(l *networktest.Library) []network.Media {
				return []network.Media{l.Fake(network.Image, "image/png", "%PDF-1.7")}
			}, Class: network.RejectedMedia, Code: "100/1366046"},
			"a missing image": {Media: func(l *networktest.Library) []network.Media {
				return []network.Media{l.Remove(l.Image("png", 9, 9), true)}
			}, Class: network.Transient, Code: "9004/2207052"},
			"a missing video": {Media: func(l *networktest.Library) []network.Media {
				return []network.Media{l.Remove(l.Video(100), true)}
			}, Class: network.RejectedMedia, Code: "missing"},
			"not a video": {Media: func(l *networktest.Library) []network.Media {
				return []network.Media{l.Fake(network.Video, "video/mp4", "no film")}
			}, Class: network.RejectedMedia, Code: "error", Commit: true},
		},
		Drafts: []string{
			`{"facebook":true,"made":"2026-11-21T09:00:00Z","media":[{"kind":"image"}]}`,
			`{"facebook":true,"made":"2026-11-21T09:00:00Z","media":[{"kind":"video"}],"video":"../me","session":"1"}`,
		},
		Expiry: networktest.Expiry{Post: 4, After: 25 * time.Hour, Commit: "100", Resolve: "expired"},
	},
	Failures: networktest.Failures{
		Grant: network.Grant{Account: "10001"},
		Calls: []networktest.Call{
			networktest.PermalinkCall("17"), networktest.CommitCall(readyText), networktest.CommitCall(readyVideo),
			networktest.CommitCall(readyReel), networktest.PrepareCall(plannedVideo), networktest.PrepareCall(plannedReel),
			networktest.RefreshCall(""), networktest.ExchangeCall(""),
		},
		Quote: func(message string) networktest.StubResponse {
			return networktest.StubResponse{Status: http.StatusBadRequest,
				Body: graph(`"code":190,"message":"` + message + `"`)}
		},
		Errors: map[string]networktest.Failure{
			"expired": networktest.NewFailure(400, graph(`"code":190,"error_subcode":463`), network.ReconnectRequired,
				network.ReconnectRequired, network.ReconnectRequired),
			"no session":      networktest.NewFailure(400, graph(`"code":102`), network.ReconnectRequired),
			"permission":      networktest.NewFailure(403, graph(`"code":200`), network.ReconnectRequired),
			"failed inside":   networktest.NewFailure(500, graph(`"code":10`), network.ReconnectRequired, network.OutcomeUnknown),
			"rejected inside": networktest.NewFailure(500, graph(`"code":100`), network.Rejected, network.OutcomeUnknown),
			"app blocked": networktest.NewFailure(400, graph(`"code":200,"message":"API access deactivated."`),
				network.AppNotApproved, network.AppNotApproved, network.AppNotApproved),
			"permission missing": networktest.NewFailure(400, graph(`"code":10`), network.ReconnectRequired),
			"identity": networktest.NewFailure(400, graph(`"code":100,"error_subcode":1404078`), network.ReconnectRequired,
				network.ReconnectRequired, network.ReconnectRequired),
			"identity too":        networktest.NewFailure(400, graph(`"code":4854002`), network.ReconnectRequired),
			"throttled":           networktest.NewFailure(400, graph(`"code":32`), network.RateLimited),
			"too fast":            networktest.NewFailure(400, graph(`"code":1390008`), network.RateLimited),
			"policy":              networktest.NewFailure(400, graph(`"code":368`), network.RateLimited),
			"throttled elsewhere": networktest.NewFailure(429, `slow down`, network.RateLimited),
			"quota": networktest.NewFailure(400, graph(`"code":9,"error_subcode":2207042`), network.QuotaExceeded,
				network.QuotaExceeded, network.QuotaExceeded),
			"content": networktest.NewFailure(400, graph(`"code":100,"error_subcode":1346003`), network.Rejected,
				network.Rejected, network.OutcomeUnknown),
			"content too": networktest.NewFailure(400, graph(`"code":1404102`), network.Rejected, network.Rejected,
				network.OutcomeUnknown),
			"link": networktest.NewFailure(400, graph(`"code":1609005`), network.Rejected, network.Rejected,
				network.OutcomeUnknown),
			"link too": networktest.NewFailure(400, graph(`"code":100,"error_subcode":1609008`), network.Rejected,
				network.Rejected, network.OutcomeUnknown),
			"photo": networktest.NewFailure(400, graph(`"code":100,"error_subcode":1366046`), network.RejectedMedia,
				network.RejectedMedia, network.OutcomeUnknown),
			"login approvals": networktest.NewFailure(400, graph(`"code":490`), network.ReconnectRequired),
			"security check": networktest.NewFailure(400, graph(`"code":100,"error_subcode":1404006`), network.ReconnectRequired,
				network.ReconnectRequired, network.ReconnectRequired),
			"rate limit of days": networktest.NewFailure(400, graph(`"code":1404112`), network.RateLimited),
			"video": networktest.NewFailure(400, graph(`"code":100,"error_subcode":1349125`), network.RejectedMedia,
				network.RejectedMedia, network.OutcomeUnknown),
			"media": networktest.NewFailure(400, graph(`"code":100,"error_subcode":2069019`), network.RejectedMedia,
				network.RejectedMedia, network.OutcomeUnknown),
			"bad link": networktest.NewFailure(400, graph(`"code":100,"error_subcode":2061006`), network.Rejected,
				network.Rejected, network.OutcomeUnknown),
			"duplicate post": networktest.NewFailure(400, graph(`"code":506`), network.Duplicate, network.Duplicate,
				network.OutcomeUnknown),
			"posted photos": networktest.NewFailure(400, graph(`"code":100,"error_subcode":1366051`), network.Duplicate,
				network.Duplicate, network.OutcomeUnknown),
			"temporary": networktest.NewFailure(500, graph(`"code":2`), network.Transient, network.OutcomeUnknown),
			"service":   networktest.NewFailure(400, graph(`"code":1363047`), network.Transient, network.OutcomeUnknown),
			"service too": networktest.NewFailure(400, graph(`"code":100,"error_subcode":1609010`), network.Transient,
				network.OutcomeUnknown, network.OutcomeUnknown),
			"says so": networktest.NewFailure(400, graph(`"code":77777,"is_transient":true`), network.Transient,
				network.OutcomeUnknown, network.OutcomeUnknown),
			"unknown": networktest.NewFailure(400, graph(`"code":77777`), network.Rejected, network.Rejected,
				network.OutcomeUnknown),
			"no Graph": networktest.NewFailure(404, `<html>`, network.Transient, network.OutcomeUnknown),
			"wrong types": networktest.NewFailure(200, `{"id":5,"permalink_url":{},"success":"yes"}`, network.Transient,
				network.OutcomeUnknown, network.OutcomeUnknown),
			"no id": networktest.NewFailure(200, `{"permalink_url":"javascript:alert(1)"}`, "", network.OutcomeUnknown),
		},
		RetryTimes: map[string]networktest.RetryTimeCase{
			"minutes": rateLimited(`1390008`, usage, 7*time.Minute),
			"seconds": rateLimited(`32`, http.Header{"Retry-After": {"2"}}, 2*time.Second),
			"no time": rateLimited(`1390008`, nil, 0),
			"policy":  rateLimited(`368`, nil, 24*time.Hour),
			"limited": rateLimited(`100,"error_subcode":1404112`, nil, 24*time.Hour),
			"never":   rateLimited(`190`, usage, 0),
		},
		Resolves: resolveCases(),
		EmptyLists: map[string]http.Handler{
			readyText:  networktest.StubResponse{Body: `{"data":[]}`},
			readyVideo: networktest.StubResponse{Body: `{"status":{"video_status":"uploading"}}`},
			readyReel:  networktest.StubResponse{Body: `{"status":{"video_status":"upload_complete"}}`},
		},
		GiveUps: map[string]networktest.GiveUpCase{
			"expired":       uploading(`{"status":{"video_status":"expired"}}`, network.Transient, 4),
			"gone":          uploading(graph(`"code":100,"error_subcode":33`), network.Transient, 4),
			"failed":        uploading(`{"status":{"video_status":"error"}}`, network.RejectedMedia, 2),
			"invalid token": uploading(graph(`"code":190`), network.ReconnectRequired, 2),
		},
	},
	Collecting: networktest.Collecting{Metrics: []string{"reach", "views", "likes", "comments", "clicks"},
		OptionalMetrics: []string{"shares"}},
}

func graph(inner string) string { return `{"error":{` + inner + `}}` }

// rateLimited returns a case with a rate limit response.
func rateLimited(code string, header http.Header, after time.Duration) networktest.RetryTimeCase {
	class := network.RateLimited
	if code == "190" {
		class = network.ReconnectRequired
	}
	r := networktest.RetryTimeCase{
		Call: 1, Response: networktest.StubResponse{Status: http.StatusBadRequest, Header: header,
			Body: graph(`"code":` + code)}, Class: class,
	}
	if after > 0 {
		r.RetryAt = networktest.Start.Add(after)
	}
	return r
}

// uploading returns a case in which the network accepts uploads and returns the same state for all videos.
func uploading(video string, class network.ErrorClass, calls int) networktest.GiveUpCase {
	return networktest.GiveUpCase{Draft: plannedVideo, Class: class, Calls: calls,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body := `{"video_id":"15001","upload_session_id":"16001","start_offset":"0","end_offset":"100"}`
			switch {
			case r.Method == http.MethodGet:
				body = video
			case strings.HasPrefix(r.Header.Get("Content-Type"), "multipart/"):
				body = `{"start_offset":"100","end_offset":"100"}`
			}
			networktest.ListHandler("", body, "").ServeHTTP(w, r)
		})}
}

// resolveCases returns lists of posts and states of videos, with the expected verdicts.
func resolveCases() map[string]networktest.ResolveCase {
	post := func(id, text, at, attached string) string {
		return `{"id":"` + id + `","message":"` + text + `","created_time":"2026-11-21T` + at +
			`+0000","permalink_url":"javascript:x","attachments":{"data":[` + attached + `]}}`
	}
	list := func(posts ...string) string { return `{"data":[` + strings.Join(posts, ",") + `]}` }
	const photo, share = `{"type":"photo"}`, `{"type":"share"}`
	look := func(draft, answer string, verdict network.Verdict, class network.ErrorClass, id string) networktest.ResolveCase {
		l := networktest.ResolveCase{
			Draft: draft, Elapsed: time.Hour, Handler: networktest.ListHandler("", answer, ""), Verdict: verdict, Class: class,
			Receipt: network.Receipt{ID: id},
		}
		if strings.Contains(answer, "too dark") {
			l.Message = "too dark"
		}
		if strings.Contains(answer, "/reel/1/") {
			l.Receipt.Permalink = "{server}/www/reel/1/"
		}
		if strings.Contains(answer, "/page/videos/1/") {
			l.Receipt.Permalink = "{server}/www/page/videos/1/"
		}
		return l
	}
	return map[string]networktest.ResolveCase{
		"post: there":                   look(readyText, list(post("10_1", `x\n`, "09:00:01", "")), network.Published, "", "10_1"),
		"post: network clock is behind": look(readyText, list(post("10_1", "x", "08:55:00", "")), network.Published, "", "10_1"),
		"post: with a preview":          look(readyText, list(post("10_1", "x", "09:00:01", share)), network.Published, "", "10_1"),
		"post: older":                   look(readyText, list(post("10_1", "x", "08:54:59", "")), network.Absent, "", ""),
		"post: another text":            look(readyText, list(post("10_1", "y", "09:00:01", "")), network.Absent, "", ""),
		"post: a photo":                 look(readyText, list(post("10_1", "x", "09:00:01", photo)), network.Absent, "", ""),
		"post: an album": look(readyText,
			list(post("10_1", "x", "09:00:01", `{"type":"album","subattachments":{"data":[{},{}]}}`)), network.Absent, "", ""),
		"post: no id":   look(readyText, list(post("../me", "x", "09:00:01", "")), network.Absent, "", ""),
		"post: no time": look(readyText, list(post("10_1", "x", "noon", "")), network.Absent, "", ""),
		"post: nothing": look(readyText, list(), network.Absent, "", ""),
		"post: two": look(readyText,
			list(post("10_1", "x", "09:00:00", ""), post("10_2", "x", "09:00:01", "")), network.Unknown,
			network.OutcomeUnknown, ""),
		"post: two, one before": look(readyText,
			list(post("10_1", "x", "08:59:59", ""), post("10_2", "x", "09:00:01", "")), network.Published, "", "10_2"),
		"post: throttled":     look(readyText, `{"error":{"code":4}}`, network.Unknown, network.RateLimited, ""),
		"post: invalid token": look(readyText, `{"error":{"code":190}}`, network.Unknown, network.ReconnectRequired, ""),
		"post: invalid JSON":  look(readyText, `[`, network.Unknown, network.Transient, ""),
		"video: published": look(readyVideo,
			`{"published":true,"permalink_url":"/page/videos/1/","status":{"video_status":"ready"}}`, network.Published, "", "15001"),
		"video: published by phase": look(readyVideo,
			`{"status":{"video_status":"ready","publishing_phase":{"status":"complete"}}}`, network.Published, "", "15001"),
		"video: ready, not published": look(readyVideo,
			`{"status":{"video_status":"ready","publishing_phase":{"status":"not_started"}}}`, network.Unknown, network.Processing, ""),
		"video: a draft with all phases complete": look(readyVideo,
			`{"published":false,"status":{"video_status":"ready","publishing_phase":{"status":"complete"}}}`,
			network.Unknown, network.Processing, ""),
		"video: a draft by its status": look(readyVideo,
			`{"status":{"video_status":"ready","publishing_phase":{"status":"complete","publish_status":"draft"}}}`,
			network.Unknown, network.Processing, ""),
		"video: scheduled, but marked as published": look(readyVideo,
			`{"published":true,"status":{"video_status":"ready","publishing_phase":{"status":"complete","publish_status":"scheduled"}}}`,
			network.Unknown, network.Processing, ""),
		"reel: published by its status": look(readyReel,
			`{"published":false,"status":{"video_status":"ready","publishing_phase":{"status":"complete","publish_status":"published"}}}`,
			network.Published, "", "15001"),
		"reel: to be published": look(readyReel,
			`{"status":{"video_status":"ready","publishing_phase":{"status":"in_progress","publish_status":"published"}}}`,
			network.Unknown, network.Processing, ""),
		"reel: published": look(readyReel,
			`{"permalink_url":"/reel/1/","status":{"video_status":"ready","publishing_phase":{"status":"complete"}}}`,
			network.Published, "", "15001"),
		"reel: processed, not published": look(readyReel,
			`{"status":{"video_status":"ready","publishing_phase":{"status":"not_started"}}}`, network.Unknown, network.Processing, ""),
		"reel: being published": look(readyReel,
			`{"status":{"video_status":"ready","publishing_phase":{"status":"in_progress"}}}`, network.Unknown, network.Processing, ""),
		"reel: processing": look(readyReel,
			`{"status":{"video_status":"processing","publishing_phase":{"status":"not_started"}}}`,
			network.Unknown, network.Processing, ""),
		"reel: not ended": look(readyReel, `{"status":{"video_status":"upload_complete"}}`, network.Absent, "", ""),
		"video: processing": look(readyVideo, `{"published":true,"status":{"video_status":"processing"}}`,
			network.Unknown, network.Processing, ""),
		"video: not ended":    look(readyVideo, `{"status":{"video_status":"upload_complete"}}`, network.Absent, "", ""),
		"video: not uploaded": look(readyVideo, `{"status":{"video_status":"uploading"}}`, network.Absent, "", ""),
		"video: failed": look(readyVideo,
			`{"status":{"video_status":"error","processing_phase":{"error":{"message":"too dark"}}}}`, network.Absent,
			network.RejectedMedia, ""),
		"video: several phases failed": look(readyVideo,
			`{"status":{"video_status":"error","processing_phase":{"errors":[{},{"message":"too dark"}]}}}`,
			network.Absent, network.RejectedMedia, ""),
		"reel: not published": look(readyReel,
			`{"status":{"video_status":"ready","publishing_phase":{"status":"error","errors":[{"message":"too long"}]}}}`,
			network.Absent, network.RejectedMedia, ""),
		"video: expired": look(readyVideo, `{"status":{"video_status":"expired"}}`, network.Absent, network.Transient, ""),
		"video: upload failed": look(readyVideo, `{"status":{"video_status":"upload_failed"}}`, network.Absent,
			network.Transient, ""),
		"video: an unknown state": look(readyVideo, `{"status":{"video_status":"resting"}}`, network.Unknown, network.Transient, ""),
		"video: no state":         look(readyVideo, `{}`, network.Unknown, network.Transient, ""),
		"video: gone":             look(readyVideo, `{"error":{"code":100,"error_subcode":33}}`, network.Unknown, network.Transient, ""),
		"video: invalid token":    look(readyVideo, `{"error":{"code":190}}`, network.Unknown, network.ReconnectRequired, ""),
	}
}

func TestConformance(t *testing.T) {
	t.Parallel()
	networktest.Run(t, adapter)
}
