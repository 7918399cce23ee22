package pinterest

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

	"pressroom.example/pressroom/internal/sandbox/base"
	"pressroom.example/pressroom/internal/sandbox/rest"
	"pressroom.example/pressroom/internal/sandbox/store"
)

const (
	maxImage = 20 << 20 // bytes
	maxVideo = 2 << 30  // bytes
)

// imageTypes are the supported types of images.
var imageTypes = []string{"image/jpeg", "image/png", "image/webp", "image/gif", "image/bmp", "image/tiff"}

// upload is a video that a pin can show.
type upload struct {
	seq     int64
	account string
	key     string // authorizes the upload
	cid     string // of the file; empty before the upload
	kind    string // MIME
	arrived time.Time
}

func (u upload) id() string { return fmt.Sprintf("6%017d", u.seq) }

// status returns the video's status. The network processes it for a while.
func (u upload) status(now time.Time, work time.Duration) string {
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

func (n *Network) registerVideo(r *http.Request) (any, error) {
	u := upload{key: base.NewID()}
	err := n.asCaller(r, func(t store.Tx, a store.Account, _ store.Token) error {
		u.account = a.ID
		return insertUpload(r.Context(), t, &u)
	})
	return map[string]any{
		"media_id": u.id(), "media_type": "video",
		"upload_url": n.BaseURL(r) + "/" + Name + "/upload/" + u.id(),
		"upload_parameters": map[string]string{
			"key": u.key, "Content-Type": "multipart/form-data", "x-amz-algorithm": "AWS4-HMAC-SHA256",
		},
	}, err
}

// receiveVideo receives a video in a form whose last field is the file.
func (n *Network) receiveVideo(w http.ResponseWriter, r *http.Request) (any, error) {
	var u upload
	found := false
	err := n.Store.InTx(r.Context(), func(t store.Tx) error {
		var err error
		u, found, err = findUpload(r.Context(), t, r.PathValue("id"))
		return err
	})
	if err != nil {
		return nil, err
	}
	form, err := r.MultipartReader()
	if err != nil || !found {
		return nil, n.Errors.NotFound
	}
	defer base.AllowUpload(w)()
	for key := ""; ; {
		part, err := form.NextPart()
		if err != nil {
			return nil, n.Errors.Unreadable
		}
		if part.FormName() == "file" {
			if key != u.key {
				return nil, &rest.Error{Status: http.StatusForbidden, Message: "Access denied"}
			}
			return nil, n.saveVideo(r.Context(), u, part)
		}
		field, _ := io.ReadAll(io.LimitReader(part, 1<<10)) // reading the next part returns the same error
		if part.FormName() == "key" {
			key = string(field)
		}
	}
}

func (n *Network) saveVideo(ctx context.Context, u upload, file io.Reader) error {
	blob, err := n.Store.SaveMedia(io.LimitReader(file, maxVideo), "")
	if err != nil {
		return err
	}
	u.cid, u.kind, u.arrived = blob.CID, blob.MIME, n.Now()
	return n.Store.InTx(ctx, func(t store.Tx) error {
		if err := t.SaveBlob(ctx, Name, u.account, blob); err != nil {
			return err
		}
		return updateUpload(ctx, t, u)
	})
}

func (n *Network) videoStatus(r *http.Request) (any, error) {
	var answer map[string]any
	err := n.asCaller(r, func(t store.Tx, a store.Account, _ store.Token) error {
		u, found, err := findUpload(r.Context(), t, r.PathValue("id"))
		if err == nil && (!found || u.account != a.ID) {
			err = n.Errors.NotFound
		}
		answer = map[string]any{"media_id": u.id(), "media_type": "video", "status": u.status(n.Now(), n.Ready)}
		return err
	})
	return answer, err
}

// images fetches the one to five images of a pin. It returns none for a video.
func (n *Network) images(ctx context.Context, owner string, source mediaSource) ([]store.Medium, error) {
	addresses := []string{source.URL}
	switch source.Type {
	case "image_url":
	case "multiple_image_urls":
		addresses = nil
		for _, item := range source.Items {
			addresses = append(addresses, item.URL)
		}
		if len(addresses) < 2 || len(addresses) > 5 {
			return nil, invalid("A pin has 2 to 5 images where it has several")
		}
	case "video_id":
		return nil, nil
	default:
		return nil, invalid("The source_type is not one that the sandbox takes")
	}
	media := []store.Medium{}
	for _, address := range addresses {
		m, err := n.image(ctx, owner, address)
		if err != nil {
			return nil, err
		}
		media = append(media, m)
	}
	return media, nil
}

func (n *Network) image(ctx context.Context, owner, address string) (store.Medium, error) {
	blob, fetched, err := n.Fetch(ctx, n.client, address, maxImage)
	switch {
	case err != nil:
		return store.Medium{}, err
	case !fetched:
		return store.Medium{}, invalid("Unable to reach the URL")
	case blob.Size > maxImage || !slices.Contains(imageTypes, blob.MIME):
		return store.Medium{}, invalid("The image is too large, or not one")
	}
	return n.SaveMedium(ctx, Name, owner, blob)
}

// insertUpload stores a new upload and sets its number.
func insertUpload(ctx context.Context, t store.Tx, u *upload) error {
	err := t.QueryRowContext(ctx, `insert into pinterest_uploads (account, key) values (?, ?) returning seq`, u.account,
		u.key).Scan(&u.seq)
	if err != nil {
		return fmt.Errorf("saving an upload: %w", err)
	}
	return nil
}

// updateUpload records an uploaded file.
func updateUpload(ctx context.Context, t store.Tx, u upload) error {
	return t.Run(ctx, "recording a file",
		`update pinterest_uploads set cid = ?, type = ?, arrived_at = ? where seq = ?`, u.cid,
		u.kind, u.arrived.UnixMilli(), u.seq)
}

// findUpload returns an upload by its ID, and reports whether it exists.
func findUpload(ctx context.Context, t store.Tx, id string) (upload, bool, error) {
	const front = 6e17
	seq, _ := strconv.ParseInt(id, 10, 64) // no other text is an upload's ID
	u := upload{seq: seq - front}
	if u.seq < 0 || u.id() != id {
		return upload{}, false, nil
	}
	var arrived int64
	err := t.QueryRowContext(ctx, `select account, key, cid, type, arrived_at from pinterest_uploads where seq = ?`,
		u.seq).
		Scan(&u.account, &u.key, &u.cid, &u.kind, &arrived)
	if errors.Is(err, sql.ErrNoRows) {
		return upload{}, false, nil
	}
	if err != nil {
		return upload{}, false, fmt.Errorf("finding an upload: %w", err)
	}
	u.arrived = time.UnixMilli(arrived)
	return u, true, nil
}
