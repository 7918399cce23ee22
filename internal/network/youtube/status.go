package youtube

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"time"

	"pressroom.example/pressroom/internal/network"
)

// videoStatus is the status of an uploaded video.
type videoStatus struct {
	Upload    string `json:"uploadStatus"`
	Failure   string `json:"failureReason"`
	Rejection string `json:"rejectionReason"`
	Privacy   string `json:"privacyStatus"`
}

// Values of uploadStatus.
const (
	statusProcessed = "processed"
	statusFailed    = "failed"
	statusRejected  = "rejected"
	statusDeleted   = "deleted"
)

// classByRejection maps the reasons why YouTube rejects a video after its upload to classes. Other reasons, such as
// copyright, are Rejected. Source: the discovery document of the Data API, revision 20261019.
var classByRejection = map[string]network.ErrorClass{
	"duplicate":                network.Duplicate,
	"length":                   network.RejectedMedia, // more than 15 minutes on an unverified channel
	"uploaderAccountClosed":    network.ReconnectRequired,
	"uploaderAccountSuspended": network.ReconnectRequired,
}

const (
	minStatusInterval = 5 * time.Second
	maxStatusInterval = time.Minute
)

const (
	codeLocked       = "privacyStatus" // code for a video that YouTube keeps private, used by network.NextStep
	codeVideoDeleted = "video_deleted" // code for a locked video that the channel no longer has
)

// outcome returns the receipt of a video that is processed and has the planned audience, else an error. YouTube assigns
// the ID before it processes the file. A video with an ID may therefore be in processing, rejected, or visible only to
// its channel.
func (n *Network) outcome(d draft, v video) (network.Receipt, error) {
	s := v.Status
	switch {
	case s.Upload == statusRejected:
		class := cmp.Or(classByRejection[s.Rejection], network.Rejected)
		return network.Receipt{}, rejectedVideoError(class, "rejectionReason", cmp.Or(s.Rejection, "unknown"))
	case s.Upload == statusFailed:
		return network.Receipt{}, rejectedVideoError(network.RejectedMedia, "failureReason", cmp.Or(s.Failure, "unknown"))
	case s.Upload == statusDeleted:
		return network.Receipt{}, rejectedVideoError(network.Rejected, "uploadStatus", statusDeleted)
	case s.Privacy == privacyPrivate && d.Privacy != privacyPrivate:
		return network.Receipt{}, n.lockedVideoError(d, v)
	case s.Upload == statusProcessed && s.Privacy != "":
		return n.receipt(v.ID, v.Snippet.PublishedAt), nil
	}
	return network.Receipt{}, n.processingVideoError(d, v)
}

// lockedVideoError returns the error for a video that YouTube keeps private. With the error's Draft, Prepare reads the
// status of the video instead of uploading the video again.
func (n *Network) lockedVideoError(d draft, v video) *network.Error {
	netErr := rejectedVideoError(network.AppNotApproved, codeLocked, privacyPrivate)
	netErr.Code, netErr.Hidden = codeLocked, n.receipt(v.ID, v.Snippet.PublishedAt)
	d.Video, d.Locked = v.ID, true
	if d.UploadedAt.IsZero() {
		d.UploadedAt = n.opts.Now().UTC()
	}
	netErr.Draft, _ = drafts.Encode(d)
	return netErr
}

// rejectedVideoError returns the error for a video that has an ID but is not visible. member is the field of the video
// resource that states the reason, and value is its value.
func rejectedVideoError(class network.ErrorClass, member, value string) *network.Error {
	value = network.Clip(value, maxName)
	return &network.Error{
		Class: class, Status: http.StatusOK, Code: value, Message: member + ": " + value,
		Err: errors.New("YouTube has the video, but people cannot see it"),
	}
}

// processingVideoError returns the error for a video that YouTube is still processing. The interval between checks
// grows, because each check uses some of the app's daily quota. The error's Draft has the video's ID.
func (n *Network) processingVideoError(d draft, v video) *network.Error {
	now := n.opts.Now()
	d.Video = v.ID
	if d.UploadedAt.IsZero() {
		d.UploadedAt = now.UTC()
	}
	wait := min(max(now.Sub(d.UploadedAt)/4, minStatusInterval), maxStatusInterval)
	netErr := &network.Error{
		Class: network.Processing, Status: http.StatusOK, Code: network.Clip(v.Status.Upload, maxName),
		RetryAt: now.Add(wait).UTC(), Err: errors.New("YouTube is still processing the video"),
	}
	netErr.Draft, _ = drafts.Encode(d)
	return netErr
}

// checkVideo reads a video's status and returns the verdict for it.
func (n *Network) checkVideo(ctx context.Context, g network.Grant, d draft, id string) (
	network.Verdict, network.Receipt, error,
) {
	var response struct {
		Items []video `json:"items"`
	}
	query := url.Values{"part": {"snippet,status"}, "id": {id}}
	if err := n.read(ctx, g, "videos", query, &response); err != nil {
		return network.Unknown, network.Receipt{}, err
	}
	current := video{ID: id} // a new video may not be listed yet
	if i := slices.IndexFunc(response.Items, func(v video) bool { return v.ID == id }); i >= 0 {
		current = response.Items[i]
	} else if d.Locked && n.opts.Now().Sub(d.UploadedAt) >= time.Duration(n.opts.ListingDelay) {
		return network.Absent, network.Receipt{}, &network.Error{
			Class: network.Transient, Status: http.StatusOK, Code: codeVideoDeleted, Err: errors.New("a person deleted the video"),
		}
	}
	receipt, err := n.outcome(d, current)
	if netErr, ok := errors.AsType[*network.Error](err); ok && netErr.Class == network.Processing {
		return network.Unknown, network.Receipt{}, err
	}
	if err != nil {
		return network.Absent, network.Receipt{}, err
	}
	return network.Published, receipt, nil
}
