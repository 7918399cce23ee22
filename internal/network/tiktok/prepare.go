package tiktok

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"pressroom.example/pressroom/internal/network"
)

const (
	// lifetime of links to photos: longer than the time in the queue plus the network's download timeout.
	linkLifetime     = 4 * time.Hour
	minLinkLifetime  = 2 * time.Hour    // minimum remaining lifetime
	uploadLifetime   = time.Hour        // lifetime of an upload's URL; not confirmed
	uploadGrace      = time.Minute      // time after the last call in which a part may still arrive
	uploadRestartAge = 50 * time.Minute // age after which an upload is restarted
	firstWait        = time.Second
	maxRestarts      = 3
)

// Prepare reads the account's settings. Then it creates links to photos, or uploads a video without its last part. It
// returns the network's ID of a video before it sends the first part, so that another process can resume the upload. A
// failed or expired upload is restarted up to 3 times. An unfinished upload is not visible.
func (n *Network) Prepare(
	ctx context.Context, g network.Grant, d network.Draft, files network.Files,
) (network.Draft, time.Duration, error) {
	return drafts.Prepare(d, func(p *draft) (time.Duration, error) { return n.advance(ctx, g, p, files) })
}

func (n *Network) advance(ctx context.Context, g network.Grant, d *draft, files network.Files) (time.Duration, error) {
	if d.Privacy == "" {
		content := network.Content{Text: d.Text, Media: d.Media, Options: network.Options{TikTok: &d.Choices}}
		if err := network.BlockingError(n.Check(content)); err != nil {
			return 0, err
		}
		if err := n.applyChoices(ctx, g, d); err != nil {
			return 0, err
		}
	}
	switch {
	case !d.isVideo():
		d.Upload = upload{} // discards the ID of photos that the network did not publish
		return 0, n.linkPhotos(ctx, d, files)
	case d.Upload.ID == "":
		return n.startUpload(ctx, g, d, files)
	}
	return n.resumeUpload(ctx, g, d, files)
}

// linkPhotos creates the URLs from which the network fetches the photos. Each Commit uses the stored links, unless the
// operator sets ListingDelay. Commit then creates new links, which expire before an unlisted post counts as absent.
func (n *Network) linkPhotos(ctx context.Context, d *draft, files network.Files) error {
	now := n.opts.Now().UTC()
	if len(d.Links) == len(d.Media) && d.LinksExpire.Sub(now) > minLinkLifetime {
		return nil
	}
	d.CreatedAt = now
	return n.linkPhotosUntil(ctx, d, files, now.Add(linkLifetime))
}

func (n *Network) linkPhotosUntil(ctx context.Context, d *draft, files network.Files, expires time.Time) error {
	links := make([]string, len(d.Media))
	for i, m := range d.Media {
		var err error
		if links[i], err = files.Link(ctx, m.ID, n.opts.Rules.FileLimits(m.Kind), expires); err != nil {
			return network.FileError(err)
		}
	}
	d.Links, d.LinksExpire = links, expires
	return nil
}

// startUpload requests an upload for the video. Source:
// https://developers.tiktok.com/doc/content-posting-api-reference-direct-post.
func (n *Network) startUpload(
	ctx context.Context, g network.Grant, d *draft, files network.Files,
) (time.Duration, error) {
	file, err := n.openVideo(ctx, d, files)
	if err != nil {
		return 0, err
	}
	_ = file.Close() // only its size and type are needed now
	if file.Size <= 0 {
		return 0, &network.Error{Class: network.RejectedMedia, Err: errors.New("the video file is empty; upload it again")}
	}
	u := newUpload(file, n.opts.ChunkBytes)
	var response struct {
		ID  string `json:"publish_id"`
		URL string `json:"upload_url"`
	}
	request := map[string]any{"source_info": map[string]any{
		"source": "FILE_UPLOAD", "video_size": u.Size, "chunk_size": u.ChunkSize, "total_chunk_count": u.Parts,
	}}
	path := "post/publish/inbox/video/init/"
	if !d.isForInbox() {
		request["post_info"], path = d.videoInfo(), "post/publish/video/init/"
	}
	err = n.callAPI(ctx, g, newPostCall(network.PurposeRead, request), path, &response)
	if err != nil {
		return 0, err
	}
	if response.ID == "" || len(response.ID) > maxID || network.WebURL(response.URL) == "" {
		return 0, network.InvalidResponse(errors.New("starting an upload: the response lacks the id or the URL"))
	}
	u.ID, u.URL = response.ID, response.URL
	d.Upload, d.CreatedAt = u, n.opts.Now().UTC()
	if u.Parts > 1 {
		return firstWait, nil
	}
	return 0, nil
}

func (d draft) videoInfo() map[string]any {
	info := map[string]any{
		"title": d.Text, "privacy_level": d.Privacy,
		"disable_comment": !d.Choices.AllowComment, "disable_duet": !d.Choices.AllowDuet,
		"disable_stitch":       !d.Choices.AllowStitch,
		"brand_content_toggle": d.Choices.BrandContent, "brand_organic_toggle": d.Choices.BrandOrganic,
		"is_aigc": d.Choices.IsAIGC,
	}
	if cover := d.Media[0].Cover; cover > 0 {
		info["video_cover_timestamp_ms"] = cover.Milliseconds()
	}
	return info
}

// resumeUpload sends the missing parts of a video except the last.
func (n *Network) resumeUpload(
	ctx context.Context, g network.Grant, d *draft, files network.Files,
) (time.Duration, error) {
	state, err := n.fetchStatus(ctx, g, d.Upload.ID)
	if rejection, ok := errors.AsType[*network.Error](err); ok && rejection.Class == network.Rejected {
		return n.restartUpload(d, rejection) // the network no longer knows the ID
	}
	switch {
	case err != nil:
		return 0, err
	case state.Status == statusFailed:
		reason := n.rejectionError(state.Reason)
		if reason.Class != network.Transient {
			return 0, reason
		}
		return n.restartUpload(d, reason)
	case !state.lacksBytes(d.Upload):
		return 0, nil
	case n.opts.Now().Sub(d.CreatedAt) > uploadRestartAge:
		return n.restartUpload(d, &network.Error{Class: network.Transient, Code: codeUploadExpired})
	}
	return n.sendParts(ctx, d, files, *state.Uploaded/d.Upload.ChunkSize)
}

// restartUpload discards an upload, so that the next call starts another one. After maxRestarts restarts, it returns
// reason.
func (n *Network) restartUpload(d *draft, reason *network.Error) (time.Duration, error) {
	if d.Restarts >= maxRestarts {
		return 0, reason
	}
	d.Restarts++
	d.Upload, d.CreatedAt = upload{}, time.Time{}
	return firstWait << d.Restarts, nil
}

// sendParts sends all parts starting with first, except the last.
func (n *Network) sendParts(ctx context.Context, d *draft, files network.Files, first int64) (time.Duration, error) {
	if first >= d.Upload.Parts-1 {
		return 0, nil
	}
	file, err := n.openVideo(ctx, d, files)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	from, _ := d.Upload.partRange(first)
	if err := seekTo(file, from); err != nil {
		return 0, err
	}
	for i := first; i < d.Upload.Parts-1; i++ {
		response, err := n.putPart(ctx, network.PurposeTransfer, d.Upload, i, file)
		if err != nil {
			return 0, err
		}
		if err := n.partError(response); err != nil {
			if err.Class == network.Rejected {
				return n.restartUpload(d, err)
			}
			return 0, err
		}
	}
	return 0, nil
}

func (n *Network) openVideo(ctx context.Context, d *draft, files network.Files) (network.File, error) {
	file, err := files.Open(ctx, d.Media[0].ID, n.opts.Rules.FileLimits(network.Video))
	if err != nil {
		return network.File{}, network.FileError(err)
	}
	return file, nil
}

// seekTo moves a newly opened file to an offset in bytes.
func seekTo(file network.File, offset int64) error {
	var err error
	if seeker, ok := file.ReadCloser.(io.Seeker); ok {
		_, err = seeker.Seek(offset, io.SeekStart)
	} else {
		_, err = io.CopyN(io.Discard, file, offset)
	}
	if err != nil {
		return network.FileError(err)
	}
	return nil
}

// putPart sends one part from the current offset of the file. The upload URL is a secret, because it works without a
// token.
func (n *Network) putPart(
	ctx context.Context, purpose network.Purpose, u upload, part int64, file io.Reader,
) (network.Response, error) {
	from, size := u.partRange(part)
	return n.client.Do(ctx, network.Call{
		Purpose: purpose, Name: "upload", Method: http.MethodPut, URL: u.URL, Secrets: []string{u.URL},
		Header: http.Header{"Content-Range": {fmt.Sprintf("bytes %d-%d/%d", from, from+size-1, u.Size)}},
		Body:   &network.Body{Reader: io.LimitReader(file, size), Type: u.Type, Size: size},
	})
}

// partError returns an error unless the upload server accepted the part. The server's responses have only a status.
func (n *Network) partError(response network.Response) *network.Error {
	switch {
	case response.Status >= 200 && response.Status <= 299:
		return nil
	case response.Status == http.StatusTooManyRequests:
		return n.withRetryTime(response, response.Rejection(network.RateLimited, "", ""))
	case response.Status >= 400 && response.Status <= 499:
		return response.Rejection(network.Rejected, "", "")
	}
	return response.Rejection(network.Transient, "", "")
}
