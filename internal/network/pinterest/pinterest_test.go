package pinterest_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/network/networktest"
	"pressroom.example/pressroom/internal/network/pinterest"
)

const (
	ready       = `{"pinterest":true,"text":"x","video":"5","media":[{"id":1,"kind":"video"}],"ready":"2026-11-21T09:00:00Z"}`
	planned     = `{"pinterest":true,"media":[{"id":1,"kind":"video","type":"video/mp4"}]}`
	userCall    = "/v5/user_account"
	listCall    = "/pins?"
	severalCall = "/v5/pins/analytics?"
	aloneCall   = "/analytics?"
	trial       = `{"code":29,"message":"You are on trial access"}`
	// trialRejection was seen in production in November 2025.
	trialRejection = `{"code":29,"message":"Apps with Trial access may not create Pins in production ` +
		`https://api.pinterest.com - use API Sandbox https://api-sandbox.pinterest.com instead."}`
	invalid = `{"code":1,"message":"Invalid pins analytics parameters."}`
	dead    = `{"code":2,"message":"Authentication failed."}`
	day     = 24 * time.Hour
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

func film(l *networktest.Library) []network.Media { return []network.Media{l.Video(240_000)} }

var late = map[string]string{"x-ratelimit-reset": "7"}

var adapter = networktest.Case{
	Platform:     "pinterest",
	CheckTraffic: checkCall, IsDescribed: isDescribed,
	New: func(base string, app network.App) network.Network {
		return pinterest.New(pinterest.Options{App: app, AuthorizeHost: base, APIHost: base, WebURL: base + "/web"})
	},
	Signing: networktest.Signing{
		Candidates: func(found []network.Candidate, url, _ string) []network.Candidate {
			var want []network.Candidate
			for i := range 3 {
				g := found[i].Grant
				person, board, _ := strings.Cut(g.Account, "/")
				name := strings.TrimPrefix(found[i].DisplayName, "Harbour Coffee: ")
				if i == 1 {
					name = "Recipes"
				}
				want = append(want, network.Candidate{DisplayName: "Harbour Coffee: " + name, Grant: network.Grant{
					Server: url, Account: person + "/" + board, Username: "harbour.coffee/" + name,
					AccessToken: g.AccessToken, RefreshToken: g.RefreshToken,
					Expires: networktest.Start.Add(30 * day), RefreshExpires: networktest.Start.Add(60 * day),
					Scopes: []string{"user_accounts:read", "boards:read", "boards:write", "pins:read", "pins:write"},
					Extra:  map[string]string{"board": board},
				}})
			}
			return want
		},
		BadCode: "283", CodeLifetime: 10 * time.Minute,
		TokenLifetime: 30 * day, RefreshAge: 31 * day, GrantLifetime: 60 * day, SingleUseRefreshToken: true,
		ResolveNeedsToken: true, ExpiredRefresh: "283",
		ExpiredTokenError: networktest.ExpectedError{Class: network.RefreshRequired, Code: "2"},
		UnknownTokenError: networktest.ExpectedError{Class: network.RefreshRequired, Code: "2"},
	},
	Publishing: networktest.Publishing{
		Posts: []networktest.Content{
			{Name: "an image", Media: images(1), Format: network.FormatImage, AbsentAfter: 2 * time.Minute, LocalPrepare: true},
			{Name: "several", Media: images(3), Format: network.FormatCarousel, Variant: true},
			{Name: "a video", Media: film, Format: network.FormatVideo, AbsentAfter: 2 * time.Minute,
				UploadStart: "POST /pinterest/v5/media"},
		},
		CommitOpensFiles: true, Repeatable: []string{""},
		FileLimits: []network.FileLimits{
			{Types: []string{"image/jpeg", "image/png", "image/webp", "image/gif"}, MaxBytes: 20_000_000},
			{Types: []string{"video/mp4", "video/quicktime"}, MaxBytes: 2_000_000_000},
		},
		Rejections: map[string]networktest.Rejection{
			"too long":  {Text: strings.Repeat("é", 801), Media: images(1), Class: network.Rejected, Code: "caption_too_long"},
			"text only": {Text: "x", Class: network.RejectedMedia, Code: "media_missing"},
			"too many":  {Media: images(6), Class: network.RejectedMedia, Code: "media_too_many"},
			"mixed": {Media: func(l *networktest.Library) []network.Media {
				return []network.Media{l.Image("png", 9, 9), l.Video(100)}
			}, Class: network.RejectedMedia, Code: "media_mix"},
			"not a video": {Media: func(l *networktest.Library) []network.Media {
				return []network.Media{l.Fake(network.Video, "video/mp4", "no film")}
			}, Class: network.RejectedMedia, Code: "failed"},
			"a missing video": {Media: func(l *networktest.Library) []network.Media {
				return []network.Media{l.Remove(l.Video(100), true)}
			}, Class: network.RejectedMedia, Code: "missing"},
			"video shorter than its stated size": {Media: func(l *networktest.Library) []network.Media {
				return []network.Media{l.Overstate(l.Video(100))}
			}, Class: network.Transient},
			"a missing image": {Media: func(l *networktest.Library) []network.Media {
				return []network.Media{l.Remove(l.Image("png", 9, 9), true)}
			}, Class: network.Transient, Code: "1", Commit: true},
			"not an image": {Media: func(l *networktest.Library) []network.Media {
				return []network.Media{l.Fake(network.Image, "image/png", "no image")}
			}, Class: network.Rejected, Code: "1", Commit: true},
		},
		Drafts: []string{
			`{"pinterest":true,"ready":"2026-11-21T09:00:00Z"}`,
			`{"pinterest":true,"ready":"2026-11-21T09:00:00Z","media":[{"id":1,"kind":"video"}]}`,
			`{"pinterest":true,"video":"../me"}`,
		},
	},
	Failures: networktest.Failures{
		Grant: network.Grant{Extra: map[string]string{"board": "1"}},
		Calls: []networktest.Call{
			networktest.ResolveCall(ready), networktest.CommitCall(ready), networktest.RefreshCall(""),
			networktest.ExchangeCall(""), networktest.PrepareCall(planned),
		},
		Quote: func(message string) networktest.StubResponse {
			return networktest.StubResponse{Status: http.StatusBadRequest, Body: `{"code":1,"message":"` + message + `"}`}
		},
		Errors: map[string]networktest.Failure{
			"unauthorized": networktest.NewFailure(401, `{"code":2,"message":"Authentication failed."}`,
				network.RefreshRequired, network.RefreshRequired, network.ReconnectRequired),
			"wrong secret": networktest.NewFailure(401, `{"code":2,"message":"The client is unknown."}`,
				network.RefreshRequired, network.RefreshRequired, network.AppNotApproved),
			"not ours": networktest.NewFailure(403,
				`{"code":29,"message":"You are not permitted to access that resource."}`, network.ReconnectRequired,
				network.ReconnectRequired, network.ReconnectRequired),
			"trial": networktest.NewFailure(403,
				trialRejection, network.AppNotApproved, network.AppNotApproved, network.ReconnectRequired),
			"trial, with another status": networktest.NewFailure(400, trialRejection, network.AppNotApproved,
				network.AppNotApproved, network.ReconnectRequired),
			"trial, too early": networktest.NewFailure(401, trialRejection, network.AppNotApproved,
				network.AppNotApproved, network.ReconnectRequired),
			"no board": networktest.NewFailure(404, `{"code":40,"message":"Board not found."}`, network.Rejected,
				network.Rejected, network.Transient),
			"invalid": networktest.NewFailure(400, `{"code":1,"message":"no"}`, network.Rejected, network.Rejected,
				network.ReconnectRequired),
			"unreachable file": networktest.NewFailure(400, `{"code":1,"message":"Unable to reach the URL. Please check."}`,
				network.Transient, network.Transient, network.ReconnectRequired),
			"too many": networktest.NewFailure(429, `{"code":8,"message":"no"}`, network.RateLimited),
			"conflict": networktest.NewFailure(409, `{"code":5}`, network.Transient, network.OutcomeUnknown, network.Transient),
			"wrong id": networktest.NewFailure(201, `{"id":"../x","items":{}}`, network.Transient, network.OutcomeUnknown,
				network.Transient),
		},
		RetryTimes: map[string]networktest.RetryTimeCase{
			"seconds": rateLimited(http.Header{"X-Ratelimit-Reset": {"7"}}, 7*time.Second),
			"a Unix time": rateLimited(http.Header{
				"X-Ratelimit-Reset": {strconv.FormatInt(networktest.Start.Add(10*time.Minute).Unix(), 10)},
			}, 10*time.Minute),
			"usual":    rateLimited(http.Header{"X-Ratelimit-Reset": {"7"}, "Retry-After": {"3"}}, 3*time.Second),
			"too long": rateLimited(http.Header{"X-Ratelimit-Reset": {"99999999999"}}, 24*time.Hour),
			"unknown":  rateLimited(nil, 0),
			"nonsense": rateLimited(http.Header{"X-Ratelimit-Reset": {"-1"}}, 0),
		},
		Resolves:   resolveCases(),
		EmptyLists: map[string]http.Handler{ready: networktest.StubResponse{Body: `{"items":[],"bookmark":null}`}},
		GiveUps: map[string]networktest.GiveUpCase{
			"forgotten": stuckVideo(networktest.StubResponse{Status: http.StatusNotFound, Body: `{"code":50}`},
				network.Transient),
			"failed": stuckVideo(networktest.StubResponse{Body: `{"status":"failed"}`}, network.RejectedMedia),
		},
	},
	Collecting: networktest.Collecting{
		Metrics: []string{"views", "likes", "comments", "saves", "clicks"}, PageSize: 100,
		CollectFailures: func(now time.Time) map[string]networktest.CollectFailure {
			return map[string]networktest.CollectFailure{
				"rate limit, account": networktest.NewCollectFailure(networktest.Interceptor{
					Part: userCall, Status: 429, Header: late, Body: `{"code":8}`,
				}, network.RateLimited, now.Add(7*time.Second), 0),
				"rate limit, list": networktest.NewCollectFailure(networktest.Interceptor{
					Part: listCall, Status: 429, Header: late, Body: `{"code":8}`,
				}, network.RateLimited, now.Add(7*time.Second), 0),
				"rate limit, reports": networktest.NewCollectFailure(networktest.Interceptor{
					Part: aloneCall, Status: 429, Header: late, Body: `{"code":8}`,
				}, network.RateLimited, now.Add(7*time.Second), 1),
				"an invalid token": networktest.NewCollectFailure(networktest.Interceptor{
					Part: userCall, Status: 401, Body: dead,
				}, network.RefreshRequired, time.Time{}, 0),
				"an invalid token, reports": networktest.NewCollectFailure(networktest.Interceptor{
					Part: severalCall, Status: 401, Body: dead,
				}, network.RefreshRequired, time.Time{}, 1),
				"pins may not be read": networktest.NewCollectFailure(networktest.Interceptor{
					Part: listCall, Status: 403, Body: `{"code":7,"message":"no"}`,
				}, network.AppNotApproved, time.Time{}, 0),
				"board deleted": networktest.NewCollectFailure(networktest.Interceptor{
					Part: listCall, Status: 404, Body: `{"code":40,"message":"Board not found."}`,
				}, network.Rejected, time.Time{}, 0),
				"a failure": networktest.NewCollectFailure(networktest.Interceptor{Part: severalCall, Status: 503},
					network.Transient, time.Time{}, 1),
				"nonsense": networktest.NewCollectFailure(networktest.Interceptor{Part: listCall, Status: 200, Body: "["},
					network.Transient, time.Time{}, 0),
			}
		},
		Withheld: map[string]networktest.WithheldCase{
			"followers": networktest.NewWithheldCase("followers", networktest.Interceptor{Part: userCall,
				Status: 403, Body: trial}),
			"metrics in the list": networktest.NewWithheldCase("", networktest.Interceptor{Part: "pin_metrics",
				Status: 400, Body: invalid}),
			"reports on several": networktest.NewWithheldCase("", networktest.Interceptor{Part: severalCall,
				Status: 403, Body: trial}),
			"not for this token": networktest.NewWithheldCase("",
				networktest.Interceptor{
					Part: severalCall, Status: 401, Body: `{"code":7,"message":"Not authorized to access board or Pin."}`,
				}),
			"all reports": networktest.NewWithheldCase("saves", networktest.Interceptor{Part: aloneCall, Status: 403, Body: trial}),
			"one metric": networktest.NewWithheldCase("", networktest.Interceptor{Part: "TOTAL_REACTIONS",
				Status: 400, Body: invalid}),
			"saves": networktest.NewWithheldCase("saves", networktest.Interceptor{Part: "SAVE", Status: 400, Body: invalid}),
			"metrics requested one by one": networktest.NewWithheldCase("",
				networktest.Interceptor{Part: severalCall, Status: 404, Body: invalid},
				networktest.Interceptor{Part: "TOTAL_REACTIONS", Status: 400, Body: invalid}),
			"everything except pins": networktest.NewWithheldCase("views likes comments clicks saves",
				networktest.Interceptor{Part: "pin_metrics", Status: 400, Body: invalid},
				networktest.Interceptor{Part: aloneCall, Status: 403, Body: trial}),
		},
	},
}

func rateLimited(header http.Header, after time.Duration) networktest.RetryTimeCase {
	r := networktest.RetryTimeCase{
		Call: 1, Response: networktest.StubResponse{Status: http.StatusTooManyRequests, Header: header,
			Body: `{"code":8}`}, Class: network.RateLimited,
	}
	if after > 0 {
		r.RetryAt = networktest.Start.Add(after)
	}
	return r
}

// stuckVideo returns a case in which the network accepts videos and always reports the same status.
func stuckVideo(video networktest.StubResponse, class network.ErrorClass) networktest.GiveUpCase {
	return networktest.GiveUpCase{Draft: planned, Class: class, Calls: 4,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodGet {
				video.ServeHTTP(w, r)
				return
			}
			networktest.StubResponse{
				Status: http.StatusCreated, Body: `{"media_id":"5","upload_url":"http://` + r.Host + `/upload"}`,
			}.ServeHTTP(w, r)
		})}
}

// resolveCases returns lists of pins, with the expected outcomes.
func resolveCases() map[string]networktest.ResolveCase {
	look := func(pins, bookmark string, verdict network.Verdict, class network.ErrorClass, id string) networktest.ResolveCase {
		return networktest.ResolveCase{
			Draft: ready, Elapsed: time.Hour,
			Handler: networktest.StubResponse{Body: `{"items":[` + pins + `],"bookmark":` + bookmark + `}`},
			Verdict: verdict, Class: class, Receipt: network.Receipt{ID: id},
		}
	}
	pin := func(id, at, description string) string {
		return `{"id":"` + id + `","created_at":"` + at + `","description":"` + description + `","media":{"media_type":"video"}}`
	}
	it := pin("5", "2026-11-21T09:00:30", " x ")
	long := pin("1", "2026-11-21T08:00:00Z", "x")
	other := strings.Join([]string{
		pin("6", "2026-11-21T09:00:30", "y"), pin("7", "2026-11-21T08:58:59", "x"),
		pin("../x", "2026-11-21T09:00:30", "x"), pin("8", "noon", "x"),
		`{"id":"9","created_at":"2026-11-21T09:00:30","description":"x","media":{"media_type":"image"}}`,
	}, ",")
	return map[string]networktest.ResolveCase{
		"nothing":    look(``, "null", network.Absent, "", ""),
		"other pins": look(other, "null", network.Absent, "", ""),
		"it":         look(other+","+it, "null", network.Published, "", "5"),
		"unknown media type": look(`{"id":"5","created_at":"2026-11-21T09:00:30","title":null,"description":"x"}`,
			"null", network.Published, "", "5"),
		"clocks differ":       look(pin("4", "2026-11-21T08:59:30+00:00", "x"), "null", network.Published, "", "4"),
		"twice":               look(it+","+it, "null", network.Unknown, network.OutcomeUnknown, ""),
		"also an older match": look(pin("4", "2026-11-21T08:59:30", "x")+","+it, "null", network.Published, "", "5"),
		"also two older matches": look(pin("4", "2026-11-21T08:59:30", "x")+","+pin("3", "2026-11-21T08:59:30", "x"), "null",
			network.Absent, "", ""),
		"newest first": look(it+","+long, `"more"`, network.Published, "", "5"),
		"not sorted": look(long+","+pin("6", "2026-11-21T09:00:30", "y"), `"more"`, network.Unknown,
			network.OutcomeUnknown, ""),
	}
}

func TestConformance(t *testing.T) {
	t.Parallel()
	networktest.Run(t, adapter)
}
