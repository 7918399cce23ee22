package sandbox

import (
	"context"
	"io"
	"net/http"
	"os"
	"time"
)

// fetchTimeout is how long a network waits for a file.
const fetchTimeout = time.Minute

// fetch downloads a file from any address, and reports whether it exists. It saves at most limit+1 bytes.
func (s *shared) fetch(ctx context.Context, client *http.Client, address string, limit int64) (blobRef, bool, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil) //nolint:gosec // the networks fetch any address
	if err != nil {
		return blobRef{}, false, nil
	}
	response, err := client.Do(request) //nolint:gosec // as above
	if err != nil {
		return blobRef{}, false, nil
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return blobRef{}, false, nil
	}
	blob, err := s.store.saveTyped(io.LimitReader(response.Body, limit+1), "")
	return blob, err == nil, err
}

// saveMedium records that an account has a file.
func (s *shared) saveMedium(ctx context.Context, platform, account string, blob blobRef) (medium, error) {
	err := s.store.in(ctx, func(t tx) error { return t.keepBlob(ctx, platform, account, blob) })
	return newMedium(platform, account, blob, ""), err
}

// mediaFile returns the call that serves the files of posts. It fails with missing if there is no such file.
func (s *shared) mediaFile(platform string, missing error) apiCall {
	return func(r *http.Request) (any, error) {
		var blob blobRef
		err := s.store.in(r.Context(), func(t tx) error {
			var found bool
			var err error
			blob, found, err = t.namedBlob(r.Context(), platform, r.PathValue("account"), r.PathValue("cid"))
			if err == nil && !found {
				err = missing
			}
			return err
		})
		return s.blobAnswer(blob), err
	}
}

// blobAnswer returns a handler that serves a file so that no browser shows it as a page.
func (s *shared) blobAnswer(blob blobRef) http.Handler {
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
