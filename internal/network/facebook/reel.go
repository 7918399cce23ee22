package facebook

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/network/graph"
)

// The format of reels. Meta requires the aspect ratio 9:16. reelTolerance is tolerated because sizes are whole pixels,
// which matters for small videos.
//
// Source: https://developers.facebook.com/docs/video-api/guides/reels-publishing
const (
	reelRatio       = 9.0 / 16
	reelTolerance   = 0.02
	minReelWidth    = 540
	minReelDuration = 3 * time.Second
	maxReelDuration = 90 * time.Second
)

// isReel reports whether the Reels API accepts a video. Other vertical videos go to the Video API, which turns them
// into drafts that the Page's owner has to share.
func isReel(media []network.Media) bool {
	if len(media) != 1 || media[0].Kind != network.Video || !isVertical(media[0]) {
		return false
	}
	m := media[0]
	ratio := float64(m.Width) / float64(m.Height)
	return ratio > reelRatio*(1-reelTolerance) && ratio < reelRatio*(1+reelTolerance) && m.Width >= minReelWidth &&
		m.Duration >= minReelDuration && m.Duration <= maxReelDuration
}

func isVertical(m network.Media) bool { return m.Width > 0 && m.Width < m.Height }

// checkVertical returns a warning if the post is a vertical video that cannot be published as a reel.
func checkVertical(media []network.Media) []network.Problem {
	if len(media) != 1 || media[0].Kind != network.Video || !isVertical(media[0]) || isReel(media) {
		return nil
	}
	return []network.Problem{{
		Code: "media_aspect", Message: "Facebook publishes vertical videos as reels if they are 9:16, have at least " +
			"540 × 960 pixels and last 3 to 90 seconds. It may keep this one as a draft that you have to share on Facebook.",
	}}
}

// reelCall returns a call that starts or finishes the upload of a reel or of a story's video.
func (n *Network) reelCall(g network.Grant, d draft, params url.Values, out any) graph.Call {
	edge := "/video_reels"
	if d.isStory() {
		edge = "/video_stories"
	}
	return n.newCall(g, http.MethodPost, g.Account+edge, params, out)
}

// uploadReel sends the video in one request. The reel is published when the upload is finished.
func (n *Network) uploadReel(ctx context.Context, g network.Grant, d *draft, file network.File) error {
	var newUpload struct {
		Video   string `json:"video_id"`
		Address string `json:"upload_url"`
	}
	if err := n.graph.Do(ctx, n.reelCall(g, *d, url.Values{"upload_phase": {"start"}}, &newUpload)); err != nil {
		return err
	}
	path, ok := strings.CutPrefix(newUpload.Address, n.opts.UploadHost+"/")
	if !ok || !graph.IsID(newUpload.Video) { // The token must never be sent to another host.
		return network.InvalidResponse(errors.New("starting the upload of a reel: the response lacks an ID or a usable URL"))
	}
	var response struct {
		Success bool `json:"success"`
	}
	query := url.Values{}
	if n.opts.ClientSecret != "" { // The proof is not documented for this host, but harmless.
		query.Set(graph.ProofParam, graph.Proof(g.AccessToken, n.opts.ClientSecret))
	}
	err := n.graph.Do(ctx, graph.Call{
		Purpose: network.PurposeTransfer, Method: http.MethodPost, Server: n.opts.UploadHost, Path: path,
		Token: g.AccessToken, Query: query, Header: http.Header{
			"Authorization": {"OAuth " + g.AccessToken}, "Offset": {"0"}, "File_size": {strconv.FormatInt(file.Size, 10)},
		},
		Body: &network.Body{Reader: file, Type: "application/octet-stream", Size: file.Size}, Out: &response,
	})
	if err != nil {
		return err
	}
	if !response.Success {
		return network.InvalidResponse(errors.New("uploading a reel: the response does not confirm success"))
	}
	d.Video = newUpload.Video
	d.Uploads++
	return nil
}

// finishCall returns the call that publishes an uploaded video.
func (n *Network) finishCall(g network.Grant, d draft, out any) graph.Call {
	params := url.Values{"upload_phase": {"finish"}}
	if d.Text != "" {
		params.Set("description", d.Text)
	}
	d.addOptions(params)
	if d.Reel {
		params.Set("video_id", d.Video)
		if !d.isStory() {
			params.Set("video_state", "PUBLISHED")
		}
		return n.reelCall(g, d, params, out)
	}
	params.Set("upload_session_id", d.Session)
	return n.videoCall(g, params, out)
}

// isUnfinished reports whether Facebook has processed the reel but not published it. Facebook may process a reel before
// the upload is finished. After that, it checks the reel for some minutes.
func (d draft) isUnfinished(videoState state) bool {
	return d.Reel && videoState.Status.Video == statusReady &&
		videoState.Status.Publishing.Status == phaseNotStarted && !videoState.isMarkedPublished()
}
