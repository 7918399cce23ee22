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

func (n *Network) advance(ctx context.Context, g network.Grant, p *draft, files network.Files) (time.Duration, error) {
	if p.Privacy == "" {
		content := network.Content{Text: p.Text, Media: p.Media, Options: network.Options{TikTok: &p.Choices}}
		if err := network.BlockingError(n.Check(content)); err != nil {
			return 0, err
		}
		if err := n.applyChoices(ctx, g, p); err != nil {
			return 0, err
		}
	}
	switch {
	case !p.isVideo():
		p.Upload = upload{} // discards the ID of photos that the network did not publish
		return 0, n.linkPhotos(ctx, p, files)
	case p.Upload.ID == "":
		return n.startUpload(ctx, g, p, files)
	}
	return n.resumeUpload(ctx, g, p, files)
}

// linkPhotos creates the URLs from which the network fetches the photos. Each Commit uses the stored links, unless the
// operator sets ListingDelay. Commit then creates new links, which expire before an unlisted post counts as absent.
func (n *Network) linkPhotos(ctx context.Context, p *draft, files network.Files) error {
	now := n.opts.Now().UTC()
	if len(p.Links) == len(p.Media) && p.LinksExpire.Sub(now) > minLinkLifetime {
		return nil
	}
	p.CreatedAt = now
	return n.linkPhotosUntil(ctx, p, files, now.Add(linkLifetime))
}

func (n *Network) linkPhotosUntil(ctx context.Context, p *draft, files network.Files, expires time.Time) error {
	links := make([]string, len(p.Media))
	for i, m := range p.Media {
		var err error
		if links[i], err = files.Link(ctx, m.ID, n.opts.Rules.FileLimits(m.Kind), expires); err != nil {
			return network.FileError(err)
		}
	}
	p.Links, p.LinksExpire = links, expires
	return nil
}

// startUpload requests an upload for the video. Source:
// https://developers.tiktok.com/doc/content-posting-api-reference-direct-post.
func (n *Network) startUpload(
	ctx context.Context, g network.Grant, p *draft, files network.Files,
) (time.Duration, error) {
	file, err := n.open(ctx, p, files)
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
		"source": "FILE_UPLOAD", "video_size": u.Size, "chunk_size": u.Chunk, "total_chunk_count": u.Parts,
	}}
	path := "post/publish/inbox/video/init/"
	if !p.toInbox() {
		request["post_info"], path = p.videoInfo(), "post/publish/video/init/"
	}
	err = n.callAPI(ctx, g, post(network.PurposeRead, request), path, &response)
	if err != nil {
		return 0, err
	}
	if response.ID == "" || len(response.ID) > maxID || network.WebURL(response.URL) == "" {
		return 0, network.InvalidResponse(errors.New("starting an upload: the response lacks the id or the URL"))
	}
	u.ID, u.URL = response.ID, response.URL
	p.Upload, p.CreatedAt = u, n.opts.Now().UTC()
	if u.Parts > 1 {
		return firstWait, nil
	}
	return 0, nil
}

func (p draft) videoInfo() map[string]any {
	info := map[string]any{
		"title": p.Text, "privacy_level": p.Privacy,
		"disable_comment": !p.Choices.AllowComment, "disable_duet": !p.Choices.AllowDuet,
		"disable_stitch":       !p.Choices.AllowStitch,
		"brand_content_toggle": p.Choices.BrandContent, "brand_organic_toggle": p.Choices.BrandOrganic,
		"is_aigc": p.Choices.IsAIGC,
	}
	if cover := p.Media[0].Cover; cover > 0 {
		info["video_cover_timestamp_ms"] = cover.Milliseconds()
	}
	return info
}

// resumeUpload sends the missing parts of a video except the last.
func (n *Network) resumeUpload(
	ctx context.Context, g network.Grant, p *draft, files network.Files,
) (time.Duration, error) {
	state, err := n.fetchStatus(ctx, g, p.Upload.ID)
	if rejection, ok := errors.AsType[*network.Error](err); ok && rejection.Class == network.Rejected {
		return n.restartUpload(p, rejection) // the network no longer knows the ID
	}
	switch {
	case err != nil:
		return 0, err
	case state.Status == statusFailed:
		reason := n.rejectionError(state.Reason)
		if reason.Class != network.Transient {
			return 0, reason
		}
		return n.restartUpload(p, reason)
	case !state.lacksBytes(p.Upload):
		return 0, nil
	case n.opts.Now().Sub(p.CreatedAt) > uploadRestartAge:
		return n.restartUpload(p, &network.Error{Class: network.Transient, Code: codeUploadExpired})
	}
	return n.sendParts(ctx, p, files, *state.Uploaded/p.Upload.Chunk)
}

// restartUpload discards an upload, so that the next call starts another one. After maxRestarts restarts, it returns
// reason.
func (n *Network) restartUpload(p *draft, reason *network.Error) (time.Duration, error) {
	if p.Restarts >= maxRestarts {
		return 0, reason
	}
	p.Restarts++
	p.Upload, p.CreatedAt = upload{}, time.Time{}
	return firstWait << p.Restarts, nil
}

// sendParts sends all parts starting with first, except the last.
func (n *Network) sendParts(ctx context.Context, p *draft, files network.Files, first int64) (time.Duration, error) {
	if first >= p.Upload.Parts-1 {
		return 0, nil
	}
	file, err := n.open(ctx, p, files)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	from, _ := p.Upload.partRange(first)
	if err := seekTo(file, from); err != nil {
		return 0, err
	}
	for i := first; i < p.Upload.Parts-1; i++ {
		response, err := n.putPart(ctx, network.PurposeTransfer, p.Upload, i, file)
		if err != nil {
			return 0, err
		}
		if err := n.partError(response); err != nil {
			if err.Class == network.Rejected {
				return n.restartUpload(p, err)
			}
			return 0, err
		}
	}
	return 0, nil
}

func (n *Network) open(ctx context.Context, p *draft, files network.Files) (network.File, error) {
	file, err := files.Open(ctx, p.Media[0].ID, n.opts.Rules.FileLimits(network.Video))
	if err != nil {
		return network.File{}, network.FileError(err)
	}
	return file, nil
}

// seekTo moves a newly opened file to an offset in bytes.
func seekTo(file network.File, bytes int64) error {
	var err error
	if inside, ok := file.ReadCloser.(io.Seeker); ok {
		_, err = inside.Seek(bytes, io.SeekStart)
	} else {
		_, err = io.CopyN(io.Discard, file, bytes)
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
