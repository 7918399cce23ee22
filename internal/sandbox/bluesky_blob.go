package sandbox

import (
	"context"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"strings"
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

// blobObject is a record's reference to an uploaded file.
type blobObject struct {
	Type string            `json:"$type"`
	Ref  map[string]string `json:"ref"`
	MIME string            `json:"mimeType"`
	Size int64             `json:"size"`
}

// uploadBlob saves a file of the account. It is served once a record refers to it.
func (b *bluesky) uploadBlob(w http.ResponseWriter, r *http.Request) (any, error) {
	var a account
	err := b.store.in(r.Context(), func(t tx) error {
		var err error
		a, _, err = b.authorize(r, t)
		return err
	})
	if err != nil {
		return nil, err
	}
	given, err := checkUpload(r)
	if err != nil {
		return nil, err
	}
	end := allowUpload(w)
	blob, err := b.store.saveTyped(http.MaxBytesReader(w, r.Body, maxBlob), given)
	end()
	switch uploadError(err) {
	case errBodyTooLarge:
		return nil, errTooLarge
	case errBodyUnreadable:
		return nil, errUnreadable
	}
	if err != nil {
		return nil, err
	}
	ctx, cancel := work(r)
	defer cancel()
	err = b.store.in(ctx, func(t tx) error { return t.keepBlob(ctx, blueskyName, a.id, blob) })
	answer := blobObject{Type: "blob", Ref: map[string]string{"$link": blob.cid}, MIME: blob.mime, Size: blob.size}
	return map[string]blobObject{"blob": answer}, err
}

// checkUpload returns the type that the client declares.
func checkUpload(r *http.Request) (string, error) {
	given, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || !strings.Contains(given, "/") {
		return "", invalidRequest("Request encoding (Content-Type) required but not provided")
	}
	if r.ContentLength > maxBlob {
		return "", errTooLarge
	}
	return given, nil
}

// blobPath returns the path of a file on the sandbox.
func blobPath(did, cid string) string {
	return blueskyName + "/xrpc/com.atproto.sync.getBlob?" + url.Values{"did": {did}, "cid": {cid}}.Encode()
}

func (b *bluesky) getBlob(r *http.Request) (any, error) {
	did, cid := r.URL.Query().Get("did"), r.URL.Query().Get("cid")
	if err := need("did", did, "cid", cid); err != nil {
		return nil, err
	}
	var blob blobRef
	err := b.store.in(r.Context(), func(t tx) error {
		_, found, err := t.account(r.Context(), blueskyName, did)
		if err == nil && !found {
			err = &xrpcError{http.StatusBadRequest, "RepoNotFound", "Could not find repo for DID: " + did}
		}
		if err != nil {
			return err
		}
		blob, found, err = t.namedBlob(r.Context(), blueskyName, did, cid)
		if err == nil && !found {
			err = errBlobNotFound
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return b.blobAnswer(blob), nil
}

// checkBlobs refuses references to files that the account has not uploaded or that the record describes wrongly.
func checkBlobs(ctx context.Context, t tx, did string, named []blobRef) error {
	for _, ref := range named {
		stored, found, err := t.blob(ctx, blueskyName, did, ref.cid)
		switch {
		case err != nil:
			return err
		case !found:
			return &xrpcError{http.StatusBadRequest, "BlobNotFound", "Could not find blob: " + ref.cid}
		case stored.mime != ref.mime:
			return &xrpcError{http.StatusBadRequest, "InvalidMimeType", fmt.Sprintf(
				"Referenced Mimetype does not match stored blob. Expected: %s, Got: %s", stored.mime, ref.mime)}
		case stored.size != ref.size:
			return &xrpcError{http.StatusBadRequest, "InvalidSize", fmt.Sprintf(
				"Referenced Size does not match stored blob. Expected: %d, Got: %d", stored.size, ref.size)}
		}
	}
	return nil
}
