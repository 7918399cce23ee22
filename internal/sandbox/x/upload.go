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
	seq         int64
	account     string
	mime        string // declared type
	category    string
	total       int64  // declared size in bytes
	cid         string // CID of the complete file; empty before finalization
	isInvalid   bool
	alt         string
	createdAt   time.Time
	finalizedAt time.Time // when the upload was finalized
}

func (u upload) id() string { return fmt.Sprintf("1%018d", u.seq) }

// categories maps each media category to the limits for uploads.
var categories = map[string]struct {
	maxSize int64
	types   []string
}{
	"tweet_image": {5 << 20, []string{"image/jpeg", "image/png", "image/webp"}},
	"tweet_gif":   {15 << 20, []string{"image/gif"}},
	"tweet_video": {512 << 20, []string{"video/mp4", "video/quicktime"}},
}

func (n *Network) initUpload(r *http.Request) (any, error) {
	var in struct {
		Type     string `json:"media_type"`
		Category string `json:"media_category"`
		Total    int64  `json:"total_bytes"`
	}
	if readStrictly(r.Body, &in) != nil {
		return nil, n.Errors.Unreadable
	}
	limits, ok := categories[in.Category]
	if !ok || in.Total <= 0 || in.Total > limits.maxSize || !slices.Contains(limits.types, in.Type) {
		return nil, invalidRequest("The media_type or total_bytes is invalid for the media_category.")
	}
	u := upload{mime: in.Type, category: in.Category, total: in.Total, createdAt: n.Now()}
	err := n.AsCaller(r, func(t store.Tx, a store.Account, _ store.Token) error {
		u.account = a.ID
		return insertUpload(r.Context(), t, &u)
	})
	return wrapData(n.uploadView(u)), err
}

// readStrictly decodes JSON and rejects unknown members.
func readStrictly(body io.Reader, out any) error {
	decoder := json.NewDecoder(body)
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(out); err != nil {
		return fmt.Errorf("reading the body: %w", err)
	}
	return nil
}

// uploadView returns an upload in the API's format.
func (n *Network) uploadView(u upload) map[string]any {
	view := map[string]any{
		"id": u.id(), "media_key": mediaKey(u),
		"expires_after_secs": int64(u.createdAt.Add(uploadLifetime).Sub(n.Now()) / time.Second),
	}
	if u.category == "tweet_image" || u.finalizedAt.IsZero() {
		return view
	}
	remaining := u.finalizedAt.Add(n.ProcessingTime).Sub(n.Now())
	switch {
	case remaining > 0:
		view["processing_info"] = map[string]any{
			"state": "in_progress", "check_after_secs": int64((remaining + time.Second - 1) / time.Second),
			"progress_percent": 50,
		}
	case u.isInvalid:
		view["processing_info"] = map[string]any{"state": "failed", "progress_percent": 0}
	default:
		view["processing_info"] = map[string]any{"state": "succeeded", "progress_percent": 100}
	}
	return view
}

func mediaKey(u upload) string {
	if u.category == "tweet_video" {
		return "7_" + u.id()
	}
	return "3_" + u.id()
}

// appendUpload saves a segment. When appendUpload returns, the segment is on disk.
func (n *Network) appendUpload(w http.ResponseWriter, r *http.Request) (any, error) {
	u, err := n.upload(r)
	if err != nil {
		return nil, err
	}
	endUpload := base.AllowUpload(w)
	r.Body = http.MaxBytesReader(w, r.Body, maxSegment+4096)
	index, segment, err := n.readSegment(r)
	endUpload()
	if err != nil {
		return nil, err
	}
	err = n.Store.InTx(r.Context(), func(t store.Tx) error { return upsertSegment(r.Context(), t, u, index, segment) })
	return wrapData(map[string]any{"expires_at": u.createdAt.Add(uploadLifetime).Unix()}), err
}

// readSegment parses the form with a segment. The parts of the form can be in any order. readSegment returns the index
// and the file of the segment.
func (n *Network) readSegment(r *http.Request) (int, store.Blob, error) {
	form, err := r.MultipartReader()
	if err != nil {
		return 0, store.Blob{}, n.Errors.Unreadable
	}
	index, segment := -1, store.Blob{}
	for {
		part, err := form.NextPart()
		if errors.Is(err, io.EOF) && index >= 0 && index < maxSegments && segment.Size > 0 {
			return index, segment, nil
		}
		if err != nil {
			return 0, store.Blob{}, n.Errors.Unreadable
		}
		switch part.FormName() {
		case "segment_index":
			text, _ := io.ReadAll(io.LimitReader(part, 5)) // an invalid number is rejected
			if index, err = strconv.Atoi(string(text)); err != nil {
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

// upload returns the caller's upload with the ID in the request.
func (n *Network) upload(r *http.Request) (upload, error) {
	id := r.PathValue("id")
	if id == "" {
		id = r.Form.Get("media_id")
	}
	var u upload
	err := n.AsCaller(r, func(t store.Tx, a store.Account, _ store.Token) error {
		var err error
		u, err = n.ownUpload(r.Context(), t, a, id)
		return err
	})
	return u, err
}

// ownUpload returns the account's upload with the given ID. It returns an error if the upload has expired.
func (n *Network) ownUpload(ctx context.Context, t store.Tx, a store.Account, id string) (upload, error) {
	u, found, err := findUpload(ctx, t, id)
	if err == nil && (!found || u.account != a.ID || n.Now().Sub(u.createdAt) >= uploadLifetime) {
		err = n.Errors.NotFound
	}
	return u, err
}

// finalizeUpload joins the segments. It returns an error for an invalid image. An invalid video fails later, during
// processing.
func (n *Network) finalizeUpload(r *http.Request) (any, error) {
	u, err := n.upload(r)
	if err != nil || u.cid != "" {
		return wrapData(n.uploadView(u)), err
	}
	var segments []string
	err = n.Store.InTx(r.Context(), func(t store.Tx) error {
		segments, err = listSegments(r.Context(), t, u)
		return err
	})
	if err != nil {
		return nil, err
	}
	file, err := n.Store.Join(segments)
	if err != nil {
		return nil, err
	}
	matches := file.MIME == u.mime
	if file.Size != u.total || !matches && u.category != "tweet_video" {
		return nil, invalidRequest("The media does not match the declared media_type and total_bytes.")
	}
	u.cid, u.isInvalid, u.finalizedAt = file.CID, !matches, n.Now()
	err = n.Store.InTx(r.Context(), func(t store.Tx) error {
		if err := t.SaveBlob(r.Context(), Name, u.account, file); err != nil {
			return err
		}
		return updateUpload(r.Context(), t, u)
	})
	return wrapData(n.uploadView(u)), err
}

func (n *Network) uploadStatus(r *http.Request) (any, error) {
	u, err := n.upload(r)
	return wrapData(n.uploadView(u)), err
}

// saveMetadata saves the alt text of an upload.
func (n *Network) saveMetadata(r *http.Request) (any, error) {
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
	err := n.AsCaller(r, func(t store.Tx, a store.Account, _ store.Token) error {
		u, err := n.ownUpload(r.Context(), t, a, in.ID)
		if err != nil {
			return err
		}
		u.alt = in.Metadata.Alt.Text
		return updateUpload(r.Context(), t, u)
	})
	return wrapData(map[string]any{"id": in.ID, "associated_metadata": map[string]any{}}), err
}

// insertUpload stores a new upload and sets its number.
func insertUpload(ctx context.Context, t store.Tx, u *upload) error {
	err := t.QueryRowContext(ctx,
		`insert into x_uploads (account, type, category, total, made_at) values (?, ?, ?, ?, ?) returning seq`,
		u.account, u.mime, u.category, u.total, u.createdAt.UnixMilli()).Scan(&u.seq)
	if err != nil {
		return fmt.Errorf("saving an upload: %w", err)
	}
	return nil
}

// findUpload returns the upload with the given ID, and reports whether it exists.
func findUpload(ctx context.Context, t store.Tx, id string) (upload, bool, error) {
	seq, _ := strconv.ParseInt(id, 10, 64) // 0 if the ID is not a number; no upload has the number 0
	u := upload{seq: seq - 1e18}
	if seq < 1e18 || u.id() != id {
		return upload{}, false, nil
	}
	var createdAt, finalizedAt int64
	err := t.QueryRowContext(ctx,
		`select account, type, category, total, cid, failed, alt, made_at, ended_at from x_uploads where seq = ?`,
		u.seq).
		Scan(&u.account, &u.mime, &u.category, &u.total, &u.cid, &u.isInvalid, &u.alt, &createdAt, &finalizedAt)
	if errors.Is(err, sql.ErrNoRows) {
		return upload{}, false, nil
	}
	if err != nil {
		return upload{}, false, fmt.Errorf("finding an upload: %w", err)
	}
	u.createdAt = time.UnixMilli(createdAt)
	if finalizedAt > 0 {
		u.finalizedAt = time.UnixMilli(finalizedAt)
	}
	return u, true, nil
}

func updateUpload(ctx context.Context, t store.Tx, u upload) error {
	finalizedAt := int64(0)
	if !u.finalizedAt.IsZero() {
		finalizedAt = u.finalizedAt.UnixMilli()
	}
	return t.Run(ctx, "updating an upload",
		`update x_uploads set cid = ?, failed = ?, alt = ?, ended_at = ? where seq = ?`, u.cid,
		u.isInvalid, u.alt, finalizedAt, u.seq)
}

func upsertSegment(ctx context.Context, t store.Tx, u upload, index int, segment store.Blob) error {
	return t.Run(ctx, "saving a segment",
		`insert into x_segments (upload, place, cid) values (?, ?, ?)
		on conflict (upload, place) do update set cid = excluded.cid`,
		u.seq, index, segment.CID)
}

// listSegments returns the files of an upload's segments in order.
func listSegments(ctx context.Context, t store.Tx, u upload) ([]string, error) {
	return t.Strings(ctx, "reading segments", `select cid from x_segments where upload = ? order by place`, u.seq)
}
