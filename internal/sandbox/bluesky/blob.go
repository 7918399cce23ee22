package bluesky

import (
	"context"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"pressroom.example/pressroom/internal/sandbox/base"
	"pressroom.example/pressroom/internal/sandbox/store"
)

const (
	uploadMethod = "com.atproto.repo.uploadBlob"
	maxBlob      = 50 << 20 // bytes
)

var (
	errTooLarge     = &xrpcError{http.StatusRequestEntityTooLarge, "PayloadTooLarge", "request entity too large"}
	errUnreadable   = invalidRequest("The body could not be read")
	errBlobNotFound = invalidRequest("Blob not found")
)

// blobObject is the JSON object in a record that refers to an uploaded file.
type blobObject struct {
	Type string            `json:"$type"`
	Ref  map[string]string `json:"ref"`
	MIME string            `json:"mimeType"`
	Size int64             `json:"size"`
}

// uploadBlob saves a file for the account. The sandbox serves the file only after a record refers to it.
func (b *Network) uploadBlob(w http.ResponseWriter, r *http.Request) (any, error) {
	a, err := b.account(r)
	if err != nil {
		return nil, err
	}
	mimeType, err := checkUpload(r)
	if err != nil {
		return nil, err
	}
	blob, err := b.saveUpload(w, r, maxBlob, mimeType)
	if err != nil {
		return nil, err
	}
	ctx, cancel := base.WorkContext(r)
	defer cancel()
	err = b.Store.InTx(ctx, func(t store.Tx) error { return t.SaveBlob(ctx, Name, a.ID, blob) })
	return map[string]blobObject{"blob": newBlobObject(blob)}, err
}

func newBlobObject(blob store.Blob) blobObject {
	return blobObject{Type: "blob", Ref: map[string]string{"$link": blob.CID}, MIME: blob.MIME, Size: blob.Size}
}

// saveUpload saves the request's body, which may have at most limit bytes.
func (b *Network) saveUpload(w http.ResponseWriter, r *http.Request, limit int64, mimeType string) (store.Blob, error) {
	endUpload := base.AllowUpload(w)
	blob, err := b.Store.SaveMedia(http.MaxBytesReader(w, r.Body, limit), mimeType)
	endUpload()
	switch uploadErr := base.UploadError(err); {
	case errors.Is(uploadErr, base.ErrBodyTooLarge):
		return store.Blob{}, errTooLarge
	case errors.Is(uploadErr, base.ErrBodyUnreadable):
		return store.Blob{}, errUnreadable
	}
	return blob, err
}

// checkUpload returns the declared MIME type of an upload, or an error if the upload is invalid.
func checkUpload(r *http.Request) (string, error) {
	mimeType, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || !strings.Contains(mimeType, "/") {
		return "", invalidRequest("Request encoding (Content-Type) required but not provided")
	}
	if r.ContentLength > maxBlob {
		return "", errTooLarge
	}
	return mimeType, nil
}

// blobPath returns the path of a file on the sandbox.
func blobPath(did, cid string) string {
	return Name + "/xrpc/com.atproto.sync.getBlob?" + url.Values{"did": {did}, "cid": {cid}}.Encode()
}

func (b *Network) getBlob(r *http.Request) (any, error) {
	did, cid := r.URL.Query().Get("did"), r.URL.Query().Get("cid")
	if err := requireValues("did", did, "cid", cid); err != nil {
		return nil, err
	}
	var blob store.Blob
	err := b.Store.InTx(r.Context(), func(t store.Tx) error {
		_, found, err := t.Account(r.Context(), Name, did)
		if err == nil && !found {
			err = &xrpcError{http.StatusBadRequest, "RepoNotFound", "Could not find repo for DID: " + did}
		}
		if err != nil {
			return err
		}
		blob, found, err = t.ReferencedBlob(r.Context(), Name, did, cid)
		if err == nil && !found {
			err = errBlobNotFound
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return b.ServeBlob(blob), nil
}

// checkBlobs rejects references to files that the account has not uploaded or that the record describes incorrectly.
func checkBlobs(ctx context.Context, t store.Tx, did string, refs []store.Blob) error {
	for _, ref := range refs {
		blob, found, err := t.Blob(ctx, Name, did, ref.CID)
		switch {
		case err != nil:
			return err
		case !found:
			return &xrpcError{http.StatusBadRequest, "BlobNotFound", "Could not find blob: " + ref.CID}
		case blob.MIME != ref.MIME:
			return &xrpcError{http.StatusBadRequest, "InvalidMimeType", fmt.Sprintf(
				"Referenced Mimetype does not match stored blob. Expected: %s, Got: %s", blob.MIME, ref.MIME)}
		case blob.Size != ref.Size:
			return &xrpcError{http.StatusBadRequest, "InvalidSize", fmt.Sprintf(
				"Referenced Size does not match stored blob. Expected: %d, Got: %d", blob.Size, ref.Size)}
		}
	}
	return nil
}
