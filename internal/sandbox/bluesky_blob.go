package sandbox

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
)

const (
	uploadMethod  = "com.atproto.repo.uploadBlob"
	maxBlob       = 50 << 20         // bytes
	uploadTimeout = 10 * time.Minute // for the whole of a file
	sniffed       = 512              // bytes that tell a file's type
)

var (
	errTooLarge     = &xrpcError{http.StatusRequestEntityTooLarge, "PayloadTooLarge", "request entity too large"}
	errBlobNotFound = invalidRequest("Blob not found")
)

// blobObject is what a record names an uploaded file by.
type blobObject struct {
	Type string            `json:"$type"`
	Ref  map[string]string `json:"ref"`
	MIME string            `json:"mimeType"`
	Size int64             `json:"size"`
}

// uploadBlob keeps a file for the account, under its content's identifier. It is not served before a record names it.
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
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Now().Add(uploadTimeout)) // not every writer can; the file is bounded all the same
	body := bufio.NewReader(http.MaxBytesReader(w, r.Body, maxBlob))
	head, _ := body.Peek(sniffed) // what keeps it from being read is met again
	kind := mediaType(head, given)
	blob, err := b.store.keepFile(body)
	_ = control.SetReadDeadline(time.Time{})
	if err != nil {
		return nil, uploadFailed(err)
	}
	blob.mime = kind
	ctx, cancel := work(r)
	defer cancel()
	err = b.store.in(ctx, func(t tx) error { return t.keepBlob(ctx, blueskyName, a.id, blob) })
	answer := blobObject{Type: "blob", Ref: map[string]string{"$link": blob.cid}, MIME: blob.mime, Size: blob.size}
	return map[string]blobObject{"blob": answer}, err
}

// uploadFailed tells what a client did from what happened on our side.
func uploadFailed(err error) error {
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return errTooLarge
	}
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, os.ErrDeadlineExceeded) {
		return invalidRequest("The body could not be read")
	}
	return err
}

// checkUpload is the type that the client gives its file.
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

// mediaType is what the bytes say; for all but images, films and sounds it is what the client says.
func mediaType(head []byte, given string) string {
	if len(head) >= 12 && string(head[4:8]) == "ftyp" {
		switch string(head[8:12]) { // the brand
		case "qt  ":
			return "video/quicktime"
		case "avif":
			return "image/avif"
		case "heic":
			return "image/heic"
		}
		return "video/mp4"
	}
	found := http.DetectContentType(head)
	if family, _, _ := strings.Cut(found, "/"); family == "image" || family == "video" || family == "audio" {
		return found
	}
	return given
}

// blobPath is where a file can be had, below the sandbox's address.
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

// blobAnswer sends a file in a way that no browser takes for a page.
func (s *Server) blobAnswer(blob blobRef) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		file, err := os.Open(s.store.filePath(blob.cid))
		if err != nil {
			writeJSON(w, http.StatusInternalServerError, internalError)
			return
		}
		defer file.Close()
		header := w.Header()
		header.Set("Content-Type", blob.mime)
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("Content-Disposition", `attachment; filename="`+blob.cid+`"`)
		header.Set("Content-Security-Policy", "default-src 'none'; sandbox")
		http.ServeContent(w, r, "", time.Time{}, file)
	})
}

// checkBlobs refuses a record for a file that the account has not uploaded, or that it describes wrongly.
func checkBlobs(ctx context.Context, t tx, did string, named []blobRef) error {
	for _, ref := range named {
		kept, found, err := t.blob(ctx, blueskyName, did, ref.cid)
		switch {
		case err != nil:
			return err
		case !found:
			return &xrpcError{http.StatusBadRequest, "BlobNotFound", "Could not find blob: " + ref.cid}
		case kept.mime != ref.mime:
			return &xrpcError{http.StatusBadRequest, "InvalidMimeType", fmt.Sprintf(
				"Referenced Mimetype does not match stored blob. Expected: %s, Got: %s", kept.mime, ref.mime)}
		case kept.size != ref.size:
			return &xrpcError{http.StatusBadRequest, "InvalidSize", fmt.Sprintf(
				"Referenced Size does not match stored blob. Expected: %d, Got: %d", kept.size, ref.size)}
		}
	}
	return nil
}
