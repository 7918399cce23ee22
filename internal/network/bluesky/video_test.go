package bluesky_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/network/bluesky"
	"pressroom.example/pressroom/internal/network/networktest"
	"pressroom.example/pressroom/internal/testkit/must"
)

func oneFilm(l *networktest.Library) []network.Media { return []network.Media{l.Video(20_000)} }

// withVideoService is the adapter with the sandbox's video service.
var withVideoService = func() networktest.Case {
	c := adapter
	c.New = func(base string, app network.App) network.Network {
		return bluesky.New(bluesky.Options{App: app, WebURL: base, VideoURL: base + "/video"})
	}
	c.Posts = []networktest.Content{
		{Name: "text", Format: network.FormatText},
		{
			Name: "a video", Media: oneFilm, Format: network.FormatVideo, UploadStart: "uploadVideo",
		},
	}
	c.FileLimits = c.FileLimits[1:]
	c.Checks, c.Rejections = nil, nil
	c.Failures = networktest.Failures{Grant: c.Grant, Quote: c.Quote}
	return c
}()

func TestVideoServiceConformance(t *testing.T) {
	t.Parallel()
	networktest.Run(t, withVideoService)
}

// A video is posted after the service has processed it. Calls to the service use tokens that are valid only for the
// service.
func TestVideoProcessing(t *testing.T) {
	t.Parallel()
	f := networktest.New(t, withVideoService, 10*time.Second)
	g := f.Grant()
	drafts, err := f.Drafts(g, f.Plan("film", oneFilm(f.Library)...))
	if err != nil || len(drafts) != 6 { // it takes 10 seconds, and is checked every 3
		t.Fatalf("%d drafts, %v", len(drafts), err)
	}
	if direct := f.Transport.Count("/xrpc/com.atproto.repo.uploadBlob"); direct != 0 {
		t.Errorf("%d uploads to the account's server", direct)
	}
	var methods []string
	for _, r := range f.Transport.Requests("getServiceAuth") {
		q := r.URL.Query()
		methods = append(methods, q.Get("lxm"))
		if !strings.HasPrefix(q.Get("aud"), "did:web:127.0.0.1%3A") || q.Get("exp") == "" {
			t.Errorf("%v", q)
		}
	}
	if len(methods) != 2 || methods[0] != "app.bsky.video.getUploadLimits" || methods[1] != "com.atproto.repo.uploadBlob" {
		t.Error(methods)
	}
	for _, r := range f.Transport.Requests("/xrpc/app.bsky.video") {
		if strings.Contains(r.Header.Get("Authorization"), g.AccessToken) {
			t.Errorf("%s has the account's own token", r.URL.Path)
		}
	}
	upload := f.Transport.Requests("uploadVideo")[0]
	if q := upload.URL.Query(); q.Get("did") != g.Account || !strings.HasSuffix(q.Get("name"), ".mp4") ||
		upload.Header.Get("Content-Type") != "video/mp4" {
		t.Errorf("%v, %v", upload.URL, upload.Header)
	}
}

// A video that was posted before is not processed again. The response to such an upload is an error that contains the
// existing blob.
func TestKnownVideo(t *testing.T) {
	t.Parallel()
	f := networktest.New(t, withVideoService, 0)
	g := f.Grant()
	media := oneFilm(f.Library)
	f.MustPrepare(g, "film", media...)
	asked := f.Transport.Count("getJobStatus")
	f.MustPrepare(g, "again", media...)
	if sent, now := f.Transport.Count("uploadVideo"), f.Transport.Count("getJobStatus"); sent != 2 || now != asked {
		t.Errorf("%d uploads, %d more checks of the job", sent, now-asked)
	}
}

// No video is uploaded for an account that has used up its daily quota.
func TestVideoLimits(t *testing.T) {
	t.Parallel()
	f := networktest.New(t, withVideoService, 0)
	g := f.Grant()
	for i := range 25 {
		f.MustPrepare(g, "film", f.Library.Video(1000+i))
	}
	_, err := f.Prepare(g, f.Plan("one more", oneFilm(f.Library)...))
	failed := networktest.WantClass(t, err, network.QuotaExceeded, "")
	if want := f.Clock.Now().Add(24 * time.Hour); !failed.RetryAt.Equal(want) || failed.Message == "" {
		t.Errorf("%+v, want after %v", failed, want)
	}
	if sent := f.Transport.Count("uploadVideo"); sent != 25 {
		t.Errorf("%d uploads", sent)
	}
	f.Clock.Advance(24 * time.Hour)
	f.MustPrepare(f.Grant(), "tomorrow", oneFilm(f.Library)...)
}

func TestVideoOfUnconfirmedAccount(t *testing.T) {
	t.Parallel()
	f := networktest.New(t, withVideoService, 0)
	g := f.Connect("", networktest.Unconfirmed)
	_, err := f.Prepare(g, f.Plan("film", oneFilm(f.Library)...))
	failed := networktest.WantClass(t, err, network.RejectedMedia, "")
	if !strings.Contains(failed.Message, "confirm your email") || f.Transport.Count("upload") != 0 {
		t.Errorf("%+v", failed)
	}
	f.Publish(g, f.MustPrepare(g, "text"))
}

// videoServer responds to each call with the next of its method's answers.
func videoServer(t *testing.T, answers map[string][]networktest.StubResponse) (*networktest.Stub, map[string]int) {
	t.Helper()
	calls := map[string]int{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		method := r.URL.Path[strings.LastIndexByte(r.URL.Path, '.')+1:]
		turns := answers[method]
		if len(turns) == 0 {
			turns = []networktest.StubResponse{{Body: map[string]string{
				"getServiceAuth":  `{"token":"service"}`,
				"getUploadLimits": `{"canUpload":true}`,
				"uploadVideo":     `{"jobId":"j1","state":"JOB_STATE_CREATED"}`,
			}[method]}}
		}
		turn := turns[min(calls[method], len(turns)-1)]
		calls[method]++
		turn.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	s := networktest.NewStub(t, withVideoService, network.App{}, http.NotFoundHandler())
	s.Network = withVideoService.New(server.URL, network.App{Now: func() time.Time { return networktest.Start }})
	s.Grant.Server = server.URL
	return s, calls
}

// prepareAll prepares until the draft is ready or fails.
func prepareAll(t *testing.T, s *networktest.Stub) (network.Draft, error) {
	t.Helper()
	d := network.Draft(unprepared)
	for range 10 {
		next, wait, err := s.Network.Prepare(t.Context(), s.Grant, d, s.Library)
		if err != nil || wait == 0 {
			return next, err
		}
		d = next
	}
	t.Fatal("never ready")
	return nil, nil
}

const (
	processed = `{"jobStatus":{"jobId":"j1","state":"JOB_STATE_COMPLETED","blob":` +
		`{"$type":"blob","ref":{"$link":"bafkreia"},"mimeType":"video/mp4","size":7}}}`
	known = `{"jobId":"j1","state":"JOB_STATE_FAILED","error":"already_exists","message":"Video already processed",` +
		`"blob":{"$type":"blob","ref":{"$link":"bafkreia"},"mimeType":"video/mp4","size":7}}`
	jobFailure = `{"jobStatus":{"jobId":"j1","state":"JOB_STATE_FAILED","failureCode":"%s","message":"why"}}`
)

// Prepare fails immediately if the video is invalid. Other failed jobs are retried a few times.
func TestVideoJobs(t *testing.T) {
	t.Parallel()
	status := func(bodies ...string) map[string][]networktest.StubResponse {
		var turns []networktest.StubResponse
		for _, body := range bodies {
			turns = append(turns, networktest.StubResponse{Body: body})
		}
		return map[string][]networktest.StubResponse{"getJobStatus": turns}
	}
	unknown := map[string][]networktest.StubResponse{
		"getJobStatus": {{Status: 400, Body: `{"error":"InvalidRequest","message":"Job not found"}`}},
	}
	for name, c := range map[string]struct {
		answers map[string][]networktest.StubResponse
		class   network.ErrorClass
		code    string
		uploads int
	}{
		"processed":     {status(`{"jobStatus":{"jobId":"j1","state":"JOB_STATE_NEW_WORD"}}`, processed), "", "", 1},
		"invalid":       {status(fmt.Sprintf(jobFailure, "validation_failure")), network.RejectedMedia, "validation_failure", 1},
		"cannot encode": {status(fmt.Sprintf(jobFailure, "encoding_failure")), network.RejectedMedia, "encoding_failure", 1},
		"too large":     {status(fmt.Sprintf(jobFailure, "pds_upload_unsupported_blob_size")), network.RejectedMedia, "", 1},
		"fails once":    {status(fmt.Sprintf(jobFailure, "generic_failure"), processed), "", "", 2},
		"fails always":  {status(fmt.Sprintf(jobFailure, "pds_upload_failure")), network.Transient, "pds_upload_failure", 3},
		"unknown job":   {unknown, network.Transient, "InvalidRequest", 3},
		"not a blob":    {status(`{"jobStatus":{"jobId":"j1","state":"JOB_STATE_COMPLETED","blob":{}}}`), network.Transient, "", 1},
		"uploaded before": {map[string][]networktest.StubResponse{
			"uploadVideo":  {{Status: 409, Body: `{"jobId":"j1","state":"JOB_STATE_COMPLETED","error":"already_exists"}`}},
			"getJobStatus": {{Body: processed}},
		}, "", "", 1},
		"processed before":     {map[string][]networktest.StubResponse{"uploadVideo": {{Status: 409, Body: known}}}, "", "", 1},
		"known once processed": {status(`{"jobStatus":` + known + `}`), "", "", 1},
		"no blob yet": {status(`{"jobStatus":{"jobId":"j1","state":"JOB_STATE_ENCODING","blob":null}}`,
			processed), "", "", 1},
		"response as in the lexicon": {map[string][]networktest.StubResponse{"uploadVideo": {{Body: processed}}}, "", "", 1},
		"no job":                     {map[string][]networktest.StubResponse{"uploadVideo": {{Body: `{}`}}}, network.Transient, "", 1},
		"daily limit, by code": {map[string][]networktest.StubResponse{
			"uploadVideo": {{Status: 400, Body: `{"error":"DailyLimitExceeded"}`}},
		}, network.QuotaExceeded, "DailyLimitExceeded", 1},
		"daily limit, by error text": {map[string][]networktest.StubResponse{
			"uploadVideo": {{Body: `{"error":"User has exceeded daily upload bytes limit"}`}},
		}, network.QuotaExceeded, "", 1},
		"daily limit, by message": {map[string][]networktest.StubResponse{
			"uploadVideo": {{Status: 400, Body: `{"error":"BadRequest","message":"User has exceeded daily upload videos limit"}`}},
		}, network.QuotaExceeded, "BadRequest", 1},
		"unconfirmed": {map[string][]networktest.StubResponse{
			"uploadVideo": {{Body: `{"jobId":"","error":"unconfirmed_email","message":"why"}`}},
		}, network.RejectedMedia, "unconfirmed_email", 1},
		"rejected by error text": {map[string][]networktest.StubResponse{
			"uploadVideo": {{Body: `{"error":"Account is not old enough to upload videos: why"}`}},
		}, network.RejectedMedia, "", 1},
		"unconfirmed by the limits": {map[string][]networktest.StubResponse{
			"getUploadLimits": {{Body: `{"canUpload":false,"error":"unconfirmed_email","message":"why"}`}},
		}, network.RejectedMedia, "unconfirmed_email", 0},
		"token rejected": {map[string][]networktest.StubResponse{
			"uploadVideo": {{Status: 401, Body: `{"error":"AuthenticationRequired"}`}},
		}, network.Transient, "AuthenticationRequired", 1},
		"status rejected": {map[string][]networktest.StubResponse{
			"getJobStatus": {{Status: 401, Body: `{"error":"AuthenticationRequired"}`}},
		}, network.Transient, "AuthenticationRequired", 1},
		"status forbidden": {map[string][]networktest.StubResponse{
			"getJobStatus": {{Status: 403, Body: `{"error":"Forbidden"}`}},
		}, network.Transient, "Forbidden", 1},
		"dead session": {map[string][]networktest.StubResponse{
			"getServiceAuth": {{Status: 400, Body: `{"error":"ExpiredToken"}`}},
		}, network.RefreshRequired, "ExpiredToken", 0},
		"no token": {map[string][]networktest.StubResponse{"getServiceAuth": {{Body: `{}`}}}, network.Transient, "", 0},
		"service unavailable": {map[string][]networktest.StubResponse{"getUploadLimits": {{Status: 503}}},
			network.Transient, "", 0},
		"no bytes left": {map[string][]networktest.StubResponse{
			"getUploadLimits": {{Body: `{"canUpload":true,"remainingDailyVideos":3,"remainingDailyBytes":99}`}},
		}, network.QuotaExceeded, "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, calls := videoServer(t, c.answers)
			d, err := prepareAll(t, s)
			if c.class == "" {
				must.NoError(t, err)
				if !strings.Contains(string(d), `"$link":"bafkreia"`) || calls["uploadBlob"] != 0 {
					t.Errorf("%s after %v", d, calls)
				}
			} else {
				failed := networktest.WantClass(t, err, c.class, c.code)
				wantHost(t, failed, c.answers)
				if tomorrow := networktest.Start.Add(24 * time.Hour); c.class == network.QuotaExceeded &&
					!failed.RetryAt.Equal(tomorrow) {
					t.Errorf("not before %v", failed.RetryAt)
				}
				if c.class == network.RejectedMedia && !strings.HasSuffix(failed.Message, "why") {
					t.Errorf("message %q", failed.Message)
				}
			}
			if calls["uploadVideo"] != c.uploads {
				t.Errorf("%v", calls)
			}
		})
	}
}

// wantHost checks that a failure of the video service has the service as its Host, so that it does not count against
// the account's server.
func wantHost(t *testing.T, failed *network.Error, answers map[string][]networktest.StubResponse) {
	t.Helper()
	_, ofServer := answers["getServiceAuth"]
	if failed.Class == network.Transient && ofServer == (failed.Host != "") {
		t.Errorf("host %q", failed.Host)
	}
}

// If the service does not support an account, videos are uploaded to the account's server.
func TestVideoWithoutService(t *testing.T) {
	t.Parallel()
	blob := []networktest.StubResponse{{Body: `{"blob":{"$type":"blob","ref":{"$link":"bafkreia"},"mimeType":"video/mp4","size":100}}`}}
	for name, answers := range map[string]map[string][]networktest.StubResponse{
		"a server without service tokens": {"getServiceAuth": {{Status: 501, Body: `{"error":"MethodNotImplemented"}`}}},
		"a service that rejects the token": {
			"getUploadLimits": {{Status: 401, Body: `{"error":"AuthenticationRequired"}`}},
		},
	} {
		answers["uploadBlob"] = blob
		s, calls := videoServer(t, answers)
		if _, err := prepareAll(t, s); err != nil || calls["uploadBlob"] != 1 || calls["uploadVideo"] != 0 {
			t.Errorf("%s: %v, %v", name, calls, err)
		}
	}
}
