package sandbox

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"
)

// youtubeBody is what is kept of a video beside its text.
type youtubeBody struct {
	Insert  youtubeInsert `json:"insert"`
	Media   []medium      `json:"media"`
	Failure string        `json:"failure,omitempty"` // why its file is no video
}

// youtubeLaunch is what the last part of a file came to. Also a refusal may have changed something: a marker has acted.
type youtubeLaunch struct {
	upload  youtubeUpload
	refused error
	wait    time.Duration // come back after this
}

// launch makes the video of an upload whose last part was received, on disk when it returns.
func (n *youtube) launch(r *http.Request, last blobRef) (any, error) {
	file, err := n.assemble(r, last)
	if err != nil {
		return nil, err
	}
	for waited := false; ; waited = true {
		var out youtubeLaunch
		err := n.store.in(r.Context(), func(t tx) error {
			u, token, err := n.sessionIn(r, t)
			if err != nil || u.video != "" || u.have+last.size != u.total {
				out = youtubeLaunch{upload: u} // somebody else was quicker
				return err
			}
			out, err = n.tryLaunch(r.Context(), t, u, token, file, waited)
			return err
		})
		switch {
		case err != nil:
			return nil, err
		case out.refused != nil:
			return nil, out.refused
		case out.wait == 0:
			return n.progress(r, out.upload)
		case !n.pause(out.wait):
			return nil, errYouTubeInternal
		}
	}
}

// assemble puts the parts of a file together. They stay, as other uploads may have the same ones.
func (n *youtube) assemble(r *http.Request, last blobRef) (blobRef, error) {
	var parts []string
	err := n.store.in(r.Context(), func(t tx) error {
		var err error
		parts, err = t.youtubeParts(r.Context(), r.URL.Query().Get("upload_id"))
		return err
	})
	if err != nil {
		return blobRef{}, err
	}
	var files []io.Reader
	for _, cid := range append(parts, last.cid) {
		file, err := os.Open(n.store.filePath(cid))
		if err != nil {
			return blobRef{}, fmt.Errorf("opening a part: %w", err)
		}
		defer file.Close()
		files = append(files, file)
	}
	body := bufio.NewReader(io.MultiReader(files...))
	head, _ := body.Peek(sniffed) // what keeps it from being read is met again
	kind := mediaType(head, "")
	whole, err := n.store.keepFile(body)
	whole.mime = kind
	return whole, err
}

// tryLaunch lets the markers act, then keeps the video.
func (n *youtube) tryLaunch(
	ctx context.Context, t tx, u youtubeUpload, token oauthToken, file blobRef, waited bool,
) (youtubeLaunch, error) {
	var body youtubeBody
	if err := json.Unmarshal(u.insert, &body.Insert); err != nil {
		return youtubeLaunch{}, fmt.Errorf("reading what is said of a video: %w", err)
	}
	text := body.Insert.Snippet.Description
	marks := readMarkers(text, youtubeName)
	key := u.account + " " + contentID([]byte(text)) // uploads are new each time
	refused, err := n.actBefore(ctx, t, marks, key, token.session)
	if err != nil || refused != nil {
		return youtubeLaunch{refused: refused}, err
	}
	if marks.slow > 0 && !waited {
		return youtubeLaunch{wait: marks.slow}, nil
	}
	if !strings.HasPrefix(file.mime, "video/") { // such a file is taken, and found out later
		file.mime, body.Failure = u.mime, "invalidFile"
	}
	u.video = youtubeID("video "+u.id, 11)
	body.Media = []medium{{Path: youtubeName + "/media/" + u.account + "/" + file.cid, Type: file.mime}}
	if err := n.keepVideo(ctx, t, u, body, file); err != nil {
		return youtubeLaunch{}, err
	}
	out := youtubeLaunch{upload: u}
	lost, err := loses(ctx, t, youtubeName, marks, key)
	if lost {
		out.refused = errCut
	}
	return out, err
}

// actBefore lets the markers act that keep a video from being made: the refusal of the one that did.
func (n *youtube) actBefore(ctx context.Context, t tx, marks markers, key, session string) (error, error) {
	if marks.has(markReject) {
		return youtubeInvalid("invalidVideoMetadata", "This video cannot be published (asked for by a sandbox marker)"),
			nil
	}
	if dead, err := once(ctx, t, youtubeName, marks, key, markExpiredToken); dead || err != nil {
		if err == nil {
			err = t.killSession(ctx, youtubeName, session)
		}
		return errYouTubeToken, err
	}
	if marks.has(markRateLimit) {
		return errYouTubeRate, nil
	}
	if failed, err := once(ctx, t, youtubeName, marks, key, markError); failed || err != nil {
		return errYouTubeInternal, err
	}
	return nil, nil //nolint:nilnil // nothing acted and nothing failed
}

func (n *youtube) keepVideo(ctx context.Context, t tx, u youtubeUpload, body youtubeBody, file blobRef) error {
	kept, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("writing a video: %w", err)
	}
	if err := t.keepBlob(ctx, youtubeName, u.account, file); err != nil {
		return err
	}
	err = t.keepPost(ctx, post{
		platform: youtubeName, account: u.account, id: u.video, text: body.Insert.Snippet.Description,
		media: body.Media, at: n.now(), version: u.id, body: kept,
	})
	if err != nil {
		return err
	}
	return t.youtubeComplete(ctx, u.id, u.video)
}

// mediaFile gives out a video.
func (n *youtube) mediaFile(r *http.Request) (any, error) {
	var blob blobRef
	err := n.store.in(r.Context(), func(t tx) error {
		var found bool
		var err error
		blob, found, err = t.namedBlob(r.Context(), youtubeName, r.PathValue("account"), r.PathValue("cid"))
		if err == nil && !found {
			err = errYouTubeNoFile
		}
		return err
	})
	return n.blobAnswer(blob), err
}
