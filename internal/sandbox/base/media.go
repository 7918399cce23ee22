package base

import (
	"context"
	"io"
	"net/http"
	"os"
	"time"

	"pressroom.example/pressroom/internal/sandbox/store"
)

// FetchTimeout is the maximum time that a network waits for a file.
const FetchTimeout = time.Minute

// Fetch downloads a file and reports whether the download succeeded. It saves at most limit+1 bytes, so that the caller
// can detect a file that is too large.
func (s *Server) Fetch(
	ctx context.Context, client *http.Client, address string, limit int64,
) (store.Blob, bool, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return store.Blob{}, false, nil
	}
	response, err := client.Do(request)
	if err != nil {
		return store.Blob{}, false, nil
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return store.Blob{}, false, nil
	}
	blob, err := s.Store.SaveMedia(io.LimitReader(response.Body, limit+1), "")
	return blob, err == nil, err
}

// SaveMedium records that a file belongs to an account, and returns the file as a medium.
func (s *Server) SaveMedium(ctx context.Context, platform, account string, blob store.Blob) (store.Medium, error) {
	err := s.Store.InTx(ctx, func(t store.Tx) error { return t.SaveBlob(ctx, platform, account, blob) })
	return store.NewMedium(platform, account, blob, ""), err
}

// MediaFile returns the call that serves the files of posts. The call returns notFound if the file does not exist.
func (s *Server) MediaFile(platform string, notFound error) Call {
	return func(r *http.Request) (any, error) {
		var blob store.Blob
		err := s.Store.InTx(r.Context(), func(t store.Tx) error {
			var found bool
			var err error
			blob, found, err = t.ReferencedBlob(r.Context(), platform, r.PathValue("account"), r.PathValue("cid"))
			if err == nil && !found {
				err = notFound
			}
			return err
		})
		return s.ServeBlob(blob), err
	}
}

// ServeBlob returns a handler that serves a file. Its headers prevent browsers from displaying the file as a page.
func (s *Server) ServeBlob(blob store.Blob) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		file, err := os.Open(s.Store.FilePath(blob.CID))
		if err != nil {
			WriteJSON(w, http.StatusInternalServerError, InternalError)
			return
		}
		defer file.Close()
		header := w.Header()
		header.Set("Content-Type", blob.MIME)
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("Content-Disposition", `attachment; filename="`+blob.CID+`"`)
		header.Set("Content-Security-Policy", "default-src 'none'; sandbox")
		http.ServeContent(w, r, "", time.Time{}, file)
	})
}
