package x_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/network/networktest"
	"pressroom.example/pressroom/internal/network/x"
	"pressroom.example/pressroom/internal/testkit/must"
)

const (
	ready     = `{"x":true,"text":"x","ready":"2026-11-21T09:30:00Z"}`
	listCall  = "/tweets?"
	clickCall = "/2/tweets?"
	forbidden = `{"type":"https://api.x.com/2/problems/client-forbidden","title":"Client Forbidden",` +
		`"detail":"not for this app","status":403}`
)

func images(count int) func(*networktest.Library) []network.Media {
	return func(l *networktest.Library) []network.Media {
		var media []network.Media
		for i := range count {
			media = append(media, l.Image("png", 5+i, 9))
		}
		return media
	}
}

func gif(l *networktest.Library) []network.Media { return []network.Media{l.Image("gif", 9, 9)} }

// film returns a video of several segments.
func film(l *networktest.Library) []network.Media { return []network.Media{l.Video(1_100_000)} }

var adapter = networktest.Case{
	Platform:     "x",
	CheckTraffic: checkCall, IsDescribed: isDescribed,
	New: func(base string, app network.App) network.Network {
		return x.New(x.Options{App: app, AuthorizeHost: base, APIHost: base, WebURL: base + "/web"})
	},
	Signing: networktest.Signing{
		Candidates: func(found []network.Candidate, url, _ string) []network.Candidate {
			g := found[0].Grant
			return []network.Candidate{{DisplayName: "Harbour Coffee", Grant: network.Grant{
				Server: url, Account: g.Account, Username: "harbour.coffee", AccessToken: g.AccessToken,
				RefreshToken: g.RefreshToken,
				Expires:      networktest.Start.Add(2 * time.Hour),
				Scopes:       []string{"tweet.read", "tweet.write", "users.read", "media.write", "offline.access"},
			}}}
		},
		BadCode: "invalid_request", CodeLifetime: 30 * time.Second, PKCE: true,
		TokenLifetime: 2 * time.Hour, RefreshAge: 3 * time.Hour,
		ExpiredTokenError: networktest.ExpectedError{Class: network.RefreshRequired},
		UnknownTokenError: networktest.ExpectedError{Class: network.RefreshRequired},
		ResolveNeedsToken: true, ExpiredRefresh: "invalid_request", SingleUseRefreshToken: true, RevokedCode: "invalid_request",
	},
	Publishing: networktest.Publishing{
		Posts: []networktest.Content{
			{Name: "text", Format: network.FormatText, AbsentAfter: time.Minute},
			{Name: "https://example.org/a", Text: "lost  <b> \"it's\"\nexample.org, https://Example.org/A/ " +
				"http://a.test.", Format: network.FormatLink, AbsentAfter: time.Minute, Variant: true},
			{Name: "an image", Media: images(1), Format: network.FormatImage, Variant: true},
			{Name: "two images", Media: images(2), Format: network.FormatCarousel, AbsentAfter: time.Minute},
			{Name: "four images", Media: images(4), Format: network.FormatCarousel, Variant: true},
			{Name: "a GIF", Media: gif, Format: network.FormatImage, Variant: true},
			{Name: "a video", Media: film, Format: network.FormatVideo, AbsentAfter: time.Minute, UploadStart: "/finalize"},
			{Name: "a poll", Format: network.FormatText, Variant: true, Options: network.Options{X: &network.XOptions{
				Poll: &network.XOptionsPoll{Options: []string{"Yes", "No"}, DurationMinutes: 60}, ReplySettings: "mentionedUsers",
				PaidPartnership: true,
			}}},
		},
		SecondCommit: network.Duplicate, Duplicates: true, DuplicateAfter: 25 * time.Hour,
		FileLimits: []network.FileLimits{
			{Types: []string{"image/jpeg", "image/png", "image/webp"}, MaxBytes: 5_000_000},
			{Types: []string{"image/gif"}, MaxBytes: 15_000_000, MaxSide: 1280},
			{Types: []string{"video/mp4", "video/quicktime"}, MaxBytes: 512_000_000},
		},
		Rejections: map[string]networktest.Rejection{
			"too long": {Text: strings.Repeat("é", 281), Class: network.Rejected, Code: "caption_too_long"},
			"too many": {Media: images(5), Class: network.RejectedMedia, Code: "media_too_many"},
			"mixed": {Media: func(l *networktest.Library) []network.Media {
				return []network.Media{l.Image("png", 9, 9), l.Video(100)}
			}, Class: network.RejectedMedia, Code: "media_mix"},
			"not an image": {Media: func(l *networktest.Library) []network.Media {
				return []network.Media{l.Fake(network.Image, "image/png", "GIF89a...")}
			}, Class: network.RejectedMedia, Code: "invalid-request"},
			"an empty file": {Media: func(l *networktest.Library) []network.Media {
				return []network.Media{l.Fake(network.Image, "image/png", "")}
			}, Class: network.RejectedMedia, Code: "media_too_large"},
			"a missing image": {Media: func(l *networktest.Library) []network.Media {
				return []network.Media{l.Remove(l.Image("png", 9, 9), true)}
			}, Class: network.RejectedMedia, Code: "missing"},
			"file shorter than its stated size": {Media: func(l *networktest.Library) []network.Media {
				return []network.Media{l.Overstate(l.Image("png", 9, 9))}
			}, Class: network.Transient},
			"not a video": {Media: func(l *networktest.Library) []network.Media {
				return []network.Media{l.Fake(network.Video, "video/mp4", "no film")}
			}, Class: network.RejectedMedia, Code: "failed"},
		},
		Drafts: []string{
			`{"x":true,"ready":"2026-11-21T09:00:00Z","media":[{"id":1}]}`,
			`{"x":true,"ready":"2026-11-21T09:00:00Z","media":[{"id":1}],"uploads":[{"id":"../me"}]}`,
		},
		Expiry: networktest.Expiry{Post: 2, After: 25 * time.Hour, Commit: "media_expired", Resolve: "media_expired"},
	},
	Failures: networktest.Failures{
		Grant: network.Grant{Account: "1", Username: "me"},
		Calls: []networktest.Call{
			networktest.ResolveCall(ready), networktest.CommitCall(ready), networktest.RefreshCall(""), networktest.ExchangeCall(""),
		},
		Quote: func(message string) networktest.StubResponse {
			return networktest.StubResponse{
				Status: 400, Body: `{"detail":"` + message + `","error":"invalid_request","error_description":"` + message + `"}`,
			}
		},
		Errors: map[string]networktest.Failure{
			"unauthorized": networktest.NewFailure(401,
				`{"title":"Unauthorized","type":"about:blank","status":401,"detail":"Unauthorized"}`,
				network.RefreshRequired, network.RefreshRequired, network.Transient),
			"duplicate": networktest.NewFailure(403,
				`{"detail":"You are not allowed to create a Tweet with duplicate content."}`, network.Duplicate,
				network.Duplicate, network.Transient),
			"suspended": networktest.NewFailure(403, `{"detail":"Your account is suspended."}`, network.ReconnectRequired,
				network.ReconnectRequired, network.Transient),
			"client forbidden": networktest.NewFailure(403, problem("client-forbidden"), network.AppNotApproved,
				network.AppNotApproved, network.Transient),
			"wrong way": networktest.NewFailure(403, problem("unsupported-authentication"), network.AppNotApproved,
				network.AppNotApproved, network.Transient),
			"invalid": networktest.NewFailure(400, problem("invalid-request"), network.Rejected, network.Rejected,
				network.Transient),
			"older form": networktest.NewFailure(400, `{"errors":[{"code":187,"message":"no"}]}`, network.Rejected,
				network.Rejected, network.Transient),
			"too many": networktest.NewFailure(429, problem("rate-limit-exceeded"), network.RateLimited),
			"capped": networktest.NewFailure(429, problem("usage-capped"), network.QuotaExceeded, network.QuotaExceeded,
				network.RateLimited),
			"no credit": networktest.NewFailure(402, `{}`, network.AppNotApproved, network.AppNotApproved, network.Transient),
			"no id": networktest.NewFailure(201, `{"data":{"id":"../x"}}`, network.Transient, network.OutcomeUnknown,
				network.Transient),
			"errors and no id": networktest.NewFailure(200, `{"errors":[{"detail":"no"}]}`, network.OutcomeUnknown,
				network.OutcomeUnknown, network.Transient),
			"invalid refresh token": networktest.NewFailure(400, `{"error":"invalid_request","error_description":"no"}`,
				network.Rejected, network.Rejected, network.ReconnectRequired),
			"invalid grant": networktest.NewFailure(400, `{"error":"invalid_grant"}`, network.Rejected, network.Rejected,
				network.ReconnectRequired),
			"invalid client": networktest.NewFailure(401, `{"error":"invalid_client"}`, network.RefreshRequired,
				network.RefreshRequired, network.AppNotApproved),
		},
		RetryTimes: map[string]networktest.RetryTimeCase{
			"known": rateLimited(`{}`, strconv.FormatInt(networktest.Start.Add(10*time.Minute).Unix(), 10),
				network.RateLimited, 10*time.Minute),
			"too long": rateLimited(`{}`, "99999999999", network.RateLimited, 24*time.Hour),
			"unknown":  rateLimited(`{}`, "", network.RateLimited, 0),
			"past":     rateLimited(`{}`, "1", network.RateLimited, 0),
			"capped":   rateLimited(problem("usage-capped"), "99999999", network.QuotaExceeded, 24*time.Hour),
		},
		Resolves:   resolveCases(),
		EmptyLists: map[string]http.Handler{ready: networktest.StubResponse{Body: `{"data":[]}`}},
		GiveUps: map[string]networktest.GiveUpCase{
			"forgotten": stuckUpload(networktest.StubResponse{Status: 404, Body: problem("resource-not-found")},
				network.Transient),
			"failed": stuckUpload(networktest.StubResponse{Body: `{"data":{"processing_info":{"state":"failed"}}}`},
				network.RejectedMedia),
		},
	},
	Collecting: networktest.Collecting{
		Metrics: []string{"views", "likes", "comments", "shares", "saves", "clicks"}, PageSize: 100,
		CollectFailures: func(now time.Time) map[string]networktest.CollectFailure {
			reset := now.Add(9 * time.Minute).Truncate(time.Second)
			late := map[string]string{"x-rate-limit-reset": strconv.FormatInt(reset.Unix(), 10)}
			return map[string]networktest.CollectFailure{
				"rate limit, account": networktest.NewCollectFailure(networktest.Interceptor{
					Part: "/users/me", Status: 429, Header: late,
				}, network.RateLimited, reset, 0),
				"rate limit, list": networktest.NewCollectFailure(networktest.Interceptor{
					Part: listCall, Status: 429, Header: late,
				}, network.RateLimited, reset, 0),
				"rate limit, clicks": networktest.NewCollectFailure(networktest.Interceptor{
					Part: clickCall, Status: 429, Header: late,
				}, network.RateLimited, reset, 1),
				"no credit left": networktest.NewCollectFailure(networktest.Interceptor{Part: listCall, Status: 402},
					network.AppNotApproved, time.Time{}, 0),
				"an invalid token": networktest.NewCollectFailure(networktest.Interceptor{Part: "/users/me", Status: 401},
					network.RefreshRequired, time.Time{}, 0),
				"posts may not be read": networktest.NewCollectFailure(networktest.Interceptor{Part: listCall, Status: 403},
					network.AppNotApproved, time.Time{}, 0),
				"nothing is allowed": networktest.NewCollectFailure(networktest.Interceptor{Part: "/2/", Status: 403},
					network.AppNotApproved, time.Time{}, 0),
				"a failure": networktest.NewCollectFailure(networktest.Interceptor{Part: clickCall, Status: 503},
					network.Transient, time.Time{}, 1),
				"nonsense": networktest.NewCollectFailure(networktest.Interceptor{Part: listCall, Status: 200, Body: "["},
					network.Transient, time.Time{}, 0),
			}
		},
		Withheld: map[string]networktest.WithheldCase{
			"followers": networktest.NewWithheldCase("followers", networktest.Interceptor{Part: "/users/me",
				Status: 403, Body: forbidden}),
			"views": networktest.NewWithheldCase("views likes comments shares saves", networktest.Interceptor{
				Part: "%2Cpublic_metrics", Status: 400,
				Body: `{"title":"Invalid Request","type":"https://api.x.com/2/problems/invalid-request"}`,
			}),
			"clicks": networktest.NewWithheldCase("clicks", networktest.Interceptor{Part: clickCall, Status: 403, Body: forbidden}),
			"a scope": networktest.NewWithheldCase("clicks",
				networktest.Interceptor{Part: clickCall, Status: 403, Body: `{"title":"Forbidden","detail":"scope"}`}),
			"in part": networktest.NewWithheldCase("clicks", networktest.Interceptor{
				Part: clickCall, Status: 200,
				Body: `{"errors":[{"title":"Field Authorization Error","field":"non_public_metrics","detail":"no",` +
					`"type":"https://api.x.com/2/problems/not-authorized-for-field"}]}`,
			}),
		},
	},
}

func problem(kind string) string {
	return `{"type":"https://api.x.com/2/problems/` + kind + `","title":"No","detail":"no"}`
}

func rateLimited(body, reset string, class network.ErrorClass, after time.Duration) networktest.RetryTimeCase {
	r := networktest.RetryTimeCase{
		Call: 1, Class: class,
		Response: networktest.StubResponse{Status: http.StatusTooManyRequests,
			Header: http.Header{"X-Rate-Limit-Reset": {reset}}, Body: body},
	}
	if after > 0 {
		r.RetryAt = networktest.Start.Add(after)
	}
	return r
}

// stuckUpload returns a server that accepts uploads and always responds with the same status.
func stuckUpload(status networktest.StubResponse, class network.ErrorClass) networktest.GiveUpCase {
	return networktest.GiveUpCase{
		Draft: `{"x":true,"media":[{"id":1,"kind":"video","type":"video/mp4","size":100}]}`, Class: class, Calls: 4,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodGet {
				status.ServeHTTP(w, r)
				return
			}
			networktest.StubResponse{Body: `{"data":{"id":"5","processing_info":{"state":"pending","check_after_secs":1}}}`}.ServeHTTP(w, r)
		}),
	}
}

// resolveCases are lists of posts with their outcomes.
func resolveCases() map[string]networktest.ResolveCase {
	const (
		post = `{"id":"5","text":"see https://t.co/a &amp; b","created_at":"2026-11-21T09:00:30.000Z",` +
			`"entities":{"urls":[{"url":"https://t.co/a","expanded_url":"http://example.org/"}]}}`
		again = `{"id":"6","text":" see example.org &amp;  b","created_at":"2026-11-21T09:01:30.000Z"}`
		older = `{"id":"4","text":"see example.org &amp; b","created_at":"2026-11-21T08:59:30.000Z"}`
		long  = `{"id":"7","text":"see…","created_at":"2026-11-21T09:00:30Z","note_post":{"text":"see example.org & b"}}`
		other = `{"id":"8","text":"see example.com & b","created_at":"2026-11-21T09:00:30Z"},
			{"id":"9","text":"see example.org & b","created_at":"2026-11-21T09:00:30Z","attachments":{"media_keys":["3_1"]}},
			{"id":"10","text":"see example.org & b","created_at":"2026-11-21T08:58:59Z"},
			{"id":"../x","text":"see example.org & b","created_at":"2026-11-21T09:00:30Z"}`
	)
	list := func(posts, next string, verdict network.Verdict, class network.ErrorClass, id string) networktest.ResolveCase {
		return networktest.ResolveCase{
			Draft: `{"x":true,"text":"see http://example.org & b","ready":"2026-11-21T09:00:00Z"}`, Elapsed: time.Hour,
			Verdict: verdict, Class: class,
			Handler: networktest.StubResponse{Body: `{"data":[` + posts + `],"meta":{"next_token":"` + next + `"}}`},
			Receipt: network.Receipt{ID: id},
		}
	}
	return map[string]networktest.ResolveCase{
		"nothing":          list(``, "", network.Absent, "", ""),
		"other posts":      list(other, "", network.Absent, "", ""),
		"it":               list(other+","+post, "", network.Published, "", "5"),
		"a long text":      list(long, "", network.Published, "", "7"),
		"twice":            list(post+","+again, "", network.Unknown, network.OutcomeUnknown, ""),
		"an older one too": list(post+","+older, "", network.Published, "", "5"),
		"clocks differ":    list(older, "", network.Published, "", "4"),
		"more pages":       list(other, "more", network.Unknown, network.OutcomeUnknown, ""),
	}
}

func TestConformance(t *testing.T) {
	t.Parallel()
	networktest.Run(t, adapter)
}

// An app without a secret sends its ID in the form.
func TestPublicClient(t *testing.T) {
	t.Parallel()
	f := networktest.New(t, adapter, 0)
	f.UsePublicClient()
	g := f.Grant()
	f.Renew(g)
}

// Revoke leaves the tokens of another consent of the same account valid.
func TestRevokeLeavesOtherConsents(t *testing.T) {
	t.Parallel()
	f := networktest.New(t, adapter, 0)
	g, twin := f.Grant(), f.Grant()
	must.NoError(t, f.Network().(*x.Network).Revoke(t.Context(), g))
	_, err := f.Commit(g, f.MustPrepare(g, "too late"))
	networktest.WantClass(t, err, network.RefreshRequired, "")
	f.Renew(twin)
}

// If a page is rejected, Collect returns the posts of the pages before it.
func TestCollectKeepsPages(t *testing.T) {
	t.Parallel()
	f := networktest.New(t, adapter, 0)
	g := f.Grant()
	for i := range 101 {
		f.Post(g, "number "+strconv.Itoa(i))
	}
	collected, err := f.CollectThrough(networktest.Interceptor{
		RoundTripper: networktest.Transport, Part: "pagination_token", Status: http.StatusTooManyRequests,
	}, g, networktest.Start, 500)
	if networktest.WantClass(t, err, network.RateLimited, ""); len(collected.Posts) != 100 || collected.Posts[0].Views == nil {
		t.Errorf("%d posts", len(collected.Posts))
	}
}

// Clicks on posts older than 30 days are not available and not requested.
func TestCollectOldPosts(t *testing.T) {
	t.Parallel()
	f := networktest.New(t, adapter, 0)
	g := f.Grant()
	f.Post(g, "old")
	f.Clock.Advance(30 * 24 * time.Hour)
	g = f.Renew(g)
	f.Post(g, "new")
	posts := f.Collect(g, networktest.Start, 10).Posts
	if len(posts) != 2 || posts[0].Clicks == nil || posts[1].Clicks != nil || posts[1].Views == nil {
		t.Errorf("%+v", posts)
	}
	f.Clock.Advance(30 * 24 * time.Hour)
	g = f.Renew(g)
	asked := f.Transport.Count("/2/tweets?")
	f.Collect(g, networktest.Start, 10)
	if again := f.Transport.Count("/2/tweets?"); again != asked {
		t.Error("the clicks on old posts were requested")
	}
}

var api = networktest.LoadOpenAPI("x.json", "api.x.com", "/x")

// checkCall checks that a request and the sandbox's response match the network's description. The description has no
// token endpoint.
func checkCall(t *testing.T, r networktest.Request) {
	if isDescribed(r) {
		api.Check(t, r)
	}
}

func isDescribed(r networktest.Request) bool { return !strings.Contains(r.URL.Path, "/oauth2/") }

// The tests send calls of every described kind.
func TestCallsDescribed(t *testing.T) {
	t.Parallel()
	f := networktest.New(t, adapter, 10*time.Second)
	seen := map[string]bool{}
	f.Transport.OnResponse = func(r networktest.Request) {
		if isDescribed(r) {
			seen[api.Check(t, r)] = true
		}
	}
	f.MakeEveryCall()
	g := f.Grant()
	f.Collect(g, networktest.Start, 6)
	f.Collect(g, time.Time{}, 100)
	if len(seen) != 8 {
		t.Errorf("%d calls: %v", len(seen), seen)
	}
}

// A consent without the permission to publish connects no account.
func TestMissingScope(t *testing.T) {
	t.Parallel()
	f := networktest.New(t, adapter, 0)
	f.Scopes("tweet.read", "users.read")
	_, err := f.Exchange("", "mira.keller")
	networktest.WantClass(t, err, network.ReconnectRequired, "tweet.write")
}
