package youtube_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/network/networktest"
	"pressroom.example/pressroom/internal/network/youtube"
)

const (
	chunk        = 256 << 10
	upload       = "/youtube/upload/youtube/v3/videos"
	channelCall  = "/channels?"
	listCall     = "/playlistItems?"
	videoCall    = "/v3/videos?"
	reportCall   = "/v2/reports?"
	plannedDraft = `{"youtube":true,"title":"x","description":"x","privacy":"public","media":` + videoJSON + `}`
	readyDraft   = `{"youtube":true,"title":"x","description":"x","privacy":"public","media":` + videoJSON + `,` +
		`"session":"{server}/upload?upload_id=1","type":"video/mp4","total":100,"began":"2026-11-21T09:30:00Z","sessions":1}`
	videoJSON = `[{"id":1,"name":"film.mp4","kind":"video","type":"video/mp4","size":100}]`
	week      = 7 * 24 * time.Hour
)

func film(size int) func(*networktest.Library) []network.Media {
	return func(l *networktest.Library) []network.Media { return []network.Media{l.Video(size)} }
}

var scopes = []string{
	"https://www.googleapis.com/auth/youtube.upload", "https://www.googleapis.com/auth/youtube.readonly",
	"https://www.googleapis.com/auth/yt-analytics.readonly",
}

var adapter = networktest.Case{
	Platform: "youtube",
	New: func(base string, app network.App) network.Network {
		return youtube.New(youtube.Options{
			App: app, AuthorizeHost: base, TokenHost: base, APIHost: base, WebURL: base + "/web", ChunkBytes: chunk,
		})
	},
	CheckTraffic: checkCall, IsDescribed: isDescribed,
	Signing: networktest.Signing{
		Candidates: func(found []network.Candidate, url, _ string) []network.Candidate {
			g := found[0].Grant
			return []network.Candidate{{DisplayName: "Harbour Coffee", Grant: network.Grant{
				Server: url, Account: "UC" + strings.TrimPrefix(g.Account, "UC"), Username: "harbour.coffee",
				AccessToken: g.AccessToken, RefreshToken: g.RefreshToken,
				Expires: networktest.Start.Add(time.Hour), Scopes: scopes, Holder: "youtube:" + g.Account,
			}}}
		},
		BadCode: "invalid_grant", CodeLifetime: 10 * time.Minute, PKCE: true,
		TokenLifetime: time.Hour, RefreshAge: time.Hour, GrantLifetime: 180 * 24 * time.Hour,
		ExpiredTokenError: networktest.ExpectedError{Class: network.RefreshRequired, Code: "authError"},
		UnknownTokenError: networktest.ExpectedError{Class: network.RefreshRequired, Code: "authError"},
		ResolveNeedsToken: true, ExpiredRefresh: "invalid_grant", RevokedCode: "invalid_grant",
		SecondRevocation: network.ReconnectRequired,
	},
	Publishing: networktest.Publishing{
		Posts: []networktest.Content{
			{Name: "a video", Media: film(3 * chunk / 2), Format: network.FormatVideo, UploadStart: "POST " + upload},
			{Name: "a small video", Media: film(1000), Format: network.FormatVideo, UploadStart: "POST " + upload},
			{Name: "exactly one part", Media: film(chunk), Format: network.FormatVideo, Variant: true},
			{Name: "three parts and a remainder", Media: film(3*chunk + 5), Format: network.FormatVideo, Variant: true},
		},
		CommitOpensFiles: true, Publishes: isLastPart,
		FileLimits: []network.FileLimits{{Types: []string{"video/mp4", "video/quicktime"}, MaxBytes: 256_000_000_000}},
		Checks: map[string]networktest.CheckCase{
			"a video":        networktest.NewCheckCase("", theFilm),
			"a long text":    networktest.NewCheckCase(strings.Repeat("x", 5000), theFilm),
			"too long":       networktest.NewCheckCase(strings.Repeat("x", 5001), theFilm, "!caption_too_long"),
			"too many bytes": networktest.NewCheckCase(strings.Repeat("é", 2501), theFilm, "!caption_too_long"),
			"less than":      networktest.NewCheckCase("1 < 2", theFilm, "!caption_characters"),
			"greater than":   networktest.NewCheckCase("2 > 1", theFilm, "!caption_characters"),
			"text only":      networktest.NewCheckCase("x", nil, "!media_missing"),
			"an image": networktest.NewCheckCase("x", []network.Media{{Kind: network.Image,
				Type: "image/png"}}, "!media_type"),
			"a WebM": networktest.NewCheckCase("x", []network.Media{{Kind: network.Video,
				Type: "video/webm"}}, "!media_type"),
			"too many tags":   networktest.NewCheckCase(strings.Repeat("#tag ", 61), theFilm, "hashtags_too_many"),
			"two videos":      networktest.NewCheckCase("x", append(theFilm, theFilm...), "!media_too_many"),
			"a sign, no file": networktest.NewCheckCase("<", nil, "!caption_characters", "!media_missing"),
		},
		Rejections: map[string]networktest.Rejection{
			"too long":      {Text: strings.Repeat("é", 2501), Media: film(9), Class: network.Rejected, Code: "caption_too_long"},
			"a sign":        {Text: "1 < 2", Media: film(9), Class: network.Rejected, Code: "caption_characters"},
			"no video":      {Text: "x", Class: network.RejectedMedia, Code: "media_missing"},
			"an empty file": {Media: film(0), Class: network.RejectedMedia},
			"a missing file": {Media: func(l *networktest.Library) []network.Media {
				return []network.Media{l.Remove(l.Video(9), true)}
			}, Class: network.RejectedMedia, Code: "missing"},
			"two videos": {Media: func(l *networktest.Library) []network.Media {
				return []network.Media{l.Video(9), l.Video(9)}
			}, Class: network.RejectedMedia, Code: "media_too_many"},
			"an image": {Media: func(l *networktest.Library) []network.Media {
				return []network.Media{l.Image("jpeg", 9, 9)}
			}, Class: network.RejectedMedia, Code: "media_type"},
		},
		Drafts: []string{
			`{"youtube":true,"session":"https://elsewhere.test/upload","total":9,"media":[{"id":1}]}`,
			`{"youtube":true,"session":"{server}.elsewhere.test/upload","total":9,"media":[{"id":1}]}`,
		},
		Expiry: networktest.Expiry{After: week, Commit: "upload_session_gone", Resolve: "upload_session_gone"},
	},
	Failures: networktest.Failures{
		Grant: network.Grant{Account: "UC1a"},
		Before: func(w http.ResponseWriter, r *http.Request) bool {
			if !strings.HasPrefix(r.Header.Get("Content-Range"), "bytes */") || strings.Contains(r.URL.Path, "looked-at") {
				return false
			}
			w.WriteHeader(http.StatusPermanentRedirect)
			return true
		},
		Calls: []networktest.Call{
			networktest.PrepareCall(plannedDraft), networktest.CommitCall(readyDraft), networktest.RefreshCall(""),
			networktest.ExchangeCall(""),
		},
		Quote: func(message string) networktest.StubResponse {
			return networktest.StubResponse{
				Status: 400,
				Body: `{"error":{"message":"` + message +
					`","errors":[{"reason":"somethingNew"}]},"error_description":"` + message + `"}`,
			}
		},
		Errors: map[string]networktest.Failure{
			"quota": networktest.NewFailure(403, apiFailure("quotaExceeded"), network.QuotaExceeded, network.QuotaExceeded),
			"daily limit": networktest.NewFailure(403, apiFailure("dailyLimitExceeded"), network.QuotaExceeded,
				network.QuotaExceeded),
			"uploads": networktest.NewFailure(400, apiFailure("uploadLimitExceeded"), network.QuotaExceeded, network.QuotaExceeded),
			"rate":    networktest.NewFailure(403, apiFailure("rateLimitExceeded"), network.RateLimited, network.RateLimited),
			"the user's rate": networktest.NewFailure(403, apiFailure("userRateLimitExceeded"), network.RateLimited,
				network.RateLimited),
			"throttled": networktest.NewFailure(429, `slow down`, network.RateLimited, network.RateLimited),
			"token":     networktest.NewFailure(401, apiFailure("authError"), network.RefreshRequired, network.RefreshRequired),
			"token, elsewhere": networktest.NewFailure(401, `{"error":{"code":401,"status":"UNAUTHENTICATED"}}`,
				network.RefreshRequired, network.RefreshRequired),
			"no channel": networktest.NewFailure(401, apiFailure("youtubeSignupRequired"), network.ReconnectRequired,
				network.ReconnectRequired),
			"suspended": networktest.NewFailure(403, apiFailure("authenticatedUserAccountSuspended"),
				network.ReconnectRequired, network.ReconnectRequired),
			"closed": networktest.NewFailure(403, apiFailure("authenticatedUserAccountClosed"),
				network.ReconnectRequired, network.ReconnectRequired),
			"scope": networktest.NewFailure(403, apiFailure("insufficientPermissions"),
				network.ReconnectRequired, network.ReconnectRequired),
			"not enabled": networktest.NewFailure(403, apiFailure("accessNotConfigured"), network.AppNotApproved,
				network.AppNotApproved),
			"title": networktest.NewFailure(400, apiFailure("invalidTitle"), network.Rejected, network.Rejected),
			"description": networktest.NewFailure(400, apiFailure("invalidDescription"), network.Rejected,
				network.Rejected),
			"unknown": networktest.NewFailure(400, apiFailure("somethingNew"), network.Rejected, network.Rejected),
			"no file": networktest.NewFailure(400, apiFailure("mediaBodyRequired"), network.RejectedMedia,
				network.RejectedMedia),
			"backend": networktest.NewFailure(503, apiFailure("backendError"), network.Transient,
				network.OutcomeUnknown),
			"no API":              networktest.NewFailure(400, `<html>`, network.Transient, network.OutcomeUnknown),
			"wrong types":         networktest.NewFailure(200, `{"id":5}`, network.Transient, network.OutcomeUnknown),
			"no id":               networktest.NewFailure(200, `{"id":"../x"}`, network.Transient, network.OutcomeUnknown),
			"gone":                networktest.NewFailure(404, `Not Found`, network.Transient, network.OutcomeUnknown),
			"gone, with a reason": networktest.NewFailure(410, apiFailure("gone"), network.Rejected, network.OutcomeUnknown),
			"not all":             networktest.NewFailure(308, ``, network.Transient, network.OutcomeUnknown),
			"token: revoked": networktest.NewFailure(http.StatusBadRequest,
				`{"error":"invalid_grant","error_description":"Token has been expired or revoked."}`, networktest.Skip,
				networktest.Skip, network.ReconnectRequired, network.ReconnectRequired),
			"token: the app": networktest.NewFailure(http.StatusUnauthorized, `{"error":"invalid_client"}`,
				networktest.Skip, networktest.Skip, network.AppNotApproved, network.AppNotApproved),
			"token: Google's other": networktest.NewFailure(http.StatusForbidden, `{"error":{"code":403,"message":"x"}}`,
				networktest.Skip, networktest.Skip, network.Transient, network.Transient),
			"token: no token": networktest.NewFailure(http.StatusOK, `{}`, networktest.Skip, networktest.Skip,
				network.Transient, network.Transient),
		},
		RetryTimes: map[string]networktest.RetryTimeCase{
			"a quota": retryCase(networktest.Start, "quotaExceeded", "", network.QuotaExceeded,
				time.Date(2026, 11, 22, 8, 0, 0, 0, time.UTC)),
			"quota in summer": retryCase(summer, "quotaExceeded", "", network.QuotaExceeded, time.Date(2026, 7, 1, 7,
				0, 0, 0, time.UTC)),
			"quota after midnight": retryCase(summer.Add(time.Minute), "dailyLimitExceeded", "", network.QuotaExceeded,
				time.Date(2026, 7, 2, 7, 0, 0, 0, time.UTC)),
			"quota as daylight saving ends": retryCase(time.Date(2026, 11, 1, 9, 30, 0, 0, time.UTC), "quotaExceeded", "",
				network.QuotaExceeded, time.Date(2026, 11, 2, 8, 0, 0, 0, time.UTC)),
			"uploads": retryCase(networktest.Start, "uploadLimitExceeded", "", network.QuotaExceeded,
				networktest.Start.Add(24*time.Hour)),
			"a rate": retryCase(networktest.Start, "rateLimitExceeded", "2", network.RateLimited,
				networktest.Start.Add(2*time.Second)),
			"a rate, too long": retryCase(networktest.Start, "rateLimitExceeded", "9999999", network.RateLimited,
				networktest.Start.Add(24*time.Hour)),
			"a rate, unknown": retryCase(networktest.Start, "rateLimitExceeded", "", network.RateLimited, time.Time{}),
			"another, never":  retryCase(networktest.Start, "invalidTitle", "2", network.Rejected, time.Time{}),
		},
		Resolves:   resolveCases(),
		EmptyLists: map[string]http.Handler{queriedDraft: uploads(http.StatusNotFound, "", "", `{"items":[]}`)},
		GiveUps: map[string]networktest.GiveUpCase{
			"every session expires": {Draft: plannedDraft, Class: network.Transient, Calls: 5,
				Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					w.Header().Set("Location", "http://"+r.Host+"/looked-at?upload_id=1")
					if r.Method == http.MethodPut {
						w.WriteHeader(http.StatusNotFound)
					}
				})},
		},
	},
	Collecting: networktest.Collecting{
		Metrics: []string{"views", "likes", "comments", "shares"}, PageSize: 50,
		CollectFailures: func(now time.Time) map[string]networktest.CollectFailure {
			soon := map[string]string{"Retry-After": "30"}
			midnight := time.Date(2026, 11, 22, 8, 0, 0, 0, time.UTC) // in the network's time zone
			return map[string]networktest.CollectFailure{
				"rate limit, channel": networktest.NewCollectFailure(networktest.Interceptor{
					Part: channelCall, Status: 403, Header: soon, Body: reason(403, "rateLimitExceeded"),
				}, network.RateLimited, now.Add(30*time.Second), 0),
				"rate limit, videos": networktest.NewCollectFailure(networktest.Interceptor{
					Part: videoCall, Status: 429, Header: soon,
				}, network.RateLimited, now.Add(30*time.Second), 0),
				"rate limit, reports": networktest.NewCollectFailure(networktest.Interceptor{
					Part: reportCall, Status: 429, Header: soon,
				}, network.RateLimited, now.Add(30*time.Second), 1),
				"daily quota": networktest.NewCollectFailure(networktest.Interceptor{
					Part: listCall, Status: 403, Body: reason(403, "quotaExceeded"),
				}, network.QuotaExceeded, midnight, 0),
				"an invalid token": networktest.NewCollectFailure(networktest.Interceptor{
					Part: channelCall, Status: 401, Body: reason(401, "authError"),
				}, network.RefreshRequired, time.Time{}, 0),
				"a scope is missing": networktest.NewCollectFailure(networktest.Interceptor{
					Part: channelCall, Status: 403, Body: reason(403, "insufficientPermissions"),
				}, network.AppNotApproved, time.Time{}, 0),
				"a failure": networktest.NewCollectFailure(networktest.Interceptor{Part: videoCall, Status: 503},
					network.Transient, time.Time{}, 0),
				"nonsense": networktest.NewCollectFailure(networktest.Interceptor{Part: videoCall, Status: 200, Body: "["},
					network.Transient, time.Time{}, 0),
				"no list": networktest.NewCollectFailure(networktest.Interceptor{Part: channelCall, Status: 200, Body: "{}"},
					network.Transient, time.Time{}, 0),
			}
		},
		Withheld: map[string]networktest.WithheldCase{
			"a removed metric": networktest.NewWithheldCase("shares",
				networktest.Interceptor{Part: reportCall, Status: 400, Body: reason(400, "badRequest")}),
			"app not approved": networktest.NewWithheldCase("shares",
				networktest.Interceptor{Part: reportCall, Status: 403, Body: reason(403, "accessNotConfigured")}),
			"not allowed": networktest.NewWithheldCase("shares",
				networktest.Interceptor{Part: reportCall, Status: 403, Body: reason(403, "insufficientPermissions")}),
			"no rows": networktest.NewWithheldCase("shares", networktest.Interceptor{Part: reportCall, Status: 200, Body: `{}`}),
			"rows in another format": networktest.NewWithheldCase("shares",
				networktest.Interceptor{Part: reportCall, Status: 200, Body: `{"rows":[["x"],[1,"x"],["x",-1]]}`}),
		},
	},
}

var (
	summer       = time.Date(2026, 7, 1, 6, 59, 0, 0, time.UTC)
	theFilm      = []network.Media{{Kind: network.Video, Type: "video/mp4", Size: 1}}
	queriedDraft = strings.Replace(readyDraft, "/upload?", "/looked-at?", 1)
)

func apiFailure(reason string) string {
	return `{"error":{"code":1,"message":"m","errors":[{"domain":"d","reason":"` + reason + `"}],"status":"S"}}`
}

func reason(status int, reason string) string {
	return fmt.Sprintf(`{"error":{"code":%d,"message":"said","errors":[{"reason":%q}]}}`, status, reason)
}

func retryCase(now time.Time, reason, header string, class network.ErrorClass, after time.Time) networktest.RetryTimeCase {
	answer := networktest.StubResponse{Status: http.StatusForbidden, Header: http.Header{"Retry-After": {header}},
		Body: apiFailure(reason)}
	return networktest.RetryTimeCase{Call: 1, Response: answer, At: now, Class: class, RetryAt: after}
}

// isLastPart reports whether a request sends the last part of a file.
func isLastPart(r networktest.Request) bool {
	var first, last, total int
	_, err := fmt.Sscanf(r.Header.Get("Content-Range"), "bytes %d-%d/%d", &first, &last, &total)
	return err == nil && last == total-1
}

// uploads returns a server that responds with a session's status and a list of uploads.
func uploads(status int, header, session, list string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodPut:
			if header != "" {
				w.Header().Set("Range", header)
			}
			w.WriteHeader(status)
			_, _ = fmt.Fprint(w, session)
		case strings.HasSuffix(r.URL.Path, "/channels"):
			_, _ = fmt.Fprint(w, `{"items":[{"contentDetails":{"relatedPlaylists":{"uploads":"UU1a"}}}]}`)
		case strings.HasSuffix(r.URL.Path, "/videos"):
			_, _ = fmt.Fprintf(w, `{"items":[{"id":%q,"status":{"uploadStatus":"processed","privacyStatus":"public"}}]}`,
				r.URL.Query().Get("id"))
		case strings.HasPrefix(list, `{"error"`):
			w.WriteHeader(http.StatusNotFound)
			_, _ = fmt.Fprint(w, list)
		default:
			_, _ = fmt.Fprint(w, list)
		}
	}
}

// resolveCases returns statuses of a session and lists of uploads, with the expected outcomes.
func resolveCases() map[string]networktest.ResolveCase {
	item := func(id, text, at string) string {
		return `{"snippet":{"publishedAt":"` + at + `","title":"x","description":"` + text + `","resourceId":{"videoId":"` + id + `"}}}`
	}
	list := func(next string, items ...string) string {
		return `{"nextPageToken":"` + next + `","items":[` + strings.Join(items, ",") + `]}`
	}
	session := func(
		status int, header, session, list string, verdict network.Verdict, class network.ErrorClass, id string,
	) networktest.ResolveCase {
		return networktest.ResolveCase{
			Draft: queriedDraft, Elapsed: time.Hour, Handler: uploads(status, header, session, list), Verdict: verdict,
			Class: class, Receipt: network.Receipt{ID: id},
		}
	}
	const now, old = "2026-11-21T09:31:00Z", "2026-11-20T09:31:00Z"
	own := list("", item("video1", " x\\r\\n", now))
	return map[string]networktest.ResolveCase{
		"complete":                     session(200, "", `{"id":"video1"}`, "", network.Published, "", "video1"),
		"created":                      session(201, "", `{"id":"video1"}`, "", network.Published, "", "video1"),
		"complete, no id":              session(200, "", `{}`, own, network.Unknown, network.Transient, ""),
		"nothing yet":                  session(308, "", "", own, network.Absent, "", ""),
		"a part":                       session(308, "bytes=0-49", "", own, network.Absent, "", ""),
		"all bytes, but no video":      session(308, "bytes=0-99", "", own, network.Unknown, network.Processing, ""),
		"more bytes than the file has": session(308, "bytes=0-100", "", own, network.Unknown, network.Transient, ""),
		"invalid range":                session(308, "bytes=5-49", "", own, network.Unknown, network.Transient, ""),
		"an outage":                    session(503, "", "", own, network.Unknown, network.Transient, ""),
		"throttled":                    session(429, "", "", own, network.Unknown, network.RateLimited, ""),
		"an invalid token":             session(401, "", "", own, network.Unknown, network.RefreshRequired, ""),
		"gone, listed":                 session(404, "", "", own, network.Published, "", "video1"),
		"gone, video listed":           session(410, "", "", own, network.Published, "", "video1"),
		"gone, other videos": session(404, "", "",
			list("", item("video2", "y", now), item("video3", "x", old), item("../x", "x", now)), network.Absent, network.Transient, ""),
		"gone, no videos": session(404, "", "", list(""), network.Absent, network.Transient, ""),
		"gone, no list yet": session(404, "", "", `{"error":{"errors":[{"reason":"playlistNotFound"}]}}`,
			network.Absent, network.Transient, ""),
		"gone, rejected": session(404, "", "", `{"error":{"errors":[{"reason":"quotaExceeded"}]}}`,
			network.Unknown, network.QuotaExceeded, ""),
		"gone, twice": session(404, "", "", list("", item("video1", "x", now), item("video2", "x", now)),
			network.Unknown, network.OutcomeUnknown, ""),
		"gone, list incomplete": session(404, "", "", list("more", item("video2", "y", now)), network.Unknown,
			network.OutcomeUnknown, ""),
		"gone, only older uploads left": session(404, "", "", list("more", item("video2", "y", now), item("video3", "y", old)),
			network.Absent, network.Transient, ""),
		"gone, no time": session(404, "", "", list("", item("video1", "x", "noon")), network.Unknown, network.Transient, ""),
	}
}

func TestConformance(t *testing.T) {
	t.Parallel()
	networktest.Run(t, adapter)
}

// The operator can turn on first comments.
func TestFirstComments(t *testing.T) {
	t.Parallel()
	c := adapter
	c.New = func(base string, app network.App) network.Network {
		return youtube.New(youtube.Options{
			App: app, AuthorizeHost: base, TokenHost: base, APIHost: base, WebURL: base + "/web", ChunkBytes: chunk,
			FirstComments: true,
		})
	}
	networktest.RunFirstComments(t, c)
}
