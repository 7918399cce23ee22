package sandbox

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const (
	maxFacebookVideo   = 10_000_000_000 // bytes
	facebookChunk      = 1 << 20        // bytes
	facebookAround     = 64 << 10       // bytes of a form besides the chunk
	facebookUploadLife = 24 * time.Hour
)

// facebookVideo is a video and its upload.
type facebookVideo struct {
	id, session string
	account     string
	size        int64
	received    int64
	chunks      []string // cids, in order
	failure     string
	made        time.Time
	finished    time.Time // when the upload ended; zero before
}

var (
	errFacebookUpload = &graphError{
		status: http.StatusBadRequest, code: 100, message: "There is no such upload, or it has been ended",
	}
	errFacebookOffset = &graphError{
		status: http.StatusBadRequest, code: 100, subcode: 1363037,
		message: "The start offset is not the one that was asked for",
	}
)

// takeVideo handles the three phases of an upload. Files come in a multipart form.
func (n *facebook) takeVideo(w http.ResponseWriter, r *http.Request) {
	if !strings.HasPrefix(r.Header.Get("Content-Type"), "multipart/form-data") {
		n.graph(n.video)(w, r)
		return
	}
	ctx, cancel := work(r)
	defer cancel()
	r = r.WithContext(ctx)
	end := allowUpload(w)
	r.Body = http.MaxBytesReader(w, r.Body, facebookChunk+facebookAround)
	err := r.ParseMultipartForm(facebookChunk + facebookAround)
	end()
	if err != nil {
		n.writeGraph(w, r, nil, invalidParameter("The request cannot be read"))
		return
	}
	answer, err := n.video(r)
	n.writeGraph(w, r, answer, err)
}

func (n *facebook) video(r *http.Request) (any, error) {
	switch r.Form.Get("upload_phase") {
	case "start":
		return n.startVideo(r)
	case "transfer":
		return n.transferVideo(r)
	case "finish":
		return n.finishVideo(r)
	}
	return nil, invalidParameter("upload_phase has to be one of start, transfer, finish")
}

func (n *facebook) startVideo(r *http.Request) (any, error) {
	size, err := strconv.ParseInt(r.Form.Get("file_size"), 10, 64)
	if err != nil || size < 1 || size > maxFacebookVideo {
		return nil, invalidParameter("file_size is not that of a video")
	}
	v := facebookVideo{size: size}
	err = n.page(r, func(t tx, a account, _ oauthToken) error {
		v.account, v.made = a.id, n.now()
		return insertFacebookVideo(r.Context(), t, &v)
	})
	answer := v.wants()
	answer["video_id"], answer["upload_session_id"] = v.id, v.session
	return answer, err
}

// wants returns the range of the next chunk.
func (v facebookVideo) wants() map[string]string {
	return map[string]string{
		"start_offset": strconv.FormatInt(v.received, 10),
		"end_offset":   strconv.FormatInt(min(v.received+facebookChunk, v.size), 10),
	}
}

// upload returns the caller's unfinished upload.
func (n *facebook) upload(r *http.Request, t tx, a account) (facebookVideo, error) {
	v, found, err := findFacebookVideo(r.Context(), t, `session = ? and account = ?`, r.Form.Get("upload_session_id"), a.id)
	if err == nil && (!found || !v.finished.IsZero() || n.now().Sub(v.made) >= facebookUploadLife) {
		err = errFacebookUpload
	}
	return v, err
}

func (n *facebook) transferVideo(r *http.Request) (any, error) {
	var v facebookVideo
	file, _, err := r.FormFile("video_file_chunk")
	if err != nil {
		return nil, invalidParameter("video_file_chunk is missing")
	}
	defer file.Close()
	chunk, err := n.store.keepFile(file)
	if err != nil {
		return nil, err
	}
	err = n.page(r, func(t tx, a account, _ oauthToken) error {
		var err error
		if v, err = n.upload(r, t, a); err != nil {
			return err
		}
		if r.Form.Get("start_offset") != v.wants()["start_offset"] || chunk.size == 0 ||
			v.received+chunk.size > v.size {
			return errFacebookOffset
		}
		v.received += chunk.size
		v.chunks = append(v.chunks, chunk.cid)
		return updateFacebookVideo(r.Context(), t, v)
	})
	return v.wants(), err
}

// finishVideo ends an upload. The video is shown once the network has processed it.
func (n *facebook) finishVideo(r *http.Request) (any, error) {
	file, failure, err := n.assemble(r)
	if err != nil {
		return nil, err
	}
	var v facebookVideo
	_, err = n.show(r, func(t tx, a account) (*post, error) {
		var err error
		if v, err = n.upload(r, t, a); err != nil {
			return nil, err
		}
		p := &post{
			platform: facebookName, account: a.id, id: v.id, text: r.Form.Get("description"), media: []medium{file},
		}
		if !fitsFacebook(p.text) {
			return nil, invalidParameter("The description is too long")
		}
		return p, nil
	}, func(t tx, p *post) error {
		v.finished, v.failure = n.now(), failure
		if err := updateFacebookVideo(r.Context(), t, v); err != nil || failure != "" {
			return err
		}
		return n.keepShown(r.Context(), t, p, map[string]any{"media": p.media})
	})
	return map[string]bool{"success": true}, err
}

// assemble joins the chunks. It returns the medium, or what is wrong with it.
func (n *facebook) assemble(r *http.Request) (medium, string, error) {
	var v facebookVideo
	err := n.page(r, func(t tx, a account, _ oauthToken) error {
		var err error
		v, err = n.upload(r, t, a)
		if err == nil && v.received < v.size {
			err = errFacebookOffset
		}
		return err
	})
	if err != nil {
		return medium{}, "", err
	}
	blob, err := n.store.join(v.chunks)
	if err != nil {
		return medium{}, "", err
	}
	if blob.mime != "video/mp4" && blob.mime != "video/quicktime" {
		return medium{}, "The video cannot be read", nil
	}
	file, err := n.saveMedium(r.Context(), facebookName, v.account, blob)
	return file, "", err
}

// tellVideo returns a video in the API's form. Its address has no host.
func (n *facebook) tellVideo(v facebookVideo, a account) map[string]any {
	status := map[string]any{"video_status": n.videoStatus(v)}
	published := status["video_status"] == "ready"
	for phase, done := range map[string]bool{
		"uploading_phase": v.received == v.size, "processing_phase": published, "publishing_phase": published,
	} {
		status[phase] = map[string]any{"status": "not_started"}
		if done {
			status[phase] = map[string]any{"status": "complete"}
		}
	}
	if status["video_status"] == "error" {
		status["processing_phase"] = map[string]any{
			"status": "error", "errors": []any{map[string]any{"code": 1363008, "message": v.failure}},
		}
	}
	return map[string]any{
		"id": v.id, "status": status, "published": published, "permalink_url": "/" + a.handle + "/videos/" + v.id + "/",
		"created_time": v.made.Format(graphTime),
	}
}

// untoldVideo returns marker.ErrLost if a marker keeps the video's post unconfirmed.
func (n *facebook) untoldVideo(r *http.Request, t tx, v facebookVideo) error {
	p, found, err := t.post(r.Context(), facebookName, v.id)
	if err != nil || !found {
		return err
	}
	return untold(facebookName, p.text, p.at, n.now())
}

func (n *facebook) videoStatus(v facebookVideo) string {
	switch {
	case !v.finished.IsZero() && n.now().Sub(v.finished) < n.ready:
		return "processing"
	case !v.finished.IsZero() && v.failure != "":
		return "error"
	case !v.finished.IsZero():
		return "ready"
	case n.now().Sub(v.made) >= facebookUploadLife:
		return "expired"
	case v.received == v.size:
		return "upload_complete"
	}
	return "uploading"
}

// insertFacebookVideo stores a new upload and sets its ids.
func insertFacebookVideo(ctx context.Context, t tx, v *facebookVideo) error {
	var seq int64
	if err := t.QueryRowContext(ctx, `select coalesce(max(seq), 0) + 1 from facebook_videos`).Scan(&seq); err != nil {
		return fmt.Errorf("counting videos: %w", err)
	}
	v.id, v.session = fmt.Sprintf("15%015d", seq), fmt.Sprintf("16%015d", seq)
	_, err := t.ExecContext(ctx,
		`insert into facebook_videos (seq, id, session, account, size, made_at) values (?, ?, ?, ?, ?, ?)`,
		seq, v.id, v.session, v.account, v.size, v.made.UnixMilli())
	if err != nil {
		return fmt.Errorf("beginning an upload: %w", err)
	}
	return nil
}

// updateFacebookVideo updates a video.
func updateFacebookVideo(ctx context.Context, t tx, v facebookVideo) error {
	chunks, err := json.Marshal(v.chunks)
	if err != nil {
		return fmt.Errorf("writing a video's chunks: %w", err)
	}
	finished := sql.NullInt64{Int64: v.finished.UnixMilli(), Valid: !v.finished.IsZero()}
	_, err = t.ExecContext(ctx,
		`update facebook_videos set received = ?, chunks = ?, failure = ?, finished_at = ? where id = ?`,
		v.received, string(chunks), v.failure, finished, v.id)
	if err != nil {
		return fmt.Errorf("saving a video: %w", err)
	}
	return nil
}

// findFacebookVideo returns the video that the condition selects, and reports whether it exists.
func findFacebookVideo(ctx context.Context, t tx, condition string, args ...any) (facebookVideo, bool, error) {
	var v facebookVideo
	var chunks string
	var made int64
	var finished sql.NullInt64
	err := t.QueryRowContext(ctx,
		`select id, session, account, size, received, chunks, failure, made_at, finished_at from facebook_videos
		where `+condition, args...).
		Scan(&v.id, &v.session, &v.account, &v.size, &v.received, &chunks, &v.failure, &made, &finished)
	if errors.Is(err, sql.ErrNoRows) {
		return facebookVideo{}, false, nil
	}
	if err == nil {
		err = json.Unmarshal([]byte(chunks), &v.chunks)
	}
	if err != nil {
		return facebookVideo{}, false, fmt.Errorf("finding a video: %w", err)
	}
	v.made = time.UnixMilli(made).UTC()
	if finished.Valid {
		v.finished = time.UnixMilli(finished.Int64).UTC()
	}
	return v, true, nil
}
