package sandbox

import (
	"bufio"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strconv"
	"time"
)

const (
	xSegment     = 5 << 20 // bytes that one may have
	xMaxSegments = 1000
	xUploadLife  = 24 * time.Hour
	xMaxAlt      = 1000
)

// xUpload is a file that is uploaded in segments.
type xUpload struct {
	seq      int64
	account  string
	mime     string // as it was announced
	category string
	total    int64
	cid      string // of the whole, once it is there; empty before
	failed   bool
	alt      string
	made     time.Time
	ended    time.Time
}

func (u xUpload) id() string { return fmt.Sprintf("1%018d", u.seq) }

// xCategories are what may be uploaded, by bytes and types.
var xCategories = map[string]struct {
	most  int64
	types []string
}{
	"tweet_image": {5 << 20, []string{"image/jpeg", "image/png", "image/webp"}},
	"tweet_gif":   {15 << 20, []string{"image/gif"}},
	"tweet_video": {512 << 20, []string{"video/mp4", "video/quicktime"}},
}

func (n *xAPI) beginUpload(r *http.Request) (any, error) {
	var asked struct {
		Type     string `json:"media_type"`
		Category string `json:"media_category"`
		Total    int64  `json:"total_bytes"`
	}
	if xStrictly(r.Body, &asked) != nil {
		return nil, n.says.unread
	}
	taken, known := xCategories[asked.Category]
	if !known || asked.Total <= 0 || asked.Total > taken.most || !slices.Contains(taken.types, asked.Type) {
		return nil, xInvalid("The media_type, media_category and total_bytes are not taken together.")
	}
	u := xUpload{mime: asked.Type, category: asked.Category, total: asked.Total, made: n.now()}
	err := n.store.in(r.Context(), func(t tx) error {
		a, _, err := n.caller(r, t)
		if err != nil {
			return err
		}
		u.account = a.id
		return t.keepXUpload(r.Context(), &u)
	})
	return xData(n.describe(u)), err
}

// xStrictly reads JSON in which no member may be unknown.
func xStrictly(body io.Reader, into any) error {
	read := json.NewDecoder(body)
	read.DisallowUnknownFields()
	if err := read.Decode(into); err != nil {
		return fmt.Errorf("reading the body: %w", err)
	}
	return nil
}

// describe is an upload as the API tells it.
func (n *xAPI) describe(u xUpload) map[string]any {
	told := map[string]any{
		"id": u.id(), "media_key": xMediaKey(u),
		"expires_after_secs": int64(u.made.Add(xUploadLife).Sub(n.now()) / time.Second),
	}
	if u.category == "tweet_image" || u.ended.IsZero() {
		return told
	}
	left := u.ended.Add(n.ready).Sub(n.now())
	switch {
	case left > 0:
		told["processing_info"] = map[string]any{
			"state": "in_progress", "check_after_secs": int64((left + time.Second - 1) / time.Second),
			"progress_percent": 50,
		}
	case u.failed:
		told["processing_info"] = map[string]any{"state": "failed", "progress_percent": 0}
	default:
		told["processing_info"] = map[string]any{"state": "succeeded", "progress_percent": 100}
	}
	return told
}

func xMediaKey(u xUpload) string {
	if u.category == "tweet_video" {
		return "7_" + u.id()
	}
	return "3_" + u.id()
}

// appendUpload keeps one segment, on disk when it answers.
func (n *xAPI) appendUpload(w http.ResponseWriter, r *http.Request) (any, error) {
	u, err := n.upload(r)
	if err != nil {
		return nil, err
	}
	control := http.NewResponseController(w)
	// not every writer can; the segment is bounded all the same
	_ = control.SetReadDeadline(time.Now().Add(uploadTimeout))
	r.Body = http.MaxBytesReader(w, r.Body, xSegment+4096)
	place, segment, err := n.segment(r)
	_ = control.SetReadDeadline(time.Time{})
	if err != nil {
		return nil, err
	}
	err = n.store.in(r.Context(), func(t tx) error { return t.keepXSegment(r.Context(), u, place, segment) })
	return xData(map[string]any{"expires_at": u.made.Add(xUploadLife).Unix()}), err
}

// segment reads the form that a segment comes in, whose parts have no order.
func (n *xAPI) segment(r *http.Request) (int, blobRef, error) {
	form, err := r.MultipartReader()
	if err != nil {
		return 0, blobRef{}, n.says.unread
	}
	place, segment := -1, blobRef{}
	for {
		part, err := form.NextPart()
		if errors.Is(err, io.EOF) && place >= 0 && place < xMaxSegments && segment.size > 0 {
			return place, segment, nil
		}
		if err != nil {
			return 0, blobRef{}, n.says.unread
		}
		switch part.FormName() {
		case "segment_index":
			text, _ := io.ReadAll(io.LimitReader(part, 5)) // what is not a number is refused
			if place, err = strconv.Atoi(string(text)); err != nil {
				return 0, blobRef{}, n.says.unread
			}
		case "media":
			if segment, err = n.store.keepFile(io.LimitReader(part, xSegment)); err != nil {
				return 0, blobRef{}, err
			}
		default:
			return 0, blobRef{}, n.says.unread
		}
	}
}

// upload is the caller's upload that the request is about.
func (n *xAPI) upload(r *http.Request) (xUpload, error) {
	id := r.PathValue("id")
	if id == "" {
		id = r.Form.Get("media_id")
	}
	var u xUpload
	err := n.store.in(r.Context(), func(t tx) error {
		a, _, err := n.caller(r, t)
		if err != nil {
			return err
		}
		u, err = n.ownUpload(r.Context(), t, a, id)
		return err
	})
	return u, err
}

// ownUpload finds an upload of the account that has not expired.
func (n *xAPI) ownUpload(ctx context.Context, t tx, a account, id string) (xUpload, error) {
	u, found, err := t.xUpload(ctx, id)
	if err == nil && (!found || u.account != a.id || n.now().Sub(u.made) >= xUploadLife) {
		err = n.says.nowhere
	}
	return u, err
}

// endUpload puts the segments together. An image that is none is refused here, a video that is none fails later.
func (n *xAPI) endUpload(r *http.Request) (any, error) {
	u, err := n.upload(r)
	if err != nil || u.cid != "" {
		return xData(n.describe(u)), err
	}
	var segments []string
	err = n.store.in(r.Context(), func(t tx) error {
		segments, err = t.xSegments(r.Context(), u)
		return err
	})
	if err != nil {
		return nil, err
	}
	whole, err := n.join(segments)
	if err != nil {
		return nil, err
	}
	good := whole.mime == u.mime
	if whole.size != u.total || !good && u.category != "tweet_video" {
		return nil, xInvalid("The media is not what was announced.")
	}
	u.cid, u.failed, u.ended = whole.cid, !good, n.now()
	err = n.store.in(r.Context(), func(t tx) error {
		if err := t.keepBlob(r.Context(), xName, u.account, whole); err != nil {
			return err
		}
		return t.endXUpload(r.Context(), u)
	})
	return xData(n.describe(u)), err
}

// join makes one file of the segments.
func (n *xAPI) join(segments []string) (blobRef, error) {
	reader, writer := io.Pipe()
	go func() {
		for _, cid := range segments {
			if err := n.pour(writer, cid); err != nil {
				_ = writer.CloseWithError(err)
				return
			}
		}
		_ = writer.Close()
	}()
	defer func() { _ = reader.Close() }() // it never fails
	body := bufio.NewReader(reader)
	head, _ := body.Peek(sniffed) // what keeps it from being read is met again
	kind := mediaType(head, "")
	whole, err := n.store.keepFile(body)
	whole.mime = kind
	return whole, err
}

func (n *xAPI) pour(into io.Writer, cid string) error {
	file, err := os.Open(n.store.filePath(cid))
	if err != nil {
		return fmt.Errorf("opening a segment: %w", err)
	}
	defer file.Close()
	if _, err := io.Copy(into, file); err != nil {
		return fmt.Errorf("joining a segment: %w", err)
	}
	return nil
}

func (n *xAPI) uploadStatus(r *http.Request) (any, error) {
	u, err := n.upload(r)
	return xData(n.describe(u)), err
}

func (n *xAPI) describeUpload(r *http.Request) (any, error) {
	var asked struct {
		ID       string `json:"id"`
		Metadata struct {
			Alt struct {
				Text string `json:"text"`
			} `json:"alt_text"`
		} `json:"metadata"`
	}
	if xStrictly(r.Body, &asked) != nil || len([]rune(asked.Metadata.Alt.Text)) > xMaxAlt {
		return nil, n.says.unread
	}
	err := n.store.in(r.Context(), func(t tx) error {
		a, _, err := n.caller(r, t)
		if err != nil {
			return err
		}
		u, err := n.ownUpload(r.Context(), t, a, asked.ID)
		if err != nil {
			return err
		}
		u.alt = asked.Metadata.Alt.Text
		return t.endXUpload(r.Context(), u)
	})
	return xData(map[string]any{"id": asked.ID, "associated_metadata": map[string]any{}}), err
}

// keepXUpload makes the upload and gives it its number.
func (t tx) keepXUpload(ctx context.Context, u *xUpload) error {
	err := t.QueryRowContext(ctx,
		`insert into x_uploads (account, type, category, total, made_at) values (?, ?, ?, ?, ?) returning seq`,
		u.account, u.mime, u.category, u.total, u.made.UnixMilli()).Scan(&u.seq)
	if err != nil {
		return fmt.Errorf("keeping an upload: %w", err)
	}
	return nil
}

// xUpload finds an upload by its id. It is false where there is none.
func (t tx) xUpload(ctx context.Context, id string) (xUpload, bool, error) {
	seq, _ := strconv.ParseInt(id, 10, 64) // anything else is no upload's id
	u := xUpload{seq: seq - 1e18}
	if seq < 1e18 || u.id() != id {
		return xUpload{}, false, nil
	}
	var made, ended int64
	err := t.QueryRowContext(ctx,
		`select account, type, category, total, cid, failed, alt, made_at, ended_at from x_uploads where seq = ?`,
		u.seq).
		Scan(&u.account, &u.mime, &u.category, &u.total, &u.cid, &u.failed, &u.alt, &made, &ended)
	if errors.Is(err, sql.ErrNoRows) {
		return xUpload{}, false, nil
	}
	if err != nil {
		return xUpload{}, false, fmt.Errorf("finding an upload: %w", err)
	}
	u.made = time.UnixMilli(made)
	if ended > 0 {
		u.ended = time.UnixMilli(ended)
	}
	return u, true, nil
}

// endXUpload brings the upload up to date.
func (t tx) endXUpload(ctx context.Context, u xUpload) error {
	ended := int64(0)
	if !u.ended.IsZero() {
		ended = u.ended.UnixMilli()
	}
	_, err := t.ExecContext(ctx, `update x_uploads set cid = ?, failed = ?, alt = ?, ended_at = ? where seq = ?`, u.cid,
		u.failed, u.alt, ended, u.seq)
	if err != nil {
		return fmt.Errorf("bringing an upload up to date: %w", err)
	}
	return nil
}

func (t tx) keepXSegment(ctx context.Context, u xUpload, place int, segment blobRef) error {
	_, err := t.ExecContext(ctx,
		`insert into x_segments (upload, place, cid) values (?, ?, ?) on conflict (upload, place) do update set cid = excluded.cid`,
		u.seq, place, segment.cid)
	if err != nil {
		return fmt.Errorf("keeping a segment: %w", err)
	}
	return nil
}

// xSegments are the files of an upload's segments, in their order.
func (t tx) xSegments(ctx context.Context, u xUpload) ([]string, error) {
	rows, err := t.QueryContext(ctx, `select cid from x_segments where upload = ? order by place`, u.seq)
	if err != nil {
		return nil, fmt.Errorf("reading segments: %w", err)
	}
	defer rows.Close()
	var found []string
	for rows.Next() {
		var cid string
		if err := rows.Scan(&cid); err != nil {
			return nil, fmt.Errorf("reading a segment: %w", err)
		}
		found = append(found, cid)
	}
	return found, rows.Err()
}
