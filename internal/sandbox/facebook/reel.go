package facebook

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"pressroom.example/pressroom/internal/sandbox/base"
	"pressroom.example/pressroom/internal/sandbox/graph"
	"pressroom.example/pressroom/internal/sandbox/store"
)

// reelSession is the prefix of a reel's stored session. The ID of the reel follows the prefix.
const reelSession = "reel "

func (v video) isReel() bool { return strings.HasPrefix(v.session, reelSession) }

// reelPhase starts the upload of a reel, or publishes a reel that was uploaded.
func (n *Network) reelPhase(r *http.Request) (any, error) {
	if r.Form.Get("upload_phase") == "finish" && r.Form.Get("video_state") != "PUBLISHED" {
		return nil, graph.InvalidParameter("video_state must be PUBLISHED in this sandbox")
	}
	return n.uploadPhase(r, "")
}

// uploadPhase starts the upload of a reel or of a story's video, or publishes the uploaded video.
func (n *Network) uploadPhase(r *http.Request, format string) (any, error) {
	switch r.Form.Get("upload_phase") {
	case "start":
		return n.startReel(r)
	case "finish":
		r.Form.Set("upload_session_id", reelSession+r.Form.Get("video_id"))
		return n.finishVideo(r, format)
	}
	return nil, graph.InvalidParameter("upload_phase must be one of start, finish")
}

func (n *Network) startReel(r *http.Request) (any, error) {
	v := video{size: maxVideo, session: reelSession} // saveReel sets the size
	err := n.asPage(r, func(t store.Tx, a store.Account, _ store.Token) error {
		v.account, v.createdAt = a.ID, n.Now()
		return insertVideo(r.Context(), t, &v)
	})
	return map[string]string{
		"video_id":   v.id,
		"upload_url": n.BaseURL(r) + "/" + Name + "/upload/video-upload/" + r.PathValue("version") + "/" + v.id,
	}, err
}

// uploadReel receives the file of a reel in a single request. The token is in a header.
func (n *Network) uploadReel(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := base.WorkContext(r)
	defer cancel()
	r = r.WithContext(ctx)
	r.Form = url.Values{
		"access_token":      {strings.TrimPrefix(r.Header.Get("Authorization"), "OAuth ")},
		"upload_session_id": {reelSession + r.PathValue("video")},
		"appsecret_proof":   r.URL.Query()["appsecret_proof"],
	}
	result, err := n.saveReel(w, r)
	n.Write(w, r, result, err)
}

func (n *Network) saveReel(w http.ResponseWriter, r *http.Request) (any, error) {
	size, err := strconv.ParseInt(r.Header.Get("file_size"), 10, 64)
	if err != nil || size < 1 || size > maxVideo || r.Header.Get("offset") != "0" {
		return nil, graph.InvalidParameter("offset must be 0 and file_size the size of the video")
	}
	withUpload := func(save func(store.Tx, video) error) error {
		return n.asPage(r, func(t store.Tx, a store.Account, _ store.Token) error {
			v, err := n.findUpload(r, t, a)
			if err == nil && v.receivedBytes > 0 {
				err = errUpload
			}
			if err != nil {
				return err
			}
			return save(t, v)
		})
	}
	if err := withUpload(func(store.Tx, video) error { return nil }); err != nil {
		return nil, err
	}
	endUpload := base.AllowUpload(w)
	file, err := n.Store.SaveFile(http.MaxBytesReader(w, r.Body, size))
	endUpload()
	if base.UploadError(err) != nil || err == nil && file.Size != size {
		return nil, errOffset
	}
	if err != nil {
		return nil, err
	}
	err = withUpload(func(t store.Tx, v video) error {
		v.size, v.receivedBytes, v.chunks = size, size, []string{file.CID}
		return updateVideo(r.Context(), t, v)
	})
	return map[string]bool{"success": true}, err
}
