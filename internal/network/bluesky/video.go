package bluesky

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/network"
)

const (
	jobInterval         = 3 * time.Second  // between checks of a video's processing
	uploadTokenLifetime = 30 * time.Minute // recommended
	maxVideoUploads     = 3
	videoQuotaWait      = 24 * time.Hour // used because the service does not report a time
	uploadBlobMethod    = "com.atproto.repo.uploadBlob"
	limitsMethod        = "app.bsky.video.getUploadLimits"
)

// usesVideoService reports whether Bluesky's video service processes the account's videos before they are posted. The
// service cannot reach servers without TLS, such as test servers and servers in local networks.
//
// Source: https://docs.bsky.app/docs/tutorials/video
func (n *Network) usesVideoService(g network.Grant) bool {
	server, err := url.Parse(g.Server)
	return err == nil && (server.Scheme == "https" || !strings.HasPrefix(n.opts.VideoURL, "https:"))
}

// job is the processing of one video (lexicon app.bsky.video.defs).
type job struct {
	ID          string          `json:"jobId"`
	State       string          `json:"state"`
	Blob        json.RawMessage `json:"blob"`
	FailureCode string          `json:"failureCode"`
	Error       string          `json:"error"`
	Message     string          `json:"message"`
}

const jobFailed = "JOB_STATE_FAILED"

// hasBlob reports whether the video has been processed. The state alone does not show this: if the service processed
// the same video before, the state is a failure with the error already_exists.
//
// Source: https://docs.bsky.app/docs/tutorials/video
func (j job) hasBlob() bool { return len(j.Blob) > 0 && string(j.Blob) != "null" }

// videoBlob returns the processed video of a draft. While the service is processing the video, the blob is nil and the
// duration is the wait before the next call. If the draft has no job, videoBlob uploads the video.
func (n *Network) videoBlob(
	ctx context.Context, g network.Grant, d *draft, files network.Files,
) (json.RawMessage, time.Duration, error) {
	var videoJob job
	var err error
	if d.Job != "" {
		videoJob, err = n.readVideoJob(ctx, d.Job)
		var netErr *network.Error
		if errors.As(err, &netErr) && netErr.Class == network.Rejected { // the job is unknown
			videoJob, err = job{State: jobFailed, Error: netErr.Code}, nil
		}
		if err != nil {
			return nil, 0, err
		}
	}
	if !videoJob.hasBlob() && (d.Job == "" || videoJob.State == jobFailed) {
		if failure := videoJob.failure(); d.Job != "" && (failure.Class != network.Transient || d.Uploads >= maxVideoUploads) {
			failure.Host = n.opts.VideoURL
			return nil, 0, failure
		}
		if videoJob, err = n.uploadVideo(ctx, g, d, files); err != nil {
			return nil, 0, err
		}
		d.Job = videoJob.ID
		d.Uploads++
	}
	if !videoJob.hasBlob() {
		return nil, jobInterval, nil
	}
	if err := checkBlob(videoJob.Blob, anySize); err != nil {
		return nil, 0, n.serviceError(network.InvalidResponse(err))
	}
	return videoJob.Blob, 0, nil
}

// failure returns the error for a failed job. Its class is Transient if another upload may succeed.
func (j job) failure() *network.Error {
	class := network.Transient
	switch j.FailureCode {
	case "validation_failure", "encoding_failure", "pds_upload_unsupported_blob_size":
		class = network.RejectedMedia
	}
	code := j.FailureCode
	if code == "" && errorName.MatchString(j.Error) {
		code = j.Error
	}
	return &network.Error{
		Class: class, Status: http.StatusOK, Code: code, Message: network.Clip(j.Message, maxMessage),
		Err: errors.New("the video service could not process the video"),
	}
}

// readVideoJob returns the state of a job. The request needs no token.
func (n *Network) readVideoJob(ctx context.Context, id string) (job, error) {
	var response struct {
		Status job `json:"jobStatus"`
	}
	err := n.call(ctx, call{
		purpose: network.PurposeRead, verb: http.MethodGet, method: "app.bsky.video.getJobStatus",
		server: n.opts.VideoURL, params: url.Values{"jobId": {id}}, out: &response,
	})
	return response.Status, n.serviceError(err)
}

// uploadVideo sends the video to the service and returns the job that processes it. If the service already has the
// video, it returns the job of the first upload.
func (n *Network) uploadVideo(ctx context.Context, g network.Grant, d *draft, files network.Files) (job, error) {
	token, err := n.serviceToken(ctx, g, g.Server, uploadBlobMethod)
	if err != nil {
		return job{}, err
	}
	file, err := files.Open(ctx, d.Media[0].ID, n.opts.Rules.FileLimits(network.Video))
	if err != nil {
		return job{}, network.FileError(err)
	}
	var response struct {
		job // format that the service sends

		Status job `json:"jobStatus"` // format in the lexicon
	}
	err = n.call(ctx, call{
		purpose: network.PurposeTransfer, verb: http.MethodPost, method: "app.bsky.video.uploadVideo",
		server: n.opts.VideoURL, token: token, file: &file, out: &response, orStatus: http.StatusConflict,
		params: url.Values{"did": {g.Account}, "name": {d.RKey + ".mp4"}},
	})
	if err != nil {
		return job{}, n.serviceError(err)
	}
	if response.Status.ID == "" && !response.Status.hasBlob() {
		response.Status = response.job
	}
	if j := response.Status; j.ID == "" && !j.hasBlob() && j.Error+j.Message != "" {
		return job{}, n.uploadRejection(j)
	}
	if response.Status.ID == "" && !response.Status.hasBlob() {
		return job{}, n.serviceError(network.InvalidResponse(errors.New("uploading a video: the response has no job")))
	}
	return response.Status, nil
}

// uploadRejection returns the error for an upload that the service does not process. The service sends the reason as
// the error or as the message.
func (n *Network) uploadRejection(j job) *network.Error {
	netErr := &network.Error{
		Class: network.RejectedMedia, Status: http.StatusOK, Message: network.Clip(cmp.Or(j.Message, j.Error), maxMessage),
		Err: errors.New("the video service did not accept the video"),
	}
	if errorName.MatchString(j.Error) {
		netErr.Code = j.Error
	}
	if isQuotaUsed(netErr) {
		netErr.Class, netErr.RetryAt = network.QuotaExceeded, n.quotaEnd()
	}
	return netErr
}

// isQuotaUsed reports whether the account has used up its quota for today. Some responses only report this in a
// message, such as "User has exceeded daily upload videos limit".
func isQuotaUsed(netErr *network.Error) bool {
	return netErr.Code == "DailyLimitExceeded" || strings.Contains(netErr.Message, "exceeded daily upload")
}

// errNoVideoService means that the video service does not support the account.
var errNoVideoService = errors.New("the video service does not support the account")

// checkVideoLimits returns an error if the service would not accept the video today. It returns errNoVideoService if
// the service does not know the account or the account's server does not issue tokens for the service.
func (n *Network) checkVideoLimits(ctx context.Context, g network.Grant, size int64) error {
	token, err := n.serviceToken(ctx, g, n.opts.VideoURL, limitsMethod)
	var netErr *network.Error
	if errors.As(err, &netErr) && netErr.Status == http.StatusNotImplemented {
		return errNoVideoService
	}
	if err != nil {
		return err
	}
	var limits struct {
		CanUpload bool   `json:"canUpload"`
		Videos    *int64 `json:"remainingDailyVideos"`
		Bytes     *int64 `json:"remainingDailyBytes"`
		Error     string `json:"error"`
		Message   string `json:"message"`
	}
	err = n.call(ctx, call{
		purpose: network.PurposeRead, verb: http.MethodGet, method: limitsMethod, server: n.opts.VideoURL,
		token: token, out: &limits,
	})
	if errors.As(err, &netErr) && (netErr.Status == http.StatusUnauthorized || netErr.Status == http.StatusForbidden) {
		return errNoVideoService
	}
	if err != nil {
		return n.serviceError(err)
	}
	quotaUsed := limits.Videos != nil && *limits.Videos <= 0 || limits.Bytes != nil && *limits.Bytes < size
	if limits.CanUpload && !quotaUsed {
		return nil
	}
	return n.limitError(quotaUsed, limits.Error, limits.Message)
}

// limitError returns the error for a video that the service does not accept. If quotaUsed is true, the account has used
// up its quota.
func (n *Network) limitError(quotaUsed bool, code, message string) *network.Error {
	rejection := &network.Error{
		Class: network.RejectedMedia, Status: http.StatusOK, Message: network.Clip(message, maxMessage),
		Err: errors.New("the video service does not accept the video today"),
	}
	if errorName.MatchString(code) {
		rejection.Code = code
	}
	if quotaUsed {
		rejection.Class, rejection.RetryAt = network.QuotaExceeded, n.quotaEnd()
	}
	return rejection
}

// quotaEnd returns when the service accepts videos again after the account has used up its quota.
func (n *Network) quotaEnd() time.Time { return n.opts.Now().Add(videoQuotaWait).UTC() }

// serviceToken requests a token from the account's server. The token is valid for one method of the service at the URL
// service.
func (n *Network) serviceToken(ctx context.Context, g network.Grant, service, method string) (string, error) {
	target, err := serverURL(service)
	if err != nil {
		return "", network.PermanentError(err)
	}
	var response struct {
		Token string `json:"token"`
	}
	err = n.call(ctx, call{
		purpose: network.PurposeRead, verb: http.MethodGet, method: "com.atproto.server.getServiceAuth",
		server: g.Server,
		token:  g.AccessToken, out: &response, params: url.Values{
			"aud": {"did:web:" + strings.ReplaceAll(target.Host, ":", "%3A")}, "lxm": {method},
			"exp": {strconv.FormatInt(n.opts.Now().Add(tokenLifetime(method)).Unix(), 10)},
		},
	})
	if err == nil && response.Token == "" {
		err = network.InvalidResponse(errors.New("requesting a service token: the response has no token"))
	}
	return response.Token, err
}

// tokenLifetime returns the lifetime to request for a service token. An upload can take longer than the default of a
// minute.
func tokenLifetime(method string) time.Duration {
	if method == uploadBlobMethod {
		return uploadTokenLifetime
	}
	return time.Minute
}

// serviceError adapts the error of a call to the video service. If the service rejects its token, the account's own
// token may still be valid. An outage of the service does not count as an outage of the account's server.
func (n *Network) serviceError(err error) error {
	var netErr *network.Error
	if !errors.As(err, &netErr) {
		return err
	}
	newErr := *netErr
	newErr.Host = n.opts.VideoURL
	switch {
	case isQuotaUsed(netErr):
		newErr.Class, newErr.RetryAt = network.QuotaExceeded, n.quotaEnd()
	case netErr.Class == network.ReconnectRequired, netErr.Class == network.RefreshRequired:
		newErr.Class = network.Transient
	}
	return &newErr
}
