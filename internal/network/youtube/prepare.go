package youtube

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/network"
)

const (
	saveDelay     = 10 * time.Millisecond // gives the caller time to store the session before the upload
	maxSessions   = 4                     // maximum sessions of one publication
	maxSessionURL = 4000                  // maximum characters of a session's URL
)

// Prepare starts an upload session and returns, so that the caller can store it. The next call sends the file except
// its last part. After a failure, the upload resumes in the same session. An expired session is replaced. A video that
// YouTube has locked is uploaded again only if a person has deleted it.
func (n *Network) Prepare(
	ctx context.Context, g network.Grant, d network.Draft, files network.Files,
) (network.Draft, time.Duration, error) {
	if network.IsFirstComment(d) {
		return network.PrepareFirstComment(d, n.opts.Now())
	}
	return drafts.Prepare(d, func(p *draft) (time.Duration, error) { return n.advance(ctx, g, p, files) })
}

func (n *Network) advance(ctx context.Context, g network.Grant, d *draft, files network.Files) (time.Duration, error) {
	if d.Locked {
		return n.advanceLocked(ctx, g, d, files)
	}
	if d.Session == "" {
		return n.startSession(ctx, g, d, files)
	}
	progress, err := n.queryProgress(ctx, g, *d)
	if err == nil && progress.video.ID == "" {
		err = n.sendAllButLast(ctx, g, *d, files, progress.next)
	}
	if isExpired(err) && d.Sessions < maxSessions {
		return n.startSession(ctx, g, d, files)
	}
	return 0, err
}

// deletionConfirmTime is how long a locked video must be missing before it counts as deleted. A single list without the
// video does not prove the deletion.
const deletionConfirmTime = 5 * time.Minute

// advanceLocked reads the status of a video that YouTube locked. A video that became visible is ready for Commit.
func (n *Network) advanceLocked(ctx context.Context, g network.Grant, d *draft, files network.Files) (time.Duration, error) {
	_, _, err := n.checkVideo(ctx, g, *d, d.Video)
	netErr, ok := errors.AsType[*network.Error](err)
	if !ok || netErr.Code != codeVideoDeleted {
		d.MissingAt = time.Time{}
	}
	switch {
	case ok && netErr.Code == codeVideoDeleted && d.MissingAt.IsZero():
		d.MissingAt = n.opts.Now().UTC()
		return deletionConfirmTime, nil
	case ok && netErr.Code == codeVideoDeleted:
		if wait := d.MissingAt.Add(deletionConfirmTime).Sub(n.opts.Now()); wait > 0 {
			return wait, nil
		}
		return n.startSession(ctx, g, d, files)
	case ok && netErr.Class == network.Processing:
		return max(netErr.RetryAt.Sub(n.opts.Now()), minStatusInterval), nil
	}
	return 0, err
}

// sendAllButLast sends the file except its last part.
func (n *Network) sendAllButLast(ctx context.Context, g network.Grant, d draft, files network.Files, next int64) error {
	source, err := n.openVideo(ctx, d, files)
	if err != nil {
		return err
	}
	defer source.file.Close()
	_, err = n.sendChunks(ctx, g, d, source, next)
	return err
}

// startSession starts an upload session. A file with a single part is then ready for Commit.
func (n *Network) startSession(
	ctx context.Context, g network.Grant, d *draft, files network.Files,
) (time.Duration, error) {
	if err := network.BlockingError(n.Check(network.Content{Text: d.Description, Media: d.Media})); err != nil {
		return 0, err
	}
	d.Session, d.Total, d.Video, d.UploadedAt, d.Locked, d.MissingAt = "", 0, "", time.Time{}, false, time.Time{}
	source, err := n.openVideo(ctx, *d, files)
	if err != nil {
		return 0, err
	}
	d.Total, d.Type = source.file.Size, source.file.Type
	if err := source.file.Close(); err != nil {
		return 0, network.FileError(err)
	}
	if d.Total <= 0 {
		return 0, &network.Error{
			Class: network.RejectedMedia, Err: errors.New("starting an upload: the video file is empty; upload it again"),
		}
	}
	d.StartedAt = n.opts.Now().UTC()
	if d.Session, err = n.createSession(ctx, g, *d); err != nil {
		return 0, err
	}
	if d.Sessions++; d.Total <= n.opts.ChunkBytes {
		return 0, nil
	}
	return saveDelay, nil
}

// createSession returns the URL of a new session. If the response is lost, the session expires without creating a
// video.
func (n *Network) createSession(ctx context.Context, g network.Grant, d draft) (string, error) {
	snippet := map[string]any{"title": d.Title, "description": d.Description}
	if len(d.Tags) > 0 {
		snippet["tags"] = d.Tags
	}
	if d.Choices.CategoryID != "" {
		snippet["categoryId"] = d.Choices.CategoryID
	}
	status := map[string]any{"privacyStatus": d.Privacy}
	if d.Choices.SelfDeclaredMadeForKids != nil {
		status["selfDeclaredMadeForKids"] = *d.Choices.SelfDeclaredMadeForKids
	}
	if d.Choices.ContainsSyntheticMedia {
		status["containsSyntheticMedia"] = true
	}
	response, err := n.client.Do(ctx, network.Call{
		Purpose: network.PurposeTransfer, Name: "upload videos", Method: http.MethodPost,
		URL:   strings.TrimRight(g.Server, "/") + "/upload/youtube/" + n.opts.Version + "/videos",
		Query: url.Values{"uploadType": {"resumable"}, "part": {"snippet,status"}, "notifySubscribers": {"true"}},
		Header: http.Header{
			"X-Upload-Content-Length": {strconv.FormatInt(d.Total, 10)}, "X-Upload-Content-Type": {d.Type},
		},
		Bearer: g.AccessToken,
		JSON:   map[string]any{"snippet": snippet, "status": status},
	})
	if err != nil {
		return "", err
	}
	if response.Status != http.StatusOK {
		return "", n.rejection(response)
	}
	address := response.Header.Get("Location")
	if len(address) > maxSessionURL || !isOnServer(address, g.Server) {
		return "", network.InvalidResponse(errors.New("starting an upload: the response has no URL of this network"))
	}
	return address, nil
}
