package youtube

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"pressroom.example/pressroom/internal/sandbox/marker"
	"pressroom.example/pressroom/internal/sandbox/store"
)

// unauditedClient is the suffix of the ID of an app that has not passed YouTube's audit.
const unauditedClient = "-unaudited"

// videoBody is the stored body of a video.
type videoBody struct {
	Metadata videoMetadata  `json:"insert"`
	Media    []store.Medium `json:"media"`
	Failure  string         `json:"failure,omitempty"` // why processing failed
	Locked   bool           `json:"locked,omitempty"`  // whether it stays private because the app has not passed the audit

	Thumbnail string `json:"thumbnail,omitempty"` // path of the file
}

// publishVideo publishes a video when its last part has arrived. When publishVideo returns, the video is on disk.
func (n *Network) publishVideo(r *http.Request, last store.Blob) (any, error) {
	file, err := n.assemble(r, last)
	if err != nil {
		return nil, err
	}
	var u upload
	_, err = n.PublishInTx(r.Context(), errInternal, func(t store.Tx, waited bool) (marker.Outcome, error) {
		var token store.Token
		var err error
		u, token, err = n.findSessionIn(r, t)
		if err != nil || u.video != "" || u.received+last.Size != u.total {
			return marker.Outcome{}, err // a concurrent request has published the video
		}
		return n.tryPublish(r.Context(), t, &u, token, file, waited)
	})
	if err != nil {
		return nil, err
	}
	return n.progress(r, u)
}

// assemble joins the parts of a file. The parts are not deleted, because other uploads may share them.
func (n *Network) assemble(r *http.Request, last store.Blob) (store.Blob, error) {
	var parts []string
	err := n.Store.InTx(r.Context(), func(t store.Tx) error {
		var err error
		parts, err = listParts(r.Context(), t, r.URL.Query().Get("upload_id"))
		return err
	})
	if err != nil {
		return store.Blob{}, err
	}
	return n.Store.Join(append(parts, last.CID))
}

// markerErrors contains the errors that markers can request.
var markerErrors = marker.MarkerErrors{
	RejectErr:       invalidRequest("invalidVideoMetadata", "This video cannot be published (requested by a sandbox marker)"),
	ExpiredTokenErr: errToken, RateLimitErr: errRateLimited, FailureErr: errInternal,
}

func (n *Network) tryPublish(
	ctx context.Context, t store.Tx, u *upload, token store.Token, file store.Blob, waited bool,
) (marker.Outcome, error) {
	var body videoBody
	if err := json.Unmarshal(u.metadata, &body.Metadata); err != nil {
		return marker.Outcome{}, fmt.Errorf("reading the metadata of a video: %w", err)
	}
	attempt := marker.Attempt{
		Platform: Name, Account: u.account, Text: body.Metadata.Snippet.Description, Session: token.Session,
		Waited: waited,
	}
	return attempt.Publish(ctx, t, markerErrors, func() (string, error) {
		if !strings.HasPrefix(file.MIME, "video/") { // YouTube accepts such an upload and rejects it during processing
			file.MIME, body.Failure = u.mime, "invalidFile"
		}
		body.Locked = strings.HasSuffix(token.Client, unauditedClient)
		u.video = stableID("video "+u.id, 11)
		body.Media = []store.Medium{store.NewMedium(Name, u.account, file, "")}
		return u.video, n.saveVideo(ctx, t, *u, body, file)
	})
}

func (n *Network) saveVideo(ctx context.Context, t store.Tx, u upload, body videoBody, file store.Blob) error {
	encoded, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("writing a video: %w", err)
	}
	if err := t.SaveBlob(ctx, Name, u.account, file); err != nil {
		return err
	}
	err = t.SavePost(ctx, store.Post{
		Platform: Name, Account: u.account, ID: u.video, Text: body.Metadata.Snippet.Description,
		Media: body.Media, At: n.Now(), Version: u.id, Body: encoded,
	})
	if err != nil {
		return err
	}
	return completeUpload(ctx, t, u.id, u.video)
}
