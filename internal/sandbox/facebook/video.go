package facebook

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

	"pressroom.example/pressroom/internal/sandbox/base"
	"pressroom.example/pressroom/internal/sandbox/graph"
	"pressroom.example/pressroom/internal/sandbox/marker"
	"pressroom.example/pressroom/internal/sandbox/store"
)

const (
	maxVideo       = 10_000_000_000 // bytes
	chunkSize      = 1 << 20        // bytes
	formOverhead   = 64 << 10       // maximum number of bytes of a form in addition to the chunk
	uploadLifetime = 24 * time.Hour
)

// video is a video and its upload.
type video struct {
	id, session   string
	account       string
	size          int64
	receivedBytes int64
	chunks        []string // CIDs in order
	failure       string   // why processing failed
	createdAt     time.Time
	finishedAt    time.Time // zero until the upload is finished
	isDraft       bool      // whether the video remains unpublished until its owner shares it
}

var (
	errUpload = &graph.Error{
		Status: http.StatusBadRequest, Code: 100, Message: "The upload does not exist or has ended",
	}
	errOffset = &graph.Error{
		Status: http.StatusBadRequest, Code: 100, Subcode: 1363037,
		Message: "The start offset is not the expected one",
	}
)

// uploadVideo handles the three phases of an upload. Clients send files in multipart forms.
func (n *Network) uploadVideo(w http.ResponseWriter, r *http.Request) {
	if !strings.HasPrefix(r.Header.Get("Content-Type"), "multipart/form-data") {
		n.HandlerFor(n.videoPhase)(w, r)
		return
	}
	ctx, cancel := base.WorkContext(r)
	defer cancel()
	r = r.WithContext(ctx)
	endUpload := base.AllowUpload(w)
	r.Body = http.MaxBytesReader(w, r.Body, chunkSize+formOverhead)
	err := r.ParseMultipartForm(chunkSize + formOverhead)
	endUpload()
	if err != nil {
		n.Write(w, r, nil, graph.InvalidParameter("The request cannot be read"))
		return
	}
	result, err := n.videoPhase(r)
	n.Write(w, r, result, err)
}

func (n *Network) videoPhase(r *http.Request) (any, error) {
	switch r.Form.Get("upload_phase") {
	case "start":
		return n.startVideo(r)
	case "transfer":
		return n.transferVideo(r)
	case "finish":
		return n.finishVideo(r, "")
	}
	return nil, graph.InvalidParameter("upload_phase must be one of start, transfer, finish")
}

func (n *Network) startVideo(r *http.Request) (any, error) {
	size, err := strconv.ParseInt(r.Form.Get("file_size"), 10, 64)
	if err != nil || size < 1 || size > maxVideo {
		return nil, graph.InvalidParameter("file_size is out of range")
	}
	v := video{size: size}
	err = n.asPage(r, func(t store.Tx, a store.Account, _ store.Token) error {
		v.account, v.createdAt = a.ID, n.Now()
		return insertVideo(r.Context(), t, &v)
	})
	response := v.nextChunk()
	response["video_id"], response["upload_session_id"] = v.id, v.session
	return response, err
}

// nextChunk returns the range of the next chunk.
func (v video) nextChunk() map[string]string {
	return map[string]string{
		"start_offset": strconv.FormatInt(v.receivedBytes, 10),
		"end_offset":   strconv.FormatInt(min(v.receivedBytes+chunkSize, v.size), 10),
	}
}

// findUpload returns an unfinished upload of the Page.
func (n *Network) findUpload(r *http.Request, t store.Tx, a store.Account) (video, error) {
	v, found, err := findVideo(r.Context(), t, `session = ? and account = ?`, r.Form.Get("upload_session_id"), a.ID)
	if err == nil && (!found || !v.finishedAt.IsZero() || n.Now().Sub(v.createdAt) >= uploadLifetime) {
		err = errUpload
	}
	return v, err
}

func (n *Network) transferVideo(r *http.Request) (any, error) {
	var v video
	file, _, err := r.FormFile("video_file_chunk")
	if err != nil {
		return nil, graph.InvalidParameter("video_file_chunk is missing")
	}
	defer file.Close()
	chunk, err := n.Store.SaveFile(file)
	if err != nil {
		return nil, err
	}
	err = n.asPage(r, func(t store.Tx, a store.Account, _ store.Token) error {
		var err error
		if v, err = n.findUpload(r, t, a); err != nil {
			return err
		}
		if r.Form.Get("start_offset") != v.nextChunk()["start_offset"] || chunk.Size == 0 ||
			v.receivedBytes+chunk.Size > v.size {
			return errOffset
		}
		v.receivedBytes += chunk.Size
		v.chunks = append(v.chunks, chunk.CID)
		return updateVideo(r.Context(), t, v)
	})
	return v.nextChunk(), err
}

// finishVideo finishes an upload and publishes the video. The video is then processed.
func (n *Network) finishVideo(r *http.Request, format string) (any, error) {
	file, failure, err := n.assemble(r)
	if err != nil {
		return nil, err
	}
	var v video
	_, err = n.publish(r, func(t store.Tx, a store.Account) (*store.Post, error) {
		var err error
		if v, err = n.findUpload(r, t, a); err != nil {
			return nil, err
		}
		p := &store.Post{
			Platform: Name, Account: a.ID, ID: v.id, Text: r.Form.Get("description"), Media: []store.Medium{file},
			Format: format,
		}
		if isTooLong(p.Text) {
			return nil, graph.InvalidParameter("The description is too long")
		}
		return p, checkOptions(r.Form)
	}, func(t store.Tx, p *store.Post) error {
		v.finishedAt, v.failure = n.Now(), failure
		if err := updateVideo(r.Context(), t, v); err != nil || failure != "" {
			return err
		}
		return n.saveWithBody(r.Context(), t, p, map[string]any{
			"media": p.Media, "reel": v.isReel(), "options": keepOptions(r.Form),
		})
	})
	if format == store.FormatStory {
		return map[string]any{"success": true, "post_id": v.id}, err
	}
	return map[string]bool{"success": true}, err
}

// assemble joins the chunks. It returns the video, or the reason why the video cannot be processed.
func (n *Network) assemble(r *http.Request) (store.Medium, string, error) {
	var v video
	err := n.asPage(r, func(t store.Tx, a store.Account, _ store.Token) error {
		var err error
		v, err = n.findUpload(r, t, a)
		if err == nil && v.receivedBytes < v.size {
			err = errOffset
		}
		return err
	})
	if err != nil {
		return store.Medium{}, "", err
	}
	blob, err := n.Store.Join(v.chunks)
	if err != nil {
		return store.Medium{}, "", err
	}
	if blob.MIME != "video/mp4" && blob.MIME != "video/quicktime" {
		return store.Medium{}, "The video cannot be read", nil
	}
	file, err := n.SaveMedium(r.Context(), Name, v.account, blob)
	return file, "", err
}

// videoView returns a video in the API's format. Its permalink has no host. It is an assumption that a draft completes
// the publishing phase.
func (n *Network) videoView(v video, a store.Account) map[string]any {
	status := map[string]any{"video_status": n.videoStatus(v)}
	ready := status["video_status"] == "ready"
	published := ready && !v.isDraft
	for phase, isComplete := range map[string]bool{
		"uploading_phase": v.receivedBytes == v.size, "processing_phase": ready, "publishing_phase": false,
	} {
		status[phase] = map[string]any{"status": "not_started"}
		if isComplete {
			status[phase] = map[string]any{"status": "complete"}
		}
	}
	if ready {
		publishStatus := "published"
		if v.isDraft {
			publishStatus = "draft"
		}
		status["publishing_phase"] = map[string]any{"status": "complete", "publish_status": publishStatus}
	}
	if status["video_status"] == "error" {
		status["processing_phase"] = map[string]any{
			"status": "error", "errors": []any{map[string]any{"code": 1363008, "message": v.failure}},
		}
	}
	path := "/" + a.Handle + "/videos/"
	if v.isReel() {
		path = "/reel/"
	}
	return map[string]any{
		"id": v.id, "status": status, "published": published, "permalink_url": path + v.id + "/",
		"created_time": v.createdAt.Format(graph.TimeFormat),
	}
}

// checkMarkers reports whether a marker keeps a video as a draft. If another marker still hides the post, it returns
// marker.ErrLost.
func (n *Network) checkMarkers(r *http.Request, t store.Tx, v video) (bool, error) {
	p, found, err := t.Post(r.Context(), Name, v.id)
	if err != nil || !found {
		return false, err
	}
	return marker.Read(p.Text, Name).Has(marker.Draft), marker.Withhold(Name, p.Text, p.At, n.Now())
}

func (n *Network) videoStatus(v video) string {
	switch {
	case !v.finishedAt.IsZero() && n.Now().Sub(v.finishedAt) < n.ProcessingTime:
		return "processing"
	case !v.finishedAt.IsZero() && v.failure != "":
		return "error"
	case !v.finishedAt.IsZero():
		return "ready"
	case n.Now().Sub(v.createdAt) >= uploadLifetime:
		return "expired"
	case v.receivedBytes == v.size:
		return "upload_complete"
	}
	return "uploading"
}

// insertVideo stores a new upload and sets its IDs.
func insertVideo(ctx context.Context, t store.Tx, v *video) error {
	var seq int64
	if err := t.QueryRowContext(ctx, `select coalesce(max(seq), 0) + 1 from facebook_videos`).Scan(&seq); err != nil {
		return fmt.Errorf("counting videos: %w", err)
	}
	v.id = fmt.Sprintf("15%015d", seq)
	if v.isReel() {
		v.session += v.id
	} else {
		v.session = fmt.Sprintf("16%015d", seq)
	}
	return t.Run(ctx, "starting an upload",
		`insert into facebook_videos (seq, id, session, account, size, made_at) values (?, ?, ?, ?, ?, ?)`,
		seq, v.id, v.session, v.account, v.size, v.createdAt.UnixMilli())
}

func updateVideo(ctx context.Context, t store.Tx, v video) error {
	chunks, err := json.Marshal(v.chunks)
	if err != nil {
		return fmt.Errorf("writing a video's chunks: %w", err)
	}
	finishedAt := sql.NullInt64{Int64: v.finishedAt.UnixMilli(), Valid: !v.finishedAt.IsZero()}
	return t.Run(ctx, "saving a video",
		`update facebook_videos set size = ?, received = ?, chunks = ?, failure = ?, finished_at = ? where id = ?`,
		v.size, v.receivedBytes, string(chunks), v.failure, finishedAt, v.id)
}

// findVideo returns the video that an SQL condition selects, and reports whether it exists.
func findVideo(ctx context.Context, t store.Tx, condition string, args ...any) (video, bool, error) {
	var v video
	var chunks string
	var createdAt int64
	var finishedAt sql.NullInt64
	err := t.QueryRowContext(ctx,
		`select id, session, account, size, received, chunks, failure, made_at, finished_at from facebook_videos
		where `+condition, args...).
		Scan(&v.id, &v.session, &v.account, &v.size, &v.receivedBytes, &chunks, &v.failure, &createdAt, &finishedAt)
	if errors.Is(err, sql.ErrNoRows) {
		return video{}, false, nil
	}
	if err == nil {
		err = json.Unmarshal([]byte(chunks), &v.chunks)
	}
	if err != nil {
		return video{}, false, fmt.Errorf("finding a video: %w", err)
	}
	v.createdAt = time.UnixMilli(createdAt).UTC()
	if finishedAt.Valid {
		v.finishedAt = time.UnixMilli(finishedAt.Int64).UTC()
	}
	return v, true, nil
}
