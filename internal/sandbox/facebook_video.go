package sandbox

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

const (
	maxFacebookVideo   = 10_000_000_000 // bytes
	facebookChunk      = 1 << 20        // bytes
	facebookAround     = 64 << 10       // bytes of a form around a chunk
	facebookUploadLife = 24 * time.Hour
)

// facebookVideo is a video and its upload.
type facebookVideo struct {
	id, session string
	account     string
	size        int64
	received    int64
	chunks      []string // cids, in their order
	failure     string
	made        time.Time
	finished    time.Time // when the upload was ended; zero before
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

// takeVideo answers the three phases of an upload. Files come in a form with parts, all else as everywhere.
func (n *facebook) takeVideo(w http.ResponseWriter, r *http.Request) {
	if !strings.HasPrefix(r.Header.Get("Content-Type"), "multipart/form-data") {
		n.graph(n.video)(w, r)
		return
	}
	ctx, cancel := work(r)
	defer cancel()
	r = r.WithContext(ctx)
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Now().Add(uploadTimeout)) // not every writer can; the body is bounded all the same
	r.Body = http.MaxBytesReader(w, r.Body, facebookChunk+facebookAround)
	err := r.ParseMultipartForm(facebookChunk + facebookAround)
	_ = control.SetReadDeadline(time.Time{})
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
		return t.makeFacebookVideo(r.Context(), &v)
	})
	answer := v.wants()
	answer["video_id"], answer["upload_session_id"] = v.id, v.session
	return answer, err
}

// wants is the part of the file that is to come next.
func (v facebookVideo) wants() map[string]string {
	return map[string]string{
		"start_offset": strconv.FormatInt(v.received, 10),
		"end_offset":   strconv.FormatInt(min(v.received+facebookChunk, v.size), 10),
	}
}

// upload is the caller's upload that is not ended yet.
func (n *facebook) upload(r *http.Request, t tx, a account) (facebookVideo, error) {
	v, found, err := t.facebookVideo(r.Context(), `session = ? and account = ?`, r.Form.Get("upload_session_id"), a.id)
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
		return t.keepFacebookVideo(r.Context(), v)
	})
	return v.wants(), err
}

// finishVideo ends an upload: the video is shown once the network has worked on it.
func (n *facebook) finishVideo(r *http.Request) (any, error) {
	file, failure, err := n.assemble(r)
	if err != nil {
		return nil, err
	}
	out, err := n.shown(r, func(t tx, a account, token oauthToken, waited bool) (launch, error) {
		v, err := n.upload(r, t, a)
		if err != nil {
			return launch{}, err
		}
		p := post{
			platform: facebookName, account: a.id, id: v.id, text: r.Form.Get("description"), media: []medium{file},
		}
		if !fitsFacebook(p.text) {
			return launch{}, invalidParameter("The description is too long")
		}
		out, held, err := n.before(r.Context(), t, p, token.session, waited)
		if held || err != nil {
			return out, err
		}
		v.finished, v.failure = n.now(), failure
		if err := t.keepFacebookVideo(r.Context(), v); err != nil || failure != "" {
			return launch{}, err
		}
		return n.keepShown(r.Context(), t, p, map[string]any{"media": p.media})
	})
	if err != nil {
		return nil, err
	}
	return map[string]bool{"success": true}, out.refused
}

// assemble makes one file of the chunks: the medium, or what is wrong with it.
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
	whole := &chunkReader{store: n.store, left: v.chunks}
	defer whole.Close()
	head := make([]byte, min(sniffed, v.size))
	if _, err := io.ReadFull(whole, head); err != nil {
		return medium{}, "", fmt.Errorf("reading a video: %w", err)
	}
	blob, err := n.store.keepFile(io.MultiReader(strings.NewReader(string(head)), whole))
	if err != nil {
		return medium{}, "", err
	}
	if blob.mime = mediaType(head, ""); blob.mime != "video/mp4" && blob.mime != "video/quicktime" {
		return medium{}, "The video cannot be read", nil
	}
	file, err := n.keep(r.Context(), v.account, blob)
	return file, "", err
}

// chunkReader reads files one behind the other.
type chunkReader struct {
	store *store
	left  []string // cids
	open  *os.File
}

func (c *chunkReader) Read(p []byte) (int, error) {
	for {
		if c.open != nil {
			count, err := c.open.Read(p)
			if count > 0 || !errors.Is(err, io.EOF) {
				return count, err //nolint:wrapcheck // a reader's errors are its own
			}
			c.Close()
		}
		if len(c.left) == 0 {
			return 0, io.EOF
		}
		var err error
		if c.open, err = os.Open(c.store.filePath(c.left[0])); err != nil {
			return 0, fmt.Errorf("opening a chunk: %w", err)
		}
		c.left = c.left[1:]
	}
}

func (c *chunkReader) Close() {
	if c.open != nil {
		_ = c.open.Close() // it was only read
		c.open = nil
	}
}

// tellVideo is a video as the API tells it. Its address has no host.
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

// untoldVideo is errCut where asking for the video would tell of a post that is to stay unconfirmed.
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

// makeFacebookVideo begins an upload and gives it its ids.
func (t tx) makeFacebookVideo(ctx context.Context, v *facebookVideo) error {
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

// keepFacebookVideo brings a video up to date.
func (t tx) keepFacebookVideo(ctx context.Context, v facebookVideo) error {
	chunks, err := json.Marshal(v.chunks)
	if err != nil {
		return fmt.Errorf("writing a video's chunks: %w", err)
	}
	finished := sql.NullInt64{Int64: v.finished.UnixMilli(), Valid: !v.finished.IsZero()}
	_, err = t.ExecContext(ctx,
		`update facebook_videos set received = ?, chunks = ?, failure = ?, finished_at = ? where id = ?`,
		v.received, string(chunks), v.failure, finished, v.id)
	if err != nil {
		return fmt.Errorf("keeping a video: %w", err)
	}
	return nil
}

// facebookVideo finds the video that the condition selects. It is false where there is none.
func (t tx) facebookVideo(ctx context.Context, condition string, args ...any) (facebookVideo, bool, error) {
	var v facebookVideo
	var chunks string
	var made int64
	var finished sql.NullInt64
	err := t.QueryRowContext(ctx,
		`select id, session, account, size, received, chunks, failure, made_at, finished_at from facebook_videos where `+condition, args...).
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
