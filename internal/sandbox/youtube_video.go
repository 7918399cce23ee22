package sandbox

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// youtubeBody is what is stored of a video besides its text.
type youtubeBody struct {
	Insert  youtubeInsert `json:"insert"`
	Media   []medium      `json:"media"`
	Failure string        `json:"failure,omitempty"` // why its file is no video
}

// launch makes the video of an upload whose last part was received, on disk when it returns.
func (n *youtube) launch(r *http.Request, last blobRef) (any, error) {
	file, err := n.assemble(r, last)
	if err != nil {
		return nil, err
	}
	var u youtubeUpload
	_, err = n.publish(errYouTubeInternal, func(waited bool) (outcome, error) {
		var out outcome
		err := n.store.in(r.Context(), func(t tx) error {
			var token oauthToken
			var err error
			u, token, err = n.sessionIn(r, t)
			if err != nil || u.video != "" || u.have+last.size != u.total {
				return err // another request was faster
			}
			out, err = n.tryLaunch(r.Context(), t, &u, token, file, waited)
			return err
		})
		return out, err
	})
	if err != nil {
		return nil, err
	}
	return n.progress(r, u)
}

// assemble joins the parts of a file. They stay, as other uploads may share them.
func (n *youtube) assemble(r *http.Request, last blobRef) (blobRef, error) {
	var parts []string
	err := n.store.in(r.Context(), func(t tx) error {
		var err error
		parts, err = listYouTubeParts(r.Context(), t, r.URL.Query().Get("upload_id"))
		return err
	})
	if err != nil {
		return blobRef{}, err
	}
	return n.store.join(append(parts, last.cid))
}

// youtubeRefusals are the refusals that markers ask for.
var youtubeRefusals = refusals{
	rejected: youtubeInvalid("invalidVideoMetadata", "This video cannot be published (asked for by a sandbox marker)"),
	expired:  errYouTubeToken, rateLimited: errYouTubeRate, failed: errYouTubeInternal,
}

func (n *youtube) tryLaunch(
	ctx context.Context, t tx, u *youtubeUpload, token oauthToken, file blobRef, waited bool,
) (outcome, error) {
	var body youtubeBody
	if err := json.Unmarshal(u.insert, &body.Insert); err != nil {
		return outcome{}, fmt.Errorf("reading the metadata of a video: %w", err)
	}
	publication := attempt{
		platform: youtubeName, account: u.account, text: body.Insert.Snippet.Description, session: token.session,
		waited: waited,
	}
	return publication.publish(ctx, t, youtubeRefusals, func() (string, error) {
		if !strings.HasPrefix(file.mime, "video/") { // such a file is taken, and fails later
			file.mime, body.Failure = u.mime, "invalidFile"
		}
		u.video = youtubeID("video "+u.id, 11)
		body.Media = []medium{newMedium(youtubeName, u.account, file, "")}
		return u.video, n.keepVideo(ctx, t, *u, body, file)
	})
}

func (n *youtube) keepVideo(ctx context.Context, t tx, u youtubeUpload, body youtubeBody, file blobRef) error {
	raw, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("writing a video: %w", err)
	}
	if err := t.keepBlob(ctx, youtubeName, u.account, file); err != nil {
		return err
	}
	err = t.keepPost(ctx, post{
		platform: youtubeName, account: u.account, id: u.video, text: body.Insert.Snippet.Description,
		media: body.Media, at: n.now(), version: u.id, body: raw,
	})
	if err != nil {
		return err
	}
	return completeYouTubeUpload(ctx, t, u.id, u.video)
}
