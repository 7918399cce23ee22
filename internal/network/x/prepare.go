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
func (n *Network) advance(ctx context.Context, g network.Grant, p *draft, files network.Files) (time.Duration, error) {
	if p.PreparedAt.IsZero() {
		if err := network.BlockingError(n.Check(p.content())); err != nil {
			return 0, err
		}
	}
	if p.hasExpiredMedia(n.opts.Now()) {
		p.Uploads = nil
	}
	for i := len(p.Uploads); i < len(p.Media); i++ {
		sent, err := n.upload(ctx, g, p.Media[i], files)
		if err != nil {
			return 0, err
		}
		p.Uploads = append(p.Uploads, sent)
	}
	for i := range p.Uploads {
		if p.Uploads[i].Done {
			continue
		}
		if wait, err := n.pollMedia(ctx, g, p, i); wait > 0 || err != nil {
			return wait, err
		}
		p.Uploads[i].Done = true
	}
	if p.PreparedAt.IsZero() {
		p.PreparedAt = n.opts.Now().UTC()
	}
	return 0, nil
}

// processingInfo is the state of X's processing of a file. It is nil if the file needs no processing.
type processingInfo struct {
	State string `json:"state"`
	After int64  `json:"check_after_secs"`
}

// pollMedia returns 0 if the network has processed upload i, else the time until the next check.
func (n *Network) pollMedia(ctx context.Context, g network.Grant, p *draft, i int) (time.Duration, error) {
	c := n.newCall(g, http.MethodGet, "media/upload")
	c.Query = url.Values{"command": {"STATUS"}, "media_id": {p.Uploads[i].ID}}
	var response struct {
		Data struct {
			Processing *processingInfo `json:"processing_info"`
		} `json:"data"`
	}
	err := n.do(ctx, c, &response)
	if netErr, ok := errors.AsType[*network.Error](err); ok && netErr.Status == http.StatusNotFound {
		return n.restartUploads(p, &network.Error{
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
		return max(minPoll, min(n.opts.Now().Sub(p.Uploads[i].SentAt), maxPoll)), nil
	case "failed":
		return n.restartUploads(p, &network.Error{
			Class: network.RejectedMedia, Status: http.StatusOK, Code: processing.State,
			Err: errors.New("the network could not process the file; use another file or format"),
		})
	}
	return 0, network.InvalidResponse(errors.New("reading the state of an upload: the response has no known state"))
}

// restartUploads discards all uploads, so that the next call starts new uploads. After maxRestarts restarts it returns
// reason.
func (n *Network) restartUploads(p *draft, reason *network.Error) (time.Duration, error) {
	if p.Restarts >= maxRestarts {
		return 0, reason
	}
	p.Restarts++
	p.Uploads = nil
	return minPoll << p.Restarts, nil
}
