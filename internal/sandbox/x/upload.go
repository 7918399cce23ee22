package x

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

	"pressroom.example/pressroom/internal/sandbox/base"
	"pressroom.example/pressroom/internal/sandbox/store"
)

const (
	maxSegment     = 5 << 20 // bytes
	maxSegments    = 1000
	uploadLifetime = 24 * time.Hour
	maxAlt         = 1000
)

// upload is a file that is uploaded in segments.
type upload struct {
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

func (u upload) id() string { return fmt.Sprintf("1%018d", u.seq) }

// categories are the limits of uploads.
var categories = map[string]struct {
	maxSize int64
	types   []string
}{
	"tweet_image": {5 << 20, []string{"image/jpeg", "image/png", "image/webp"}},
	"tweet_gif":   {15 << 20, []string{"image/gif"}},
	"tweet_video": {512 << 20, []string{"video/mp4", "video/quicktime"}},
}

func (n *Network) beginUpload(r *http.Request) (any, error) {
	var in struct {
		Type     string `json:"media_type"`
		Category string `json:"media_category"`
		Total    int64  `json:"total_bytes"`
	}
	if readStrictly(r.Body, &in) != nil {
		return nil, n.Errors.Unreadable
	}
	limits, known := categories[in.Category]
	if !known || in.Total <= 0 || in.Total > limits.maxSize || !slices.Contains(limits.types, in.Type) {
		return nil, invalid("The media_type, media_category and total_bytes are not taken together.")
	}
	u := upload{mime: in.Type, category: in.Category, total: in.Total, made: n.Now()}
	err := n.Store.InTx(r.Context(), func(t store.Tx) error {
		a, _, err := n.Authenticate(r, t)
		if err != nil {
			return err
		}
		u.account = a.ID
		return insertUpload(r.Context(), t, &u)
	})
	return dataOf(n.describe(u)), err
}

// readStrictly parses JSON without unknown members.
func readStrictly(body io.Reader, into any) error {
	read := json.NewDecoder(body)
	read.DisallowUnknownFields()
	if err := read.Decode(into); err != nil {
		return fmt.Errorf("reading the body: %w", err)
	}
	return nil
}

// describe returns an upload in the API's form.
func (n *Network) describe(u upload) map[string]any {
	answer := map[string]any{
		"id": u.id(), "media_key": mediaKey(u),
		"expires_after_secs": int64(u.made.Add(uploadLifetime).Sub(n.Now()) / time.Second),
	}
	if u.category == "tweet_image" || u.ended.IsZero() {
		return answer
	}
	left := u.ended.Add(n.Ready).Sub(n.Now())
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

func mediaKey(u upload) string {
	if u.category == "tweet_video" {
		return "7_" + u.id()
	}
	return "3_" + u.id()
}

// appendUpload saves a segment, on disk when it answers.
func (n *Network) appendUpload(w http.ResponseWriter, r *http.Request) (any, error) {
	u, err := n.upload(r)
	if err != nil {
		return nil, err
	}
	end := base.AllowUpload(w)
	r.Body = http.MaxBytesReader(w, r.Body, maxSegment+4096)
	place, segment, err := n.segment(r)
	end()
	if err != nil {
		return nil, err
	}
	err = n.Store.InTx(r.Context(), func(t store.Tx) error { return upsertSegment(r.Context(), t, u, place, segment) })
	return dataOf(map[string]any{"expires_at": u.made.Add(uploadLifetime).Unix()}), err
}

// segment parses the form of a segment, whose parts have no order.
func (n *Network) segment(r *http.Request) (int, store.Blob, error) {
	form, err := r.MultipartReader()
	if err != nil {
		return 0, store.Blob{}, n.Errors.Unreadable
	}
	place, segment := -1, store.Blob{}
	for {
		part, err := form.NextPart()
		if errors.Is(err, io.EOF) && place >= 0 && place < maxSegments && segment.Size > 0 {
			return place, segment, nil
		}
		if err != nil {
			return 0, store.Blob{}, n.Errors.Unreadable
		}
		switch part.FormName() {
		case "segment_index":
			text, _ := io.ReadAll(io.LimitReader(part, 5)) // an invalid number is refused
			if place, err = strconv.Atoi(string(text)); err != nil {
				return 0, store.Blob{}, n.Errors.Unreadable
			}
		case "media":
			if segment, err = n.Store.SaveFile(io.LimitReader(part, maxSegment)); err != nil {
				return 0, store.Blob{}, err
			}
		default:
			return 0, store.Blob{}, n.Errors.Unreadable
		}
	}
}

// upload returns the caller's upload that the request names.
func (n *Network) upload(r *http.Request) (upload, error) {
	id := r.PathValue("id")
	if id == "" {
		id = r.Form.Get("media_id")
	}
	var u upload
	err := n.Store.InTx(r.Context(), func(t store.Tx) error {
		a, _, err := n.Authenticate(r, t)
		if err != nil {
			return err
		}
		u, err = n.ownUpload(r.Context(), t, a, id)
		return err
	})
	return u, err
}

// ownUpload returns an upload of the account that has not expired.
func (n *Network) ownUpload(ctx context.Context, t store.Tx, a store.Account, id string) (upload, error) {
	u, found, err := findUpload(ctx, t, id)
	if err == nil && (!found || u.account != a.ID || n.Now().Sub(u.made) >= uploadLifetime) {
		err = n.Errors.NotFound
	}
	return u, err
}

// endUpload joins the segments. An invalid image is refused here, an invalid video fails later.
func (n *Network) endUpload(r *http.Request) (any, error) {
	u, err := n.upload(r)
	if err != nil || u.cid != "" {
		return dataOf(n.describe(u)), err
	}
	var segments []string
	err = n.Store.InTx(r.Context(), func(t store.Tx) error {
		segments, err = listSegments(r.Context(), t, u)
		return err
	})
	if err != nil {
		return nil, err
	}
	whole, err := n.Store.Join(segments)
	if err != nil {
		return nil, err
	}
	matches := whole.MIME == u.mime
	if whole.Size != u.total || !matches && u.category != "tweet_video" {
		return nil, invalid("The media is not what was announced.")
	}
	u.cid, u.failed, u.ended = whole.CID, !matches, n.Now()
	err = n.Store.InTx(r.Context(), func(t store.Tx) error {
		if err := t.SaveBlob(r.Context(), Name, u.account, whole); err != nil {
			return err
		}
		return updateUpload(r.Context(), t, u)
	})
	return dataOf(n.describe(u)), err
}

func (n *Network) uploadStatus(r *http.Request) (any, error) {
	u, err := n.upload(r)
	return dataOf(n.describe(u)), err
}

func (n *Network) describeUpload(r *http.Request) (any, error) {
	var in struct {
		ID       string `json:"id"`
		Metadata struct {
			Alt struct {
				Text string `json:"text"`
			} `json:"alt_text"`
		} `json:"metadata"`
	}
	if readStrictly(r.Body, &in) != nil || len([]rune(in.Metadata.Alt.Text)) > maxAlt {
		return nil, n.Errors.Unreadable
	}
	err := n.Store.InTx(r.Context(), func(t store.Tx) error {
		a, _, err := n.Authenticate(r, t)
		if err != nil {
			return err
		}
		u, err := n.ownUpload(r.Context(), t, a, in.ID)
		if err != nil {
			return err
		}
		u.alt = in.Metadata.Alt.Text
		return updateUpload(r.Context(), t, u)
	})
	return dataOf(map[string]any{"id": in.ID, "associated_metadata": map[string]any{}}), err
}

// insertUpload stores a new upload and sets its number.
func insertUpload(ctx context.Context, t store.Tx, u *upload) error {
	err := t.QueryRowContext(ctx,
		`insert into x_uploads (account, type, category, total, made_at) values (?, ?, ?, ?, ?) returning seq`,
		u.account, u.mime, u.category, u.total, u.made.UnixMilli()).Scan(&u.seq)
	if err != nil {
		return fmt.Errorf("saving an upload: %w", err)
	}
	return nil
}

// findUpload returns an upload by its ID, and reports whether it exists.
func findUpload(ctx context.Context, t store.Tx, id string) (upload, bool, error) {
	seq, _ := strconv.ParseInt(id, 10, 64) // no other text is an upload's ID
	u := upload{seq: seq - 1e18}
	if seq < 1e18 || u.id() != id {
		return upload{}, false, nil
	}
	var made, ended int64
	err := t.QueryRowContext(ctx,
		`select account, type, category, total, cid, failed, alt, made_at, ended_at from x_uploads where seq = ?`,
		u.seq).
		Scan(&u.account, &u.mime, &u.category, &u.total, &u.cid, &u.failed, &u.alt, &made, &ended)
	if errors.Is(err, sql.ErrNoRows) {
		return upload{}, false, nil
	}
	if err != nil {
		return upload{}, false, fmt.Errorf("finding an upload: %w", err)
	}
	u.made = time.UnixMilli(made)
	if ended > 0 {
		u.ended = time.UnixMilli(ended)
	}
	return u, true, nil
}

// updateUpload updates the upload.
func updateUpload(ctx context.Context, t store.Tx, u upload) error {
	ended := int64(0)
	if !u.ended.IsZero() {
		ended = u.ended.UnixMilli()
	}
	return t.Run(ctx, "updating an upload",
		`update x_uploads set cid = ?, failed = ?, alt = ?, ended_at = ? where seq = ?`, u.cid,
		u.failed, u.alt, ended, u.seq)
}

func upsertSegment(ctx context.Context, t store.Tx, u upload, place int, segment store.Blob) error {
	return t.Run(ctx, "saving a segment",
		`insert into x_segments (upload, place, cid) values (?, ?, ?)
		on conflict (upload, place) do update set cid = excluded.cid`,
		u.seq, place, segment.CID)
}

// listSegments returns the files of an upload's segments in order.
func listSegments(ctx context.Context, t store.Tx, u upload) ([]string, error) {
	return t.Strings(ctx, "reading segments", `select cid from x_segments where upload = ? order by place`, u.seq)
}
