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

var imageTypes = []string{"image/jpeg", "image/png", "image/webp", "image/gif", "image/bmp", "image/tiff"}

// upload is a video for a pin.
type upload struct {
	seq        int64
	account    string
	key        string // authorizes the upload
	cid        string // CID of the file; empty before the upload
	mime       string
	uploadedAt time.Time
}

func (u upload) id() string { return fmt.Sprintf("6%017d", u.seq) }

// status returns the video's status. processing is the duration of processing after the upload.
func (u upload) status(now time.Time, processing time.Duration) string {
	switch {
	case u.cid == "":
		return "registered"
	case now.Before(u.uploadedAt.Add(processing)):
		return "processing"
	case u.mime != "video/mp4" && u.mime != "video/quicktime":
		return "failed"
	}
	return "succeeded"
}

func (n *Network) registerVideo(r *http.Request) (any, error) {
	u := upload{key: base.NewID()}
	err := n.AsCaller(r, func(t store.Tx, a store.Account, _ store.Token) error {
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

// receiveVideo saves a video from a multipart form. The file is the last field of the form.
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
		field, _ := io.ReadAll(io.LimitReader(part, 1<<10)) // NextPart returns the same error
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
	u.cid, u.mime, u.uploadedAt = blob.CID, blob.MIME, n.Now()
	return n.Store.InTx(ctx, func(t store.Tx) error {
		if err := t.SaveBlob(ctx, Name, u.account, blob); err != nil {
			return err
		}
		return updateUpload(ctx, t, u)
	})
}

func (n *Network) videoStatus(r *http.Request) (any, error) {
	var response map[string]any
	err := n.AsCaller(r, func(t store.Tx, a store.Account, _ store.Token) error {
		u, found, err := findUpload(r.Context(), t, r.PathValue("id"))
		if err == nil && (!found || u.account != a.ID) {
			err = n.Errors.NotFound
		}
		response = map[string]any{"media_id": u.id(), "media_type": "video", "status": u.status(n.Now(), n.ProcessingTime)}
		return err
	})
	return response, err
}

// images fetches the images of a pin. It returns nil for a video.
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
			return nil, invalidRequest("multiple_image_urls must have 2 to 5 images")
		}
	case "video_id":
		return nil, nil
	default:
		return nil, invalidRequest("The sandbox does not support this source_type")
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
		return store.Medium{}, invalidRequest("Unable to reach the URL")
	case blob.Size > maxImage || !slices.Contains(imageTypes, blob.MIME):
		return store.Medium{}, invalidRequest("The image is too large or its format is not supported")
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
		u.mime, u.uploadedAt.UnixMilli(), u.seq)
}

// findUpload returns the upload with the given ID, and reports whether it exists.
func findUpload(ctx context.Context, t store.Tx, id string) (upload, bool, error) {
	const prefix = 6e17
	seq, _ := strconv.ParseInt(id, 10, 64) // 0 if the ID is not a number; no upload has the number 0
	u := upload{seq: seq - prefix}
	if u.seq < 0 || u.id() != id {
		return upload{}, false, nil
	}
	var uploadedAt int64
	err := t.QueryRowContext(ctx, `select account, key, cid, type, arrived_at from pinterest_uploads where seq = ?`,
		u.seq).
		Scan(&u.account, &u.key, &u.cid, &u.mime, &uploadedAt)
	if errors.Is(err, sql.ErrNoRows) {
		return upload{}, false, nil
	}
	if err != nil {
		return upload{}, false, fmt.Errorf("finding an upload: %w", err)
	}
	u.uploadedAt = time.UnixMilli(uploadedAt)
	return u, true, nil
}
