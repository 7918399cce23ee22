package facebook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/network/graph"
)

const pollInterval = 5 * time.Second // time between checks of a publication that Facebook is processing

// Commit publishes the post. The error is of class Processing while the network processes a video.
func (n *Network) Commit(
	ctx context.Context, g network.Grant, d network.Draft, _ network.Files,
) (network.Receipt, error) {
	if network.IsFirstComment(d) {
		return n.comments.Commit(ctx, g, d)
	}
	prepared, err := drafts.DecodePrepared(d)
	if err != nil {
		return network.Receipt{}, err
	}
	switch {
	case prepared.isVideo():
		return n.finish(ctx, g, prepared)
	case prepared.isStory():
		return n.publishPhotoStory(ctx, g, prepared)
	}
	params, err := prepared.params()
	if err != nil {
		return network.Receipt{}, network.PermanentError(err)
	}
	var response graph.CreatedObject
	c := n.newCall(g, http.MethodPost, g.Account+"/feed", params, &response)
	c.Purpose = network.PurposeCommit
	if err := n.graph.Do(ctx, c); err != nil {
		return network.Receipt{}, err
	}
	if !graph.IsID(response.ID) {
		return network.Receipt{}, &network.Error{
			Class: network.OutcomeUnknown, Status: http.StatusOK, Err: errors.New("publishing: the response has no id"),
		}
	}
	return network.Receipt{ID: response.ID}, nil
}

// params returns the parameters of a post with text or photos.
func (d draft) params() (url.Values, error) {
	params := url.Values{}
	if d.Text != "" {
		params.Set("message", d.Text)
	}
	if d.Link != "" {
		params.Set("link", d.Link)
	}
	d.addOptions(params)
	if len(d.Photos) == 0 {
		return params, nil
	}
	attached := make([]map[string]string, len(d.Photos))
	for i, id := range d.Photos {
		attached[i] = map[string]string{"media_fbid": id}
	}
	encoded, err := json.Marshal(attached)
	if err != nil {
		return nil, fmt.Errorf("encoding the photos: %w", err)
	}
	params.Set("attached_media", string(encoded))
	return params, nil
}

// finish finishes the upload, which publishes the video. Facebook also rejects repeated calls, so a rejection is final
// only if the upload is not finished yet.
func (n *Network) finish(ctx context.Context, g network.Grant, p draft) (network.Receipt, error) {
	var response struct {
		Success bool `json:"success"`
	}
	c := n.finishCall(g, p, &response)
	c.Purpose = network.PurposeCommit
	if err := n.graph.Do(ctx, c); err != nil {
		return network.Receipt{}, n.confirmRejection(ctx, g, p, err)
	}
	if !response.Success {
		return network.Receipt{}, &network.Error{
			Class: network.OutcomeUnknown, Status: http.StatusOK,
			Err: errors.New("finishing an upload: the response does not confirm success"),
		}
	}
	if videoState, err := n.readState(ctx, g, p.Video); err == nil && videoState.isPublished() {
		return n.videoReceipt(p, videoState), nil
	}
	processingErr := n.processingError(statusProcessing)
	p.Finished = true
	if d, err := drafts.Encode(p); err == nil {
		processingErr.Draft = d
	}
	return network.Receipt{}, processingErr
}

// confirmRejection returns err. If err is a rejection but the video may be published, its class becomes OutcomeUnknown.
func (n *Network) confirmRejection(ctx context.Context, g network.Grant, d draft, err error) error {
	rejection, ok := errors.AsType[*network.Error](err)
	if !ok || rejection.Status == 0 ||
		!slices.Contains([]network.ErrorClass{network.Rejected, network.RejectedMedia, network.Duplicate}, rejection.Class) {
		return err
	}
	videoState, err := n.readState(ctx, g, d.Video)
	if err == nil && (videoState.Status.Video == statusUploading || videoState.Status.Video == statusUploadComplete ||
		d.isUnfinished(videoState) && !d.Finished) {
		return rejection
	}
	newErr := *rejection
	newErr.Class = network.OutcomeUnknown
	return &newErr
}

// processingError returns the error for a publication that Facebook is still processing.
func (n *Network) processingError(code string) *network.Error {
	return &network.Error{
		Class: network.Processing, Status: http.StatusOK, Code: code, RetryAt: n.opts.Now().Add(pollInterval).UTC(),
	}
}

// videoReceipt returns the receipt of a published video. Facebook does not report the time of publication.
func (n *Network) videoReceipt(d draft, videoState state) network.Receipt {
	return network.Receipt{ID: d.Video, Permalink: n.absoluteURL(videoState.Permalink)}
}

// absoluteURL adds the host to a permalink that has no host. Facebook returns such permalinks for videos.
func (n *Network) absoluteURL(permalink string) string {
	if strings.HasPrefix(permalink, "/") {
		permalink = n.opts.AuthorizeHost + permalink
	}
	return network.WebURL(permalink)
}

// Permalink returns the URL in the receipt. If the receipt has no URL, it requests the URL.
func (n *Network) Permalink(ctx context.Context, g network.Grant, r network.Receipt) (string, error) {
	if r.Permalink != "" {
		return r.Permalink, nil
	}
	if !graph.IsID(r.ID) {
		return "", network.PermanentError(errors.New("the post's ID is not a Facebook ID"))
	}
	var response struct {
		Permalink string `json:"permalink_url"`
	}
	err := n.graph.Do(ctx, n.newCall(g, http.MethodGet, r.ID, url.Values{"fields": {"id,permalink_url"}}, &response))
	if err != nil {
		return "", err
	}
	return n.absoluteURL(response.Permalink), nil
}
