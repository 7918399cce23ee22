package tiktok_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/network/networktest"
	"pressroom.example/pressroom/internal/network/tiktok"
)

const (
	settleTime = 10 * time.Minute
	chunk      = 5_000_000
	small      = 20_000
	large      = 2*chunk + 7 // bytes; two parts, of which the last includes the remainder
	userCall   = "/user/info/"
	listCall   = "/video/list/"
	video      = `{"tiktok":true,"text":"x","media":[{"id":1,"kind":"video"}],"privacy":"PUBLIC_TO_EVERYONE",` +
		`"made":"2026-11-21T09:30:00Z","upload":{"id":"v_pub_file~1","url":"{server}/upload/?secret=s",` +
		`"type":"video/mp4","size":100,"chunk":100,"parts":1}}`
	photos = `{"tiktok":true,"text":"x","media":[{"id":1,"kind":"image"}],"privacy":"PUBLIC_TO_EVERYONE",` +
		`"made":"2026-11-21T09:30:00Z","until":"2026-11-21T13:30:00Z","links":["https://files.test/1"]}`
)

func image(l *networktest.Library) []network.Media { return []network.Media{l.Image("jpeg", 40, 30)} }

func images(l *networktest.Library) []network.Media {
	return []network.Media{l.Image("jpeg", 50, 40), l.Image("png", 40, 30)}
}

func smallFilm(l *networktest.Library) []network.Media { return []network.Media{l.Video(small)} }

func largeFilm(l *networktest.Library) []network.Media { return []network.Media{l.Video(large)} }

var (
	defaultScopes = []string{"user.info.basic", "user.info.profile", "user.info.stats", "video.publish", "video.list"}
	photo         = network.Media{Kind: network.Image, Type: "image/jpeg", Size: 20_000_000, Width: 1920, Height: 1080}
	film          = network.Media{
		Kind: network.Video, Type: "video/webm", Size: 4_000_000_000, Width: 360, Height: 4096, Duration: 10 * time.Minute,
	}
)

// withChange returns the media item m with a change.
func withChange(m network.Media, change func(*network.Media)) []network.Media {
	change(&m)
	return []network.Media{m}
}

var adapter = networktest.Case{
	Platform: "tiktok",
	New: func(base string, app network.App) network.Network {
		return tiktok.New(tiktok.Options{
			App: app, Business: network.OAuthApp{ClientID: "business-app", ClientSecret: "business-secret"},
			AuthorizeHost: base, APIHost: base, WebHost: base + "/web", ChunkBytes: chunk,
			Defaults: network.TikTokOptions{PrivacyLevel: "PUBLIC_TO_EVERYONE", AllowComment: true, MusicUsageConfirmed: true},
		})
	},
	App: network.App{ListingDelay: network.Duration(settleTime)},
	Signing: networktest.Signing{
		Kinds: []string{"", tiktok.Business},
		Candidates: func(found []network.Candidate, url, kind string) []network.Candidate {
			g := found[0].Grant
			return []network.Candidate{{DisplayName: "Harbour Coffee", Grant: network.Grant{
				Server: url, Account: g.Account, Username: "harbour.coffee", AccessToken: g.AccessToken,
				RefreshToken: g.RefreshToken,
				Kind:         kind, Expires: networktest.Start.Add(2 * time.Hour),
				RefreshExpires: networktest.Start.Add(180 * 24 * time.Hour), Scopes: defaultScopes, Holder: "tiktok:" + g.Account,
			}}}
		},
		BadCode: "invalid_grant", CodeLifetime: 10 * time.Minute,
		TokenLifetime: 2 * time.Hour, RefreshAge: 2 * time.Hour, GrantLifetime: 180 * 24 * time.Hour, SingleUseRefreshToken: true,
		ResolveNeedsToken: true, ExpiredRefresh: "invalid_grant",
		ExpiredTokenError: networktest.ExpectedError{Class: network.RefreshRequired, Code: "access_token_invalid"},
		UnknownTokenError: networktest.ExpectedError{Class: network.RefreshRequired, Code: "access_token_invalid"},
		RevokedCode:       "invalid_grant", SecondRevocation: network.ReconnectRequired,
	},
	Publishing: networktest.Publishing{
		Posts: []networktest.Content{
			{Name: "an image", Media: image, Format: network.FormatImage, AbsentAfter: settleTime},
			{Name: "images", Media: images, Format: network.FormatImage, Variant: true},
			{Name: "a video", Media: smallFilm, Format: network.FormatVideo, MarkedEarly: true, UploadStart: "/video/init/"},
		},
		CommitOpensFiles: true, PendingIDs: true, SecondCommit: network.OutcomeUnknown, Repeatable: []string{"an image"},
		Publishes: isPublishing, FileLimits: []network.FileLimits{
			{Types: []string{"image/jpeg", "image/webp"}, MaxBytes: 20_000_000, MaxSide: 1920},
			{Types: []string{"video/mp4", "video/quicktime", "video/webm"}, MaxBytes: 4_000_000_000},
		},
		Checks: map[string]networktest.CheckCase{
			"a photo":               networktest.NewCheckCase("", []network.Media{photo}),
			"a video":               networktest.NewCheckCase(strings.Repeat("é", 2200), []network.Media{film}),
			"text only":             networktest.NewCheckCase("x", nil, "!media_missing"),
			"photo text with emoji": networktest.NewCheckCase(strings.Repeat("👋", 2000), []network.Media{photo}),
			"photo text, many emoji": networktest.NewCheckCase(strings.Repeat("👋", 2001), []network.Media{photo},
				"!caption_too_long"),
			"video text too long": networktest.NewCheckCase(strings.Repeat("é", 2201), []network.Media{film},
				"!caption_too_long"),
			"both":       networktest.NewCheckCase("", []network.Media{photo, film}, "!media_mix"),
			"two videos": networktest.NewCheckCase("", []network.Media{film, film}, "!media_too_many"),
			"a PNG": networktest.NewCheckCase("", withChange(photo,
				func(m *network.Media) { m.Type = "image/png" }), "media_type"),
			"no photo": networktest.NewCheckCase("", withChange(photo,
				func(m *network.Media) { m.Type = "application/pdf" }), "!media_type"),
			"photo too wide": networktest.NewCheckCase("", withChange(photo, func(m *network.Media) { m.Width++ }),
				"media_too_large"),
			"video too narrow": networktest.NewCheckCase("", withChange(film, func(m *network.Media) { m.Width-- }),
				"!media_aspect"),
			"video too short": networktest.NewCheckCase("", withChange(film, func(m *network.Media) {
				m.Duration = 3*time.Second - 1
			}), "!media_too_short"),
			"a long video": networktest.NewCheckCase("", withChange(film,
				func(m *network.Media) { m.Duration++ }), "!media_too_long"),
			"thirty-six photos":  networktest.NewCheckCase("", slices.Repeat([]network.Media{photo}, 36), "!media_too_many"),
			"thirty-five photos": networktest.NewCheckCase("", slices.Repeat([]network.Media{photo}, 35)),
		},
		Rejections: map[string]networktest.Rejection{
			"text only":           {Text: "words", Class: network.RejectedMedia, Code: "media_missing"},
			"photo text too long": {Text: strings.Repeat("é", 4001), Media: image, Class: network.Rejected, Code: "caption_too_long"},
			"video text too long": {Text: strings.Repeat("é", 2201), Media: smallFilm, Class: network.Rejected, Code: "caption_too_long"},
			"a long video": {Media: func(l *networktest.Library) []network.Media {
				return withChange(l.Video(small), func(m *network.Media) { m.Duration = 10*time.Minute + 1 })
			}, Class: network.RejectedMedia, Code: "media_too_long"},
			"a missing video": {Media: func(l *networktest.Library) []network.Media {
				return []network.Media{l.Remove(l.Video(small), true)}
			}, Class: network.RejectedMedia, Code: "missing"},
			"an empty video": {Media: func(l *networktest.Library) []network.Media {
				return []network.Media{l.Video(0)}
			}, Class: network.RejectedMedia},
			"not a video": {Media: func(l *networktest.Library) []network.Media {
				return []network.Media{l.Fake(network.Video, "video/mp4", "no film")}
			}, Commit: true, Class: network.RejectedMedia, Code: "file_format_check_failed"},
			"not a photo": {Media: func(l *networktest.Library) []network.Media {
				return []network.Media{l.Fake(network.Image, "image/jpeg", "GIF89a...")}
			}, Commit: true, Class: network.RejectedMedia, Code: "file_format_check_failed"},
			"a missing photo": {Media: func(l *networktest.Library) []network.Media {
				return []network.Media{l.Remove(l.Image("jpeg", 9, 9), true)}
			}, Commit: true, Class: network.Transient, Code: "photo_pull_failed"},
		},
		Expiry: networktest.Expiry{Post: 2, After: 61 * time.Minute, Resolve: "upload_expired"},
	},
	Failures: networktest.Failures{
		Grant: network.Grant{Username: "harbour.coffee", Scopes: []string{"video.publish", "video.list"}},
		Calls: []networktest.Call{
			networktest.PermalinkCall("publish:v_pub_file~1"), networktest.CommitCall(photos), networktest.RefreshCall(""),
			networktest.ExchangeCall(""),
		},
		Quote: func(message string) networktest.StubResponse {
			return networktest.StubResponse{
				Status: http.StatusBadRequest,
				Body:   `{"error":{"code":"invalid_params","message":"` + message + `"},"error_description":"` + message + `"}`,
			}
		},
		Errors: map[string]networktest.Failure{
			"access_token_invalid": networktest.NewFailure(401,
				failure("access_token_invalid"), network.RefreshRequired, network.RefreshRequired),
			"scope_not_authorized": networktest.NewFailure(401,
				failure("scope_not_authorized"), network.ReconnectRequired, network.ReconnectRequired),
			"scope_permission_missed": networktest.NewFailure(401,
				failure("scope_permission_missed"), network.ReconnectRequired, network.ReconnectRequired),
			"spam_risk_user_banned_from_posting": networktest.NewFailure(403,
				failure("spam_risk_user_banned_from_posting"), network.ReconnectRequired, network.ReconnectRequired),
			"rate_limit_exceeded": networktest.NewFailure(429, failure("rate_limit_exceeded"),
				network.RateLimited, network.RateLimited),
			"internal_error": networktest.NewFailure(500, failure("internal_error"),
				network.Transient, network.OutcomeUnknown),
			"spam_risk_too_many_posts": networktest.NewFailure(403,
				failure("spam_risk_too_many_posts"), network.QuotaExceeded, network.QuotaExceeded),
			"spam_risk_too_many_pending_share": networktest.NewFailure(403,
				failure("spam_risk_too_many_pending_share"), network.QuotaExceeded, network.QuotaExceeded),
			"reached_active_user_cap": networktest.NewFailure(403,
				failure("reached_active_user_cap"), network.QuotaExceeded, network.QuotaExceeded),
			"invalid_params": networktest.NewFailure(400, failure("invalid_params"),
				network.Rejected, network.Rejected),
			"invalid_file_upload": networktest.NewFailure(400, failure("invalid_file_upload"),
				network.Rejected, network.Rejected),
			"privacy_level_option_mismatch": networktest.NewFailure(403,
				failure("privacy_level_option_mismatch"), network.Rejected, network.Rejected),
			"url_ownership_unverified": networktest.NewFailure(403,
				failure("url_ownership_unverified"), network.AppNotApproved, network.AppNotApproved),
			"unaudited_client_can_only_post_to_private_accounts": networktest.NewFailure(403,
				failure("unaudited_client_can_only_post_to_private_accounts"), network.AppNotApproved,
				network.AppNotApproved),
			"new_code": networktest.NewFailure(400, failure("new_code"), network.Rejected, network.Rejected),
			"new_code_of_tokens": networktest.NewFailure(401, failure("new_code_of_tokens"), network.RefreshRequired,
				network.RefreshRequired),
			"new_code_of_servers": networktest.NewFailure(503, failure("new_code_of_servers"), network.Transient,
				network.OutcomeUnknown),
			"new_code_of_200": networktest.NewFailure(200, failure("new_code_of_200"), network.Transient,
				network.OutcomeUnknown),
			"ok":                  networktest.NewFailure(500, failure("ok"), network.Transient, network.OutcomeUnknown),
			"throttled elsewhere": networktest.NewFailure(429, `slow down`, network.RateLimited),
			"no TikTok":           networktest.NewFailure(404, `<html>`, network.Transient, network.OutcomeUnknown),
			"wrong types": networktest.NewFailure(200, success(`{"publish_id":5,"status":{}}`),
				network.Transient, network.OutcomeUnknown),
			"no data": networktest.NewFailure(200, `{"error":{"code":"ok"}}`, network.Transient, network.OutcomeUnknown),
			"no id":   networktest.NewFailure(200, success(`{}`), "", network.OutcomeUnknown),
			"token: invalid": networktest.NewFailure(400, `{"error":"invalid_grant"}`, networktest.Skip,
				networktest.Skip, network.ReconnectRequired),
			"token: invalid, status 200": networktest.NewFailure(200, `{"error":"invalid_grant"}`, networktest.Skip,
				networktest.Skip, network.ReconnectRequired),
			"token: access denied": networktest.NewFailure(400, `{"error":"access_denied"}`, networktest.Skip,
				networktest.Skip, network.ReconnectRequired),
			"token: another app": networktest.NewFailure(401, `{"error":"invalid_client"}`, networktest.Skip,
				networktest.Skip, network.AppNotApproved),
			"token: invalid request": networktest.NewFailure(400, `{"error":"invalid_request"}`, networktest.Skip,
				networktest.Skip, network.Transient),
			"token: server error": networktest.NewFailure(500, `{"error":"server_error"}`, networktest.Skip,
				networktest.Skip, network.Transient),
			"token: throttled": networktest.NewFailure(429, `slow down`, networktest.Skip, networktest.Skip, network.RateLimited),
			"token: nothing":   networktest.NewFailure(200, `{}`, networktest.Skip, networktest.Skip, network.Transient),
			"token: error in another format": networktest.NewFailure(400, `{"error":{"code":"invalid_grant"}}`,
				networktest.Skip, networktest.Skip, network.Transient),
		},
		RetryTimes: map[string]networktest.RetryTimeCase{
			"seconds":        retryCase("rate_limit_exceeded", http.Header{"Retry-After": {"2"}}, 2*time.Second),
			"unknown":        retryCase("rate_limit_exceeded", nil, time.Minute),
			"nonsense":       retryCase("rate_limit_exceeded", http.Header{"Retry-After": {"-1"}}, time.Minute),
			"a day's quota":  retryCase("spam_risk_too_many_posts", nil, 24*time.Hour),
			"another, never": retryCase("invalid_params", http.Header{"Retry-After": {"2"}}, 0),
		},
		Resolves:   resolveCases(),
		EmptyLists: map[string]http.Handler{photos: networktest.StubResponse{Body: success(`{"videos":[]}`)}},
	},
	Collecting: networktest.Collecting{
		Metrics: []string{"views", "likes", "comments", "shares"}, PageSize: 20, WithheldPosts: 23,
		CollectFailures: func(now time.Time) map[string]networktest.CollectFailure {
			return map[string]networktest.CollectFailure{
				"rate limit, account": networktest.NewCollectFailure(networktest.Interceptor{
					Part: userCall, Status: 429, Body: failure("rate_limit_exceeded"),
				}, network.RateLimited, now.Add(time.Minute), 0),
				"rate limit, with a time": networktest.NewCollectFailure(networktest.Interceptor{
					Part: listCall, Status: 429, Header: map[string]string{"Retry-After": "7"},
				}, network.RateLimited, now.Add(7*time.Second), 0),
				"an invalid token": networktest.NewCollectFailure(networktest.Interceptor{
					Part: userCall, Status: 401, Body: failure("access_token_invalid"),
				}, network.RefreshRequired, time.Time{}, 0),
				"an invalid token, list": networktest.NewCollectFailure(networktest.Interceptor{
					Part: listCall, Status: 200, Body: failure("access_token_invalid"),
				}, network.RefreshRequired, time.Time{}, 0),
				"scope missing": networktest.NewCollectFailure(networktest.Interceptor{
					Part: listCall, Status: 401, Body: failure("scope_not_authorized"),
				}, network.AppNotApproved, time.Time{}, 0),
				"scope revoked": networktest.NewCollectFailure(networktest.Interceptor{
					Part: listCall, Status: 401, Body: failure("scope_permission_missed"),
				}, network.AppNotApproved, time.Time{}, 0),
				"a failure": networktest.NewCollectFailure(networktest.Interceptor{
					Part: listCall, Status: 500, Body: failure("internal_error"),
				}, network.Transient, time.Time{}, 0),
				"nonsense": networktest.NewCollectFailure(networktest.Interceptor{Part: listCall, Status: 200, Body: "["},
					network.Transient, time.Time{}, 0),
				"every field is rejected": networktest.NewCollectFailure(networktest.Interceptor{
					Part: listCall, Status: 400, Body: failure("invalid_params"),
				}, network.Rejected, time.Time{}, 0),
			}
		},
		Withheld: map[string]networktest.WithheldCase{
			"followers": networktest.NewWithheldCase("followers",
				networktest.Interceptor{Part: userCall, Status: 401, Body: failure("scope_not_authorized")}),
			"a removed field": networktest.NewWithheldCase("views",
				networktest.Interceptor{Part: "view_count", Status: 400, Body: failure("invalid_params")}),
		},
	},
}

func success(data string) string { return `{"data":` + data + `,"error":{"code":"ok"}}` }

// publicVideo returns a status response for a video with this public ID.
func publicVideo(id string) string {
	return success(`{"status":"PUBLISH_COMPLETE","publicaly_available_post_id":[` + id + `]}`) //nolint:misspell // the API's spelling
}

func failure(code string) string {
	return `{"data":{},"error":{"code":"` + code + `","message":"said"}}`
}

// isPublishing reports whether a request makes a post visible: the call for photos, or the last part of a video.
func isPublishing(r networktest.Request) bool {
	var first, last, total int
	_, err := fmt.Sscanf(r.Header.Get("Content-Range"), "bytes %d-%d/%d", &first, &last, &total)
	return err == nil && last == total-1 || strings.HasSuffix(r.URL.Path, "/content/init/")
}

// retryCase returns a case in which the network's error has a retry time.
func retryCase(code string, header http.Header, after time.Duration) networktest.RetryTimeCase {
	class := map[string]network.ErrorClass{
		"rate_limit_exceeded": network.RateLimited, "spam_risk_too_many_posts": network.QuotaExceeded,
		"invalid_params": network.Rejected,
	}[code]
	r := networktest.RetryTimeCase{Response: networktest.StubResponse{Status: http.StatusBadRequest, Header: header,
		Body: failure(code)}, Class: class}
	if after > 0 {
		r.RetryAt = networktest.Start.Add(after)
	}
	return r
}

// resolveCases returns statuses of videos and lists of photos, with the expected outcomes. A missing photo counts as
// absent only settleTime after the commit.
func resolveCases() map[string]networktest.ResolveCase {
	feature := func(id string, after time.Duration, rest string) string {
		return fmt.Sprintf(`{"id":%q,"create_time":%d,%s}`, id, networktest.Start.Add(after).Unix(), rest)
	}
	list := func(videos ...string) string { return success(`{"videos":[` + strings.Join(videos, ",") + `]}`) }
	const x = `"video_description":" x\n","share_url":"javascript:x"`
	look := func(
		draft, end, answer string, later time.Duration, verdict network.Verdict, class network.ErrorClass, id string,
	) networktest.ResolveCase {
		return networktest.ResolveCase{
			Draft: draft, Handler: networktest.ListHandler(end, answer, ""), Elapsed: later, Verdict: verdict, Class: class,
			Receipt: network.Receipt{ID: id},
		}
	}
	return map[string]networktest.ResolveCase{
		"video: public": look(video, "/status/fetch/", publicVideo(`7512345678901234567`), 0,
			network.Published, "", "7512345678901234567"),
		"video: public, as a text": look(video, "/status/fetch/", publicVideo(`"75"`), 0, network.Published, "", "75"),
		"video: in review": look(video, "/status/fetch/", success(`{"status":"PUBLISH_COMPLETE"}`), 0,
			network.Published, "", "publish:v_pub_file~1"),
		"video: invalid ID": look(video, "/status/fetch/", publicVideo(`-1.5`), 0, network.Published, "", "publish:v_pub_file~1"),
		"video: lacks bytes": look(video, "/status/fetch/",
			success(`{"status":"PROCESSING_UPLOAD","uploaded_bytes":99}`), 0, network.Absent, "", ""),
		"video: lacks bytes, too late": look(video, "/status/fetch/",
			success(`{"status":"PROCESSING_UPLOAD","uploaded_bytes":99}`), 2*time.Hour, network.Absent, network.Transient, ""),
		"video: has all": look(video, "/status/fetch/",
			success(`{"status":"PROCESSING_UPLOAD","uploaded_bytes":100}`), 0, network.Unknown, network.Processing, ""),
		"video: no upload size": look(video, "/status/fetch/", success(`{"status":"PROCESSING_UPLOAD"}`),
			2*time.Hour, network.Unknown, network.Processing, ""),
		"video: downloads": look(video, "/status/fetch/", success(`{"status":"PROCESSING_DOWNLOAD"}`), 0,
			network.Unknown, network.Processing, ""),
		"video: invalid file": look(video, "/status/fetch/",
			success(`{"status":"FAILED","fail_reason":"frame_rate_check_failed"}`), 0, network.Absent, network.RejectedMedia, ""),
		"video: spam": look(video, "/status/fetch/",
			success(`{"status":"FAILED","fail_reason":"spam_risk_text"}`), 0, network.Absent, network.Rejected, ""),
		"video: cancelled": look(video, "/status/fetch/",
			success(`{"status":"FAILED","fail_reason":"publish_cancelled"}`), 0, network.Absent, network.Rejected, ""),
		"video: disconnected": look(video, "/status/fetch/",
			success(`{"status":"FAILED","fail_reason":"auth_removed"}`), 0, network.Absent, network.ReconnectRequired,
			""),
		"video: internal failure": look(video, "/status/fetch/",
			success(`{"status":"FAILED","fail_reason":"internal"}`), 0, network.Absent, network.Transient, ""),
		"video: too many": look(video, "/status/fetch/",
			success(`{"status":"FAILED","fail_reason":"spam_risk_too_many_posts"}`), 0, network.Absent,
			network.QuotaExceeded, ""),
		"video: unknown failure": look(video, "/status/fetch/",
			success(`{"status":"FAILED","fail_reason":"weather"}`), 0, network.Absent, network.Rejected, ""),
		"video: an unknown status": look(video, "/status/fetch/", success(`{"status":"RESTING"}`), 0, network.Unknown,
			network.Transient, ""),
		"video: sent to the inbox": look(video, "/status/fetch/", success(`{"status":"SEND_TO_USER_INBOX"}`), 0,
			network.Unknown, network.Transient, ""),
		"video: throttled": look(video, "/status/fetch/", failure("rate_limit_exceeded"), 0,
			network.Unknown, network.RateLimited, ""),
		"video: an expired token": look(video, "/status/fetch/", failure("access_token_invalid"), 0,
			network.Unknown, network.RefreshRequired, ""),
		"video: not JSON": look(video, "/status/fetch/", `<html>`, 0, network.Unknown, network.Transient, ""),
		"photos: listed":  look(photos, "/video/list/", list(feature("75", time.Minute, x)), 0, network.Published, "", "75"),
		"photos: listed by its title": look(photos, "/video/list/", list(feature("75", time.Minute, `"title":"x"`)), 0,
			network.Published, "", "75"),
		"photos: slow clock": look(photos, "/video/list/", list(feature("75", -time.Minute, x)), 0, network.Published, "", "75"),
		"photos: also an older match": look(photos, "/video/list/",
			list(feature("75", time.Second, x), feature("74", -time.Second, x)), 0, network.Published, "", "75"),
		"photos: twins": look(photos, "/video/list/",
			list(feature("75", 2*time.Second, x), feature("74", time.Second, x)), 0, network.Unknown,
			network.OutcomeUnknown, ""),
		"photos: not listed at first": look(photos, "/video/list/", list(), 119*time.Second, network.Unknown,
			network.Processing, ""),
		"photos: not listed for minutes": look(photos, "/video/list/", list(), 2*time.Minute, network.Unknown,
			network.OutcomeUnknown, ""),
		"photos: never listed": look(photos, "/video/list/", list(), 10*time.Minute, network.Absent, "", ""),
		"photos: others": look(photos, "/video/list/",
			list(feature("75", 0, `"title":"y"`), feature("76", 0, x+`,"duration":7`), feature("../me", 0, x),
				feature("77", -time.Hour, x)), 10*time.Minute, network.Absent, "", ""),
		"photos: throttled": look(photos, "/video/list/", failure("rate_limit_exceeded"), time.Hour, network.Unknown,
			network.RateLimited, ""),
		"photos: not allowed": look(photos, "/video/list/", failure("scope_not_authorized"), time.Hour,
			network.Unknown, network.ReconnectRequired, ""),
		"photos: other things": look(photos, "/video/list/", success(`[]`), time.Hour, network.Unknown, network.Transient, ""),
	}
}

func TestConformance(t *testing.T) {
	t.Parallel()
	networktest.Run(t, adapter)
}
