package pinterest

import (
	"context"
	"errors"
	"net/http"
	"time"

	"pressroom.example/pressroom/internal/network"
)

const (
	minPoll     = 2 * time.Second
	maxPoll     = time.Minute
	maxRestarts = 3
)

// Prepare looks up the section, uploads a video and waits until the network has processed it. Images need no
// preparation: the network fetches them when the pin is created.
func (n *Network) Prepare(
	ctx context.Context, g network.Grant, d network.Draft, files network.Files,
) (network.Draft, time.Duration, error) {
	return drafts.Prepare(d, func(p *draft) (time.Duration, error) {
		wait, err := n.advance(ctx, g, p, files)
		if wait == 0 && err == nil && p.PreparedAt.IsZero() {
			p.PreparedAt = n.opts.Now().UTC()
		}
		return wait, err
	})
}

// advance performs steps until the network needs time. It returns the time to wait, or 0 if all steps are done.
func (n *Network) advance(ctx context.Context, g network.Grant, d *draft, files network.Files) (time.Duration, error) {
	if _, err := boardID(g); err != nil {
		return 0, err
	}
	if d.PreparedAt.IsZero() && d.Video == "" {
		if err := network.BlockingError(n.Check(d.content())); err != nil {
			return 0, err
		}
	}
	if err := n.findSection(ctx, g, d); err != nil || !d.isVideo() {
		return 0, err
	}
	if d.Video == "" {
		var err error
		if d.Video, err = n.upload(ctx, g, d.Media[0], files); err != nil {
			return 0, err
		}
		d.UploadedAt = n.opts.Now().UTC()
	}
	return n.pollVideo(ctx, g, d)
}

// pollVideo returns 0 if the network has processed the video, else the time until the next check.
func (n *Network) pollVideo(ctx context.Context, g network.Grant, d *draft) (time.Duration, error) {
	var video struct {
		Status string `json:"status"`
	}
	err := n.do(ctx, n.newCall(g, http.MethodGet, "media/"+d.Video), &video)
	if netErr, ok := errors.AsType[*network.Error](err); ok && netErr.Status == http.StatusNotFound {
		newErr := *netErr
		newErr.Class = network.Transient
		return n.restartUpload(d, &newErr)
	}
	if err != nil {
		return 0, err
	}
	switch video.Status {
	case "succeeded":
		return 0, nil
	case "registered", "processing":
		return max(minPoll, min(n.opts.Now().Sub(d.UploadedAt), maxPoll)), nil
	case "failed":
		return n.restartUpload(d, &network.Error{
			Class: network.RejectedMedia, Status: http.StatusOK, Code: video.Status,
			Err: errors.New("the network could not process the video; use another file or format"),
		})
	}
	return 0, network.InvalidResponse(errors.New("reading a video's status: the response has no known status"))
}

// restartUpload discards the video, so that the next call uploads it again. After maxRestarts restarts it returns
// reason.
func (n *Network) restartUpload(d *draft, reason *network.Error) (time.Duration, error) {
	if d.Restarts >= maxRestarts {
		return 0, reason
	}
	d.Restarts++
	d.Video, d.UploadedAt = "", time.Time{}
	return minPoll << d.Restarts, nil
}
