package web

import (
	"mime"
	"net/http"
	"strings"

	"pressroom.example/pressroom/internal/api/problem"
	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/domain/media"
	"pressroom.example/pressroom/internal/web/shell"
)

// filePolicy is the Content-Security-Policy that prevents a served file from running scripts.
const filePolicy = "sandbox; default-src 'none'"

// videoPolicy is the Content-Security-Policy for a video. A browser shows a video in a page that it generates, and the
// policy must allow that page to play the video. It does not contain a sandbox directive, because the browser would
// then request the file again without cookies.
const videoPolicy = "default-src 'none'; media-src 'self'; img-src 'self'"

// policyOf returns the Content-Security-Policy for a file of a media type. A file that is served as a video cannot
// run as a page, because content sniffing is disabled.
func policyOf(mediaType string) string {
	if strings.HasPrefix(mediaType, "video/") {
		return videoPolicy
	}
	return filePolicy
}

// mediaFile returns a handler that serves a media item, or its thumbnail, to a person who may see it.
func (a *App) mediaFile(thumbnail bool) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		id, err := shell.PathID(r, "id")
		if err != nil {
			a.ShowError(w, r, err)
			return
		}
		file, err := a.Library.OpenFile(r.Context(), shell.VisitorOf(r.Context()).ID, id, thumbnail)
		if err != nil {
			a.ShowError(w, r, err)
			return
		}
		defer file.Close()
		// The content of a path never changes. Only the browser may cache it, so access is checked for every
		// browser.
		w.Header().Set("Cache-Control", "private, max-age=31536000, immutable")
		serveFile(w, r, file)
	}
}

// originalFile serves an item as it was uploaded, including its metadata.
func (a *App) originalFile(w http.ResponseWriter, r *http.Request) {
	id, err := shell.PathID(r, "id")
	if err != nil {
		a.ShowError(w, r, err)
		return
	}
	file, err := a.Library.OpenOriginal(r.Context(), shell.VisitorOf(r.Context()).ID, id)
	if err != nil {
		a.ShowError(w, r, err)
		return
	}
	defer file.Close()
	w.Header().Set("Cache-Control", "private, no-store")
	serveFile(w, r, file)
}

// publicFile serves a file to a network through a signed link.
func (a *App) publicFile(w http.ResponseWriter, r *http.Request) {
	file, err := a.Library.OpenPublic(r.Context(), r.PathValue("token"))
	if err != nil {
		a.writeProblem(w, r, err)
		return
	}
	defer file.Close()
	// a network's page may display the file
	w.Header().Set("Cross-Origin-Resource-Policy", "cross-origin")
	serveFile(w, r, file)
}

// serveFile serves a file or the requested range of it.
func serveFile(w http.ResponseWriter, r *http.Request, file media.File) {
	h := w.Header()
	h.Set("Content-Security-Policy", policyOf(file.Type))
	h.Set("Content-Type", file.Type)
	h.Set("ETag", file.ETag)
	h.Set("Content-Disposition", disposition(r.URL.Query().Get("download") == "1", file.Name))
	out := shell.NewDownload(w)
	out.ExpiresAt = file.ExpiresAt
	http.ServeContent(out, r, "", file.ModTime, file)
}

// disposition returns a Content-Disposition header (RFC 6266). It replaces characters in the file name that could
// make it a path.
func disposition(download bool, name string) string {
	kind := "inline"
	if download {
		kind = "attachment"
	}
	name = strings.Map(func(c rune) rune {
		if c < ' ' || c == 0x7f || strings.ContainsRune(`/\:"`, c) {
			return '_'
		}
		return c
	}, strings.ToValidUTF8(name, "_"))
	if name == "" {
		return kind
	}
	return mime.FormatMediaType(kind, map[string]string{"filename": name})
}

// writeProblem writes err as a problem document. It logs an internal error unless the client has disconnected.
func (a *App) writeProblem(w http.ResponseWriter, r *http.Request, err error) {
	if err = a.AsUnavailable(r, err); !shell.IsClientGone(r) && apierr.FromError(err).Code == apierr.Internal {
		a.Log.ErrorContext(r.Context(), "request failed", "method", r.Method, "route", r.Pattern, "error", err)
	}
	problem.Write(w, err, a.PublicURL)
}
