package youtube

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"

	"pressroom.example/pressroom/internal/network"
)

const (
	clockSkew       = 5 * time.Minute // how far the network's clock may be behind
	codeSessionGone = "upload_session_gone"
	codeNoUploads   = "playlistNotFound" // unconfirmed: may also be returned before a channel's first video
)

// Commit sends all missing parts of the file. The last part creates the video. Commit does not change a complete or
// expired session. The error is of class Processing until the video's status is known. A video that YouTube rejects or
// keeps private has an ID, but counts as rejected.
func (n *Network) Commit(
	ctx context.Context, g network.Grant, d network.Draft, files network.Files,
) (network.Receipt, error) {
	if network.IsFirstComment(d) {
		return n.commitComment(ctx, g, d)
	}
	prepared, err := drafts.DecodePrepared(d)
	if err != nil {
		return network.Receipt{}, err
	}
	if prepared.Locked { // YouTube already has the video
		_, receipt, err := n.checkVideo(ctx, g, prepared, prepared.Video)
		return receipt, err
	}
	uploaded, err := n.completeUpload(ctx, g, prepared, files)
	if isExpired(err) {
		return network.Receipt{}, &network.Error{Class: network.OutcomeUnknown, Code: codeSessionGone, Err: err}
	}
	if err != nil {
		return network.Receipt{}, err
	}
	return n.outcome(prepared, uploaded)
}

func (n *Network) completeUpload(ctx context.Context, g network.Grant, d draft, files network.Files) (video, error) {
	progress, err := n.queryProgress(ctx, g, d)
	if err != nil || progress.video.ID != "" {
		return progress.video, err
	}
	source, err := n.openVideo(ctx, d, files)
	if err != nil {
		return video{}, err
	}
	defer source.file.Close()
	next, err := n.sendChunks(ctx, g, d, source, progress.next)
	if err != nil {
		return video{}, err
	}
	if progress, err = n.sendChunk(ctx, g, d, network.PurposeCommit, source, next, d.Total); err != nil {
		return video{}, err
	}
	if progress.video.ID == "" {
		return video{}, &network.Error{
			Class: network.OutcomeUnknown, Status: http.StatusPermanentRedirect,
			Err: errors.New("completing an upload: the network did not store the whole file"),
		}
	}
	return progress.video, nil
}

func (n *Network) receipt(id, at string) network.Receipt {
	published, _ := time.Parse(time.RFC3339, at) // zero if the network does not report it
	return network.Receipt{ID: id, Permalink: n.watchURL(id), At: published.UTC()}
}

func (n *Network) watchURL(id string) string {
	return n.opts.WebURL + "/watch?v=" + url.QueryEscape(id)
}

// Resolve reads the status of the session's video. A session without all parts is Absent, because completing it creates
// only one video. If the session has expired, Resolve searches the channel's uploads.
func (n *Network) Resolve(
	ctx context.Context, g network.Grant, d network.Draft, history network.CommitHistory,
) (network.Verdict, network.Receipt, error) {
	if network.IsFirstComment(d) {
		return n.resolveComment(ctx, g, d, history)
	}
	prepared, err := drafts.DecodePrepared(d)
	if err != nil {
		return network.Unknown, network.Receipt{}, err
	}
	if prepared.UploadedAt.IsZero() {
		prepared.UploadedAt = history.First
	}
	if prepared.Video != "" {
		return n.checkVideo(ctx, g, prepared, prepared.Video)
	}
	searchStart := n.opts.Now() // before the search, because a video may appear during it
	progress, err := n.queryProgress(ctx, g, prepared)
	switch {
	case isExpired(err):
		return n.findUpload(ctx, g, prepared, searchStart, history)
	case err != nil:
		return network.Unknown, network.Receipt{}, err
	case progress.video.ID == "":
		return network.Absent, network.Receipt{}, nil
	}
	return n.checkVideo(ctx, g, prepared, progress.video.ID)
}

// findUpload searches the channel's uploads since the start of the session. A missing video is Absent with the error
// that the session has expired. Prepare then starts a new session.
func (n *Network) findUpload(
	ctx context.Context, g network.Grant, d draft, searchStart time.Time, history network.CommitHistory,
) (network.Verdict, network.Receipt, error) {
	since := d.StartedAt.Add(-clockSkew)
	uploads, complete, err := n.listUploads(ctx, g, since)
	if err != nil {
		return network.Unknown, network.Receipt{}, err
	}
	var matches []upload
	for _, u := range uploads {
		if u.matches(d) && !history.BelongsToOther(u.Snippet.Resource.VideoID, "") {
			matches = append(matches, u)
		}
	}
	reason := &network.Error{
		Class: network.Transient, Code: codeSessionGone, Err: errors.New("the upload session has expired"),
	}
	switch listedBy := history.Last.Add(time.Duration(n.opts.ListingDelay)); {
	case len(matches) == 1:
		verdict, receipt, err := n.checkVideo(ctx, g, d, matches[0].Snippet.Resource.VideoID)
		receipt.MatchedByContent = true
		return verdict, receipt, err
	case len(matches) > 1 || !complete:
		reason.Class = network.OutcomeUnknown
	case searchStart.Before(listedBy):
		reason.Class, reason.RetryAt = network.Processing, listedBy.UTC()
	default:
		return network.Absent, network.Receipt{}, reason
	}
	return network.Unknown, network.Receipt{}, reason
}

// upload is an entry in the channel's list of uploads.
type upload struct {
	Snippet struct {
		PublishedAt string `json:"publishedAt"`
		Title       string `json:"title"`
		Description string `json:"description"`
		Resource    struct {
			VideoID string `json:"videoId"`
		} `json:"resourceId"`
	} `json:"snippet"`
}

func (u upload) matches(d draft) bool {
	return videoID.MatchString(u.Snippet.Resource.VideoID) &&
		network.SameWords(u.Snippet.Title, d.Title) && network.SameWords(u.Snippet.Description, d.Description)
}

// listUploads returns the newest uploads since a time. It returns false if there may be more videos.
func (n *Network) listUploads(ctx context.Context, g network.Grant, since time.Time) ([]upload, bool, error) {
	channel, err := n.channelInfo(ctx, g, "contentDetails")
	if err != nil {
		return nil, false, err
	}
	var page struct {
		Items []upload `json:"items"`
		Next  string   `json:"nextPageToken"`
	}
	err = n.read(ctx, g, "playlistItems",
		url.Values{"part": {"snippet"}, "playlistId": {channel.uploads}, "maxResults": {pageSize}}, &page)
	if netErr, ok := errors.AsType[*network.Error](err); ok && netErr.Code == codeNoUploads {
		return nil, true, nil
	}
	if err != nil {
		return nil, false, err
	}
	var uploads []upload
	for _, u := range page.Items {
		at, err := time.Parse(time.RFC3339, u.Snippet.PublishedAt)
		if err != nil {
			return nil, false, network.InvalidResponse(errors.New("reading the uploads: an upload has no publication time"))
		}
		if !at.Before(since) {
			uploads = append(uploads, u)
		}
	}
	return uploads, page.Next == "" || len(uploads) < len(page.Items), nil
}

// Permalink returns the URL of the video. It makes no request.
func (n *Network) Permalink(_ context.Context, _ network.Grant, r network.Receipt) (string, error) {
	if !videoID.MatchString(r.ID) {
		return "", network.PermanentError(errors.New("the post's ID is not a YouTube ID"))
	}
	return n.watchURL(r.ID), nil
}
