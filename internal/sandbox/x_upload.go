package sandbox

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"time"
)

const (
	xSegment     = 5 << 20 // bytes
	xMaxSegments = 1000
	xUploadLife  = 24 * time.Hour
	xMaxAlt      = 1000
)

// xUpload is a file that is uploaded in segments.
type xUpload struct {
	seq      int64
	account  string
	mime     string // declared type
	category string
	total    int64
	cid      string // of the joined file; empty before
	failed   bool
	alt      string
	made     time.Time
	ended    time.Time
}

func (u xUpload) id() string { return fmt.Sprintf("1%018d", u.seq) }

// xCategories are the limits of uploads.
var xCategories = map[string]struct {
	most  int64
	types []string
}{
	"tweet_image": {5 << 20, []string{"image/jpeg", "image/png", "image/webp"}},
	"tweet_gif":   {15 << 20, []string{"image/gif"}},
	"tweet_video": {512 << 20, []string{"video/mp4", "video/quicktime"}},
}

func (n *xAPI) beginUpload(r *http.Request) (any, error) {
	var in struct {
		Type     string `json:"media_type"`
		Category string `json:"media_category"`
		Total    int64  `json:"total_bytes"`
	}
	if xStrictly(r.Body, &in) != nil {
		return nil, n.says.unread
	}
	taken, known := xCategories[in.Category]
	if !known || in.Total <= 0 || in.Total > taken.most || !slices.Contains(taken.types, in.Type) {
		return nil, xInvalid("The media_type, media_category and total_bytes are not taken together.")
	}
	u := xUpload{mime: in.Type, category: in.Category, total: in.Total, made: n.now()}
	err := n.store.in(r.Context(), func(t tx) error {
		a, _, err := n.caller(r, t)
		if err != nil {
			return err
		}
		u.account = a.id
		return insertXUpload(r.Context(), t, &u)
	})
	return xData(n.describe(u)), err
}

// xStrictly parses JSON without unknown members.
func xStrictly(body io.Reader, into any) error {
	read := json.NewDecoder(body)
	read.DisallowUnknownFields()
	if err := read.Decode(into); err != nil {
		return fmt.Errorf("reading the body: %w", err)
	}
	return nil
}

// describe returns an upload in the API's form.
func (n *xAPI) describe(u xUpload) map[string]any {
	answer := map[string]any{
		"id": u.id(), "media_key": xMediaKey(u),
		"expires_after_secs": int64(u.made.Add(xUploadLife).Sub(n.now()) / time.Second),
	}
	if u.category == "tweet_image" || u.ended.IsZero() {
		return answer
	}
	left := u.ended.Add(n.ready).Sub(n.now())
	switch {
	case left > 0:
		answer["processing_info"] = map[string]any{
			"state": "in_progress", "check_after_secs": int64((left + time.Second - 1) / time.Second),
			"progress_percent": 50,
		}
	case u.failed:
		answer["processing_info"] = map[string]any{"state": "failed", "progress_percent": 0}
	default:
		answer["processing_info"] = map[string]any{"state": "succeeded", "progress_percent": 100}
	}
	return answer
}

func xMediaKey(u xUpload) string {
	if u.category == "tweet_video" {
		return "7_" + u.id()
	}
	return "3_" + u.id()
}

// appendUpload saves a segment, on disk when it answers.
func (n *xAPI) appendUpload(w http.ResponseWriter, r *http.Request) (any, error) {
	u, err := n.upload(r)
	if err != nil {
		return nil, err
	}
	end := allowUpload(w)
	r.Body = http.MaxBytesReader(w, r.Body, xSegment+4096)
	place, segment, err := n.segment(r)
	end()
	if err != nil {
		return nil, err
	}
	err = n.store.in(r.Context(), func(t tx) error { return upsertXSegment(r.Context(), t, u, place, segment) })
	return xData(map[string]any{"expires_at": u.made.Add(xUploadLife).Unix()}), err
}

// segment parses the form of a segment, whose parts have no order.
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
			text, _ := io.ReadAll(io.LimitReader(part, 5)) // an invalid number is refused
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

// upload returns the caller's upload that the request names.
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

// ownUpload returns an upload of the account that has not expired.
func (n *xAPI) ownUpload(ctx context.Context, t tx, a account, id string) (xUpload, error) {
	u, found, err := findXUpload(ctx, t, id)
	if err == nil && (!found || u.account != a.id || n.now().Sub(u.made) >= xUploadLife) {
		err = n.says.nowhere
	}
	return u, err
}

// endUpload joins the segments. An invalid image is refused here, an invalid video fails later.
func (n *xAPI) endUpload(r *http.Request) (any, error) {
	u, err := n.upload(r)
	if err != nil || u.cid != "" {
		return xData(n.describe(u)), err
	}
	var segments []string
	err = n.store.in(r.Context(), func(t tx) error {
		segments, err = listXSegments(r.Context(), t, u)
		return err
	})
	if err != nil {
		return nil, err
	}
	whole, err := n.store.join(segments)
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
		return updateXUpload(r.Context(), t, u)
	})
	return xData(n.describe(u)), err
}

func (n *xAPI) uploadStatus(r *http.Request) (any, error) {
	u, err := n.upload(r)
	return xData(n.describe(u)), err
}

func (n *xAPI) describeUpload(r *http.Request) (any, error) {
	var in struct {
		ID       string `json:"id"`
		Metadata struct {
			Alt struct {
				Text string `json:"text"`
			} `json:"alt_text"`
		} `json:"metadata"`
	}
	if xStrictly(r.Body, &in) != nil || len([]rune(in.Metadata.Alt.Text)) > xMaxAlt {
		return nil, n.says.unread
	}
	err := n.store.in(r.Context(), func(t tx) error {
		a, _, err := n.caller(r, t)
		if err != nil {
			return err
		}
		u, err := n.ownUpload(r.Context(), t, a, in.ID)
		if err != nil {
			return err
		}
		u.alt = in.Metadata.Alt.Text
		return updateXUpload(r.Context(), t, u)
	})
	return xData(map[string]any{"id": in.ID, "associated_metadata": map[string]any{}}), err
}

// insertXUpload stores a new upload and sets its number.
func insertXUpload(ctx context.Context, t tx, u *xUpload) error {
	err := t.QueryRowContext(ctx,
		`insert into x_uploads (account, type, category, total, made_at) values (?, ?, ?, ?, ?) returning seq`,
		u.account, u.mime, u.category, u.total, u.made.UnixMilli()).Scan(&u.seq)
	if err != nil {
		return fmt.Errorf("saving an upload: %w", err)
	}
	return nil
}

// findXUpload returns an upload by its id, and reports whether it exists.
func findXUpload(ctx context.Context, t tx, id string) (xUpload, bool, error) {
	seq, _ := strconv.ParseInt(id, 10, 64) // no other text is an upload's id
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

// updateXUpload updates the upload.
func updateXUpload(ctx context.Context, t tx, u xUpload) error {
	ended := int64(0)
	if !u.ended.IsZero() {
		ended = u.ended.UnixMilli()
	}
	_, err := t.ExecContext(ctx, `update x_uploads set cid = ?, failed = ?, alt = ?, ended_at = ? where seq = ?`, u.cid,
		u.failed, u.alt, ended, u.seq)
	if err != nil {
		return fmt.Errorf("updating an upload: %w", err)
	}
	return nil
}

func upsertXSegment(ctx context.Context, t tx, u xUpload, place int, segment blobRef) error {
	_, err := t.ExecContext(ctx,
		`insert into x_segments (upload, place, cid) values (?, ?, ?)
		on conflict (upload, place) do update set cid = excluded.cid`,
		u.seq, place, segment.cid)
	if err != nil {
		return fmt.Errorf("saving a segment: %w", err)
	}
	return nil
}

// listXSegments returns the files of an upload's segments in order.
func listXSegments(ctx context.Context, t tx, u xUpload) ([]string, error) {
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
