package x

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"

	"pressroom.example/pressroom/internal/network"
)

const (
	minPoll     = 2 * time.Second
	maxPoll     = time.Minute
	maxRestarts = 3
)

// Prepare uploads the media and waits until the network has processed them. Media that the network has deleted are
// uploaded again.
func (n *Network) Prepare(
	ctx context.Context, g network.Grant, d network.Draft, files network.Files,
) (network.Draft, time.Duration, error) {
	return drafts.Prepare(d, func(p *draft) (time.Duration, error) { return n.advance(ctx, g, p, files) })
}

// advance performs steps until the network needs time. It returns the time to wait, or 0 if all steps are done.
func (n *Network) advance(ctx context.Context, g network.Grant, d *draft, files network.Files) (time.Duration, error) {
	if d.PreparedAt.IsZero() {
		if err := network.BlockingError(n.Check(d.content())); err != nil {
			return 0, err
		}
	}
	if d.hasExpiredMedia(n.opts.Now()) {
		d.Uploads = nil
	}
	for i := len(d.Uploads); i < len(d.Media); i++ {
		sent, err := n.upload(ctx, g, d.Media[i], files)
		if err != nil {
			return 0, err
		}
		d.Uploads = append(d.Uploads, sent)
	}
	for i := range d.Uploads {
		if d.Uploads[i].Done {
			continue
		}
		if wait, err := n.pollMedia(ctx, g, d, i); wait > 0 || err != nil {
			return wait, err
		}
		d.Uploads[i].Done = true
	}
	if d.PreparedAt.IsZero() {
		d.PreparedAt = n.opts.Now().UTC()
	}
	return 0, nil
}

// processingInfo is the state of X's processing of a file. It is nil if the file needs no processing.
type processingInfo struct {
	State string `json:"state"`
	After int64  `json:"check_after_secs"`
}

// pollMedia returns 0 if the network has processed upload i, else the time until the next check.
func (n *Network) pollMedia(ctx context.Context, g network.Grant, d *draft, i int) (time.Duration, error) {
	c := n.newCall(g, http.MethodGet, "media/upload")
	c.Query = url.Values{"command": {"STATUS"}, "media_id": {d.Uploads[i].ID}}
	var response struct {
		Data struct {
			Processing *processingInfo `json:"processing_info"`
		} `json:"data"`
	}
	err := n.do(ctx, c, &response)
	if netErr, ok := errors.AsType[*network.Error](err); ok && netErr.Status == http.StatusNotFound {
		return n.restartUploads(d, &network.Error{
			Class: network.Transient, Status: netErr.Status, Code: netErr.Code, Message: netErr.Message, Err: netErr.Err,
		})
	}
	if err != nil {
		return 0, err
	}
	processing := response.Data.Processing
	if processing == nil || processing.State == "succeeded" {
		return 0, nil
	}
	switch processing.State {
	case "pending", "in_progress":
		if processing.After > 0 {
			return time.Duration(min(processing.After, int64(maxPoll/time.Second))) * time.Second, nil
		}
		return max(minPoll, min(n.opts.Now().Sub(d.Uploads[i].SentAt), maxPoll)), nil
	case "failed":
		return n.restartUploads(d, &network.Error{
			Class: network.RejectedMedia, Status: http.StatusOK, Code: processing.State,
			Err: errors.New("the network could not process the file; use another file or format"),
		})
	}
	return 0, network.InvalidResponse(errors.New("reading the state of an upload: the response has no known state"))
}

// restartUploads discards all uploads, so that the next call starts new uploads. After maxRestarts restarts it returns
// reason.
func (n *Network) restartUploads(d *draft, reason *network.Error) (time.Duration, error) {
	if d.Restarts >= maxRestarts {
		return 0, reason
	}
	d.Restarts++
	d.Uploads = nil
	return minPoll << d.Restarts, nil
}
