package sandbox

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"time"
)

const (
	pinterestImage = 20 << 20 // bytes
	pinterestVideo = 2 << 30  // bytes
)

// pinterestTypes are the supported types of images.
var pinterestTypes = []string{"image/jpeg", "image/png", "image/webp", "image/gif", "image/bmp", "image/tiff"}

// pinterestUpload is a video that a pin can show.
type pinterestUpload struct {
	seq     int64
	account string
	key     string // authorizes the upload
	cid     string // of the file; empty before the upload
	kind    string // MIME
	arrived time.Time
}

func (u pinterestUpload) id() string { return fmt.Sprintf("6%017d", u.seq) }

// status returns the video's status. The network processes it for a while.
func (u pinterestUpload) status(now time.Time, work time.Duration) string {
	switch {
	case u.cid == "":
		return "registered"
	case now.Before(u.arrived.Add(work)):
		return "processing"
	case u.kind != "video/mp4" && u.kind != "video/quicktime":
		return "failed"
	}
	return "succeeded"
}

func (n *pinterest) registerVideo(r *http.Request) (any, error) {
	u := pinterestUpload{key: newID()}
	err := n.byCaller(r, func(t tx, a account, _ oauthToken) error {
		u.account = a.id
		return insertPinterestUpload(r.Context(), t, &u)
	})
	return map[string]any{
		"media_id": u.id(), "media_type": "video",
		"upload_url": n.baseURL(r) + "/" + pinterestName + "/upload/" + u.id(),
		"upload_parameters": map[string]string{
			"key": u.key, "Content-Type": "multipart/form-data", "x-amz-algorithm": "AWS4-HMAC-SHA256",
		},
	}, err
}

// takeVideo receives a video in a form whose last field is the file.
func (n *pinterest) takeVideo(w http.ResponseWriter, r *http.Request) (any, error) {
	var u pinterestUpload
	found := false
	err := n.store.in(r.Context(), func(t tx) error {
		var err error
		u, found, err = findPinterestUpload(r.Context(), t, r.PathValue("id"))
		return err
	})
	if err != nil {
		return nil, err
	}
	form, err := r.MultipartReader()
	if err != nil || !found {
		return nil, n.says.nowhere
	}
	defer allowUpload(w)()
	for key := ""; ; {
		part, err := form.NextPart()
		if err != nil {
			return nil, n.says.unread
		}
		if part.FormName() == "file" {
			if key != u.key {
				return nil, &xError{status: http.StatusForbidden, message: "Access denied"}
			}
			return nil, n.keepVideo(r.Context(), u, part)
		}
		field, _ := io.ReadAll(io.LimitReader(part, 1<<10)) // reading the next part meets the same error
		if part.FormName() == "key" {
			key = string(field)
		}
	}
}

func (n *pinterest) keepVideo(ctx context.Context, u pinterestUpload, file io.Reader) error {
	blob, err := n.store.saveTyped(io.LimitReader(file, pinterestVideo), "")
	if err != nil {
		return err
	}
	u.cid, u.kind, u.arrived = blob.cid, blob.mime, n.now()
	return n.store.in(ctx, func(t tx) error {
		if err := t.keepBlob(ctx, pinterestName, u.account, blob); err != nil {
			return err
		}
		return updatePinterestUpload(ctx, t, u)
	})
}

func (n *pinterest) videoStatus(r *http.Request) (any, error) {
	var answer map[string]any
	err := n.byCaller(r, func(t tx, a account, _ oauthToken) error {
		u, found, err := findPinterestUpload(r.Context(), t, r.PathValue("id"))
		if err == nil && (!found || u.account != a.id) {
			err = n.says.nowhere
		}
		answer = map[string]any{"media_id": u.id(), "media_type": "video", "status": u.status(n.now(), n.ready)}
		return err
	})
	return answer, err
}

// images fetches the one to five images of a pin. It returns none for a video.
func (n *pinterest) images(ctx context.Context, owner string, source pinterestSource) ([]medium, error) {
	addresses := []string{source.URL}
	switch source.Type {
	case "image_url":
	case "multiple_image_urls":
		addresses = nil
		for _, item := range source.Items {
			addresses = append(addresses, item.URL)
		}
		if len(addresses) < 2 || len(addresses) > 5 {
			return nil, pinterestInvalid("A pin has 2 to 5 images where it has several")
		}
	case "video_id":
		return nil, nil
	default:
		return nil, pinterestInvalid("The source_type is not one that the sandbox takes")
	}
	media := []medium{}
	for _, address := range addresses {
		m, err := n.image(ctx, owner, address)
		if err != nil {
			return nil, err
		}
		media = append(media, m)
	}
	return media, nil
}

func (n *pinterest) image(ctx context.Context, owner, address string) (medium, error) {
	blob, fetched, err := n.fetch(ctx, n.client, address, pinterestImage)
	switch {
	case err != nil:
		return medium{}, err
	case !fetched:
		return medium{}, pinterestInvalid("Unable to reach the URL")
	case blob.size > pinterestImage || !slices.Contains(pinterestTypes, blob.mime):
		return medium{}, pinterestInvalid("The image is too large, or not one")
	}
	return n.saveMedium(ctx, pinterestName, owner, blob)
}

// insertPinterestUpload stores a new upload and sets its number.
func insertPinterestUpload(ctx context.Context, t tx, u *pinterestUpload) error {
	err := t.QueryRowContext(ctx, `insert into pinterest_uploads (account, key) values (?, ?) returning seq`, u.account,
		u.key).Scan(&u.seq)
	if err != nil {
		return fmt.Errorf("saving an upload: %w", err)
	}
	return nil
}

// updatePinterestUpload records an uploaded file.
func updatePinterestUpload(ctx context.Context, t tx, u pinterestUpload) error {
	_, err := t.ExecContext(ctx, `update pinterest_uploads set cid = ?, type = ?, arrived_at = ? where seq = ?`, u.cid,
		u.kind, u.arrived.UnixMilli(), u.seq)
	if err != nil {
		return fmt.Errorf("recording a file: %w", err)
	}
	return nil
}

// findPinterestUpload returns an upload by its id, and reports whether it exists.
func findPinterestUpload(ctx context.Context, t tx, id string) (pinterestUpload, bool, error) {
	const front = 6e17
	seq, _ := strconv.ParseInt(id, 10, 64) // no other text is an upload's id
	u := pinterestUpload{seq: seq - front}
	if u.seq < 0 || u.id() != id {
		return pinterestUpload{}, false, nil
	}
	var arrived int64
	err := t.QueryRowContext(ctx, `select account, key, cid, type, arrived_at from pinterest_uploads where seq = ?`,
		u.seq).
		Scan(&u.account, &u.key, &u.cid, &u.kind, &arrived)
	if errors.Is(err, sql.ErrNoRows) {
		return pinterestUpload{}, false, nil
	}
	if err != nil {
		return pinterestUpload{}, false, fmt.Errorf("finding an upload: %w", err)
	}
	u.arrived = time.UnixMilli(arrived)
	return u, true, nil
}
