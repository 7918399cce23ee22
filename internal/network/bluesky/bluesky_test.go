package bluesky_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/network/bluesky"
	"pressroom.example/pressroom/internal/network/networktest"
)

const (
	record     = `{"$type":"app.bsky.feed.post","text":"plain","createdAt":"2026-11-21T09:30:00.000Z"}`
	ready      = `{"rkey":"3miatogtx2c22","prepared":true,"record":` + record + `}`
	unprepared = `{"rkey":"3miatogtx2c22","prepared":false,"record":` + record +
		`,"media":[{"id":1,"kind":"video","type":"video/mp4","size":100}]}`
	blob = `{"blob":{"$type":"blob","ref":{"$link":"bafkreia"},"mimeType":"video/mp4","size":`
)

var (
	picture = network.Media{Kind: network.Image, Type: "image/webp", Size: 976_000}
	film    = network.Media{Kind: network.Video, Type: "video/mp4", Size: 300_000_000, Duration: 10 * time.Minute}
)

// withChange returns the media item m with a change.
func withChange(m network.Media, change func(*network.Media)) []network.Media {
	change(&m)
	return []network.Media{m}
}

func images(count int) func(*networktest.Library) []network.Media {
	return func(l *networktest.Library) []network.Media {
		var media []network.Media
		for i := range count {
			media = append(media, l.Image("png", 5+i, 9))
		}
		return media
	}
}

var adapter = networktest.Case{
	Platform: "bluesky", Partial: true,
	CheckTraffic: checkCall, IsDescribed: isDescribed,
	New: func(base string, app network.App) network.Network {
		return bluesky.New(bluesky.Options{App: app, WebURL: base})
	},
	Signing: networktest.Signing{
		Passwords: true, RefreshAge: 3 * time.Hour, RotatesRefresh: true,
		ExpiredTokenError: networktest.ExpectedError{Class: network.RefreshRequired, Code: "ExpiredToken"},
		UnknownTokenError: networktest.ExpectedError{Class: network.ReconnectRequired, Code: "InvalidToken"},
		ExpiredRefresh:    "ExpiredToken",
		RevokedCode:       "ExpiredToken",
	},
	Publishing: networktest.Publishing{
		Posts: []networktest.Content{
			{Name: "text", Format: network.FormatText},
			{Name: "an image", Media: images(1), Format: network.FormatImage},
			{Name: "four images", Media: images(4), Format: network.FormatCarousel, Variant: true},
			{Name: "a video", Media: func(l *networktest.Library) []network.Media {
				return []network.Media{l.Video(20_000)}
			}, Format: network.FormatVideo},
		},
		FileLimits: []network.FileLimits{
			{Types: []string{"image/jpeg", "image/png", "image/webp"}, MaxBytes: 976_000, MaxSide: 2000},
			{Types: []string{"video/mp4"}, MaxBytes: 300_000_000},
		},
		Checks: map[string]networktest.CheckCase{
			"one image":   networktest.NewCheckCase(blank, []network.Media{picture}),
			"four images": networktest.NewCheckCase(blank, []network.Media{picture, picture, picture, picture}),
			"five images": networktest.NewCheckCase(blank, []network.Media{picture, picture, picture, picture,
				picture}, "!media_too_many"),
			"one video":  networktest.NewCheckCase(blank, []network.Media{film}),
			"two videos": networktest.NewCheckCase(blank, []network.Media{film, film}, "!media_too_many"),
			"both":       networktest.NewCheckCase(blank, []network.Media{picture, film}, "!media_mix"),
			"large image": networktest.NewCheckCase(blank, withChange(picture, func(m *network.Media) { m.Size++ }),
				"media_too_large"),
			"GIF": networktest.NewCheckCase(blank, withChange(picture, func(m *network.Media) { m.Type = "image/gif" }), "media_type"),
			"TIFF": networktest.NewCheckCase(blank,
				withChange(picture, func(m *network.Media) { m.Type = "image/tiff" }), "!media_type"),
			"no kind": networktest.NewCheckCase(blank, []network.Media{{Type: "application/pdf"}}, "!media_type"),
			"QuickTime": networktest.NewCheckCase(blank, withChange(film,
				func(m *network.Media) { m.Type = "video/quicktime" }), "!media_type"),
			"large video": networktest.NewCheckCase(blank, withChange(film, func(m *network.Media) { m.Size++ }),
				"!media_too_large"),
			"long video": networktest.NewCheckCase(blank, withChange(film, func(m *network.Media) { m.Duration++ }),
				"!media_too_long"),
			"several problems": networktest.NewCheckCase(blank,
				[]network.Media{{Kind: network.Video, Size: 1 << 40, Duration: time.Hour}}, "!media_type",
				"!media_too_large", "!media_too_long"),
		},
		Rejections: map[string]networktest.Rejection{
			"mixed": {Media: func(l *networktest.Library) []network.Media {
				return []network.Media{l.Image("png", 10, 10), l.Video(100)}
			}, Class: network.RejectedMedia, Code: "media_mix"},
			"a missing image": {Media: func(l *networktest.Library) []network.Media {
				return []network.Media{l.Remove(l.Image("png", 10, 10), true)}
			}, Class: network.RejectedMedia, Code: "missing"},
		},
		Drafts: []string{"null", `{"rkey":"x","prepared":true,"record":{"$type":"app.bsky.feed.post"}}`},
	},
	Failures: networktest.Failures{
		Grant: network.Grant{Account: aliceDID, Username: "alice.test"},
		Calls: []networktest.Call{
			withoutToken(networktest.ResolveCall(ready)), networktest.CommitCall(ready),
			networktest.RefreshCall("", "refresh-secret"), networktest.PrepareCall(unprepared),
		},
		Quote: func(message string) networktest.StubResponse {
			return networktest.StubResponse{Status: http.StatusBadRequest,
				Body: `{"error":"InvalidRequest","message":"` + message + `"}`}
		},
		Errors: map[string]networktest.Failure{
			"400 ExpiredToken": networktest.NewFailure(400, `{"error":"ExpiredToken"}`,
				network.RefreshRequired, network.RefreshRequired, network.ReconnectRequired),
			"400 InvalidToken": networktest.NewFailure(400, `{"error":"InvalidToken"}`,
				network.ReconnectRequired, network.ReconnectRequired, network.ReconnectRequired),
			"401 AuthMissing": networktest.NewFailure(401, `{"error":"AuthMissing"}`,
				network.ReconnectRequired, network.ReconnectRequired, network.ReconnectRequired),
			"401 AuthenticationRequired": networktest.NewFailure(401, `{"error":"AuthenticationRequired"}`,
				network.ReconnectRequired, network.ReconnectRequired, network.ReconnectRequired),
			"401 AccountTakedown": networktest.NewFailure(401, `{"error":"AccountTakedown"}`,
				network.ReconnectRequired, network.ReconnectRequired, network.ReconnectRequired),
			"401 AccountDeactivated": networktest.NewFailure(401, `{"error":"AccountDeactivated"}`,
				network.ReconnectRequired, network.ReconnectRequired, network.ReconnectRequired),
			"401 AuthFactorTokenRequired": networktest.NewFailure(401, `{"error":"AuthFactorTokenRequired"}`,
				network.ReconnectRequired, network.ReconnectRequired, network.ReconnectRequired),
			"403 AccountNotFound": networktest.NewFailure(403, `{"error":"AccountNotFound"}`,
				network.ReconnectRequired, network.ReconnectRequired, network.ReconnectRequired),
			"403 SomethingNew": networktest.NewFailure(403, `{"error":"SomethingNew"}`,
				network.ReconnectRequired, network.ReconnectRequired, network.ReconnectRequired),
			"400 InvalidRequest": networktest.NewFailure(400, `{"error":"InvalidRequest"}`,
				network.Rejected, network.Rejected, network.ReconnectRequired),
			"400 SomethingNew": networktest.NewFailure(400, `{"error":"SomethingNew"}`,
				network.Rejected, network.Rejected, network.ReconnectRequired),
			"413 PayloadTooLargeError": networktest.NewFailure(413, `{"error":"PayloadTooLargeError"}`,
				network.Rejected, network.Rejected, network.ReconnectRequired),
			"429 RateLimitExceeded": networktest.NewFailure(429, `{"error":"RateLimitExceeded"}`,
				network.RateLimited, network.RateLimited, network.RateLimited),
			"400 RateLimitExceeded": networktest.NewFailure(400, `{"error":"RateLimitExceeded"}`,
				network.RateLimited, network.RateLimited, network.RateLimited),
			"429 htmlslow downhtml": networktest.NewFailure(429, `<html>slow down</html>`, network.RateLimited,
				network.RateLimited, network.RateLimited),
			"400 InvalidSwap": networktest.NewFailure(400, `{"error":"InvalidSwap"}`,
				network.OutcomeUnknown, network.OutcomeUnknown, network.ReconnectRequired),
			"500 InternalServerError": networktest.NewFailure(500, `{"error":"InternalServerError"}`,
				network.Transient, network.OutcomeUnknown, network.Transient),
			"502 UpstreamFailure": networktest.NewFailure(502, `{"error":"UpstreamFailure"}`,
				network.Transient, network.OutcomeUnknown, network.Transient),
			"503 nothing that can be read": networktest.NewFailure(503, `nothing that can be read`,
				network.Transient, network.OutcomeUnknown, network.Transient),
			"500 ExpiredToken": networktest.NewFailure(500, `{"error":"ExpiredToken"}`,
				network.Transient, network.OutcomeUnknown, network.Transient),
			"408 Timeout": networktest.NewFailure(408, `{"error":"Timeout"}`, network.Transient,
				network.OutcomeUnknown, network.Transient),
			"403 htmlblocked on the wayhtml": networktest.NewFailure(403, `<html>blocked on the way</html>`,
				network.Transient, network.OutcomeUnknown, network.Transient),
			"404 nothing": networktest.NewFailure(404, ``, network.Transient, network.OutcomeUnknown, network.Transient),
			"201 nothing": networktest.NewFailure(201, `{}`, network.Transient, network.OutcomeUnknown, network.Transient),
			"200 uriatanotherrecord": networktest.NewFailure(200, `{"uri":"at://another/record"}`,
				network.Transient, network.OutcomeUnknown, network.Transient),
			"upload: 400 ExpiredToken": networktest.NewFailure(400, `{"error":"ExpiredToken"}`,
				networktest.Skip, networktest.Skip, networktest.Skip, network.RefreshRequired),
			"upload: 401 AuthMissing": networktest.NewFailure(401, `{"error":"AuthMissing"}`,
				networktest.Skip, networktest.Skip, networktest.Skip, network.ReconnectRequired),
			"upload: 400 BlobTooLarge": networktest.NewFailure(400, `{"error":"BlobTooLarge"}`,
				networktest.Skip, networktest.Skip, networktest.Skip, network.RejectedMedia),
			"upload: 400 InvalidRequest": networktest.NewFailure(400, `{"error":"InvalidRequest"}`,
				networktest.Skip, networktest.Skip, networktest.Skip, network.RejectedMedia),
			"upload: 413 PayloadTooLarge": networktest.NewFailure(413, `{"error":"PayloadTooLarge"}`,
				networktest.Skip, networktest.Skip, networktest.Skip, network.RejectedMedia),
			"upload: 413 htmltoo largehtml": networktest.NewFailure(413, `<html>too large</html>`, networktest.Skip,
				networktest.Skip, networktest.Skip, network.RejectedMedia),
			"upload: 415 UnsupportedMediaType": networktest.NewFailure(415, `{"error":"UnsupportedMediaType"}`,
				networktest.Skip, networktest.Skip, networktest.Skip, network.RejectedMedia),
			"upload: 429 RateLimitExceeded": networktest.NewFailure(429, `{"error":"RateLimitExceeded"}`,
				networktest.Skip, networktest.Skip, networktest.Skip, network.RateLimited),
			"upload: 400 htmlblocked on the wayhtml": networktest.NewFailure(400, `<html>blocked on the way</html>`,
				networktest.Skip, networktest.Skip, networktest.Skip, network.Transient),
			"upload: 500 InternalServerError": networktest.NewFailure(500, `{"error":"InternalServerError"}`,
				networktest.Skip, networktest.Skip, networktest.Skip, network.Transient),
			"upload: 504 UpstreamTimeout": networktest.NewFailure(504, `{"error":"UpstreamTimeout"}`, networktest.Skip,
				networktest.Skip, networktest.Skip, network.Transient),
			"upload: 200 ": networktest.NewFailure(200, `{}`, networktest.Skip, networktest.Skip, networktest.Skip,
				network.Transient),
			"upload: 200 blob3": networktest.NewFailure(200, `{"blob":3}`, networktest.Skip, networktest.Skip,
				networktest.Skip, network.Transient),
			"upload: 200 blob  1": networktest.NewFailure(200, blob+`1}}`, networktest.Skip, networktest.Skip,
				networktest.Skip, network.Transient),
		},
		RetryTimes: map[string]networktest.RetryTimeCase{
			"a time":     rateLimited("ratelimit-reset", "1795253430", 30*time.Second),
			"too late":   rateLimited("ratelimit-reset", "99999999999", 24*time.Hour),
			"seconds":    rateLimited("Retry-After", "7", 7*time.Second),
			"a date":     rateLimited("Retry-After", "Sat, 21 Nov 2026 09:30:30 GMT", 30*time.Second),
			"below zero": rateLimited("Retry-After", "-5", 0),
			"unknown":    rateLimited("Retry-After", "", 0),
			"invalid":    rateLimited("ratelimit-reset", "soon", 0),
		},
	},
	Collecting: networktest.Collecting{Metrics: []string{"likes", "comments", "shares", "saves"}},
}

// withoutToken returns a call that sends no token.
func withoutToken(call networktest.Call) networktest.Call {
	call.Secrets = nil
	return call
}

func rateLimited(header, value string, after time.Duration) networktest.RetryTimeCase {
	answer := networktest.StubResponse{
		Status: http.StatusTooManyRequests, Header: http.Header{http.CanonicalHeaderKey(header): {value}},
		Body: `{"error":"RateLimitExceeded"}`,
	}
	r := networktest.RetryTimeCase{Call: 1, Response: answer, Class: network.RateLimited}
	if after > 0 {
		r.RetryAt = networktest.Start.Add(after)
	}
	return r
}

// checkCall checks that a request and the sandbox's response match the network's lexicons.
func checkCall(t *testing.T, r networktest.Request) { networktest.CheckXRPC(t, r) }

// isDescribed reports whether the lexicons describe a request. They lack the parameters of the video service's upload.
func isDescribed(r networktest.Request) bool {
	return strings.Contains(r.URL.Path, "/xrpc/") && !strings.HasSuffix(r.URL.Path, ".uploadVideo")
}

func TestConformance(t *testing.T) {
	t.Parallel()
	networktest.Run(t, adapter)
}
