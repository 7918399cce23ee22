package web

import (
	"mime"
	"net/http"
	"strconv"
	"strings"

	"pressroom/internal/api/problem"
	"pressroom/internal/apierr"
	"pressroom/internal/domain/media"
	"pressroom/internal/web/shell"
)

// filePolicy keeps whatever a file holds from running as if it were ours.
const filePolicy = "sandbox; default-src 'none'"

// videoPolicy is the same for a video, which a browser puts into a page of its own that has to be let play it. It asks
// for the file once more, with the cookies that a sandbox would not have.
const videoPolicy = "default-src 'none'; media-src 'self'; img-src 'self'"

// policyOf is what a file of a type is opened with. No browser takes a video for a page: it is told not to guess.
func policyOf(kind string) string {
	if strings.HasPrefix(kind, "video/") {
		return videoPolicy
	}
	return filePolicy
}

// mediaFile answers with an item of the person's library, or with its thumbnail.
func (a *App) mediaFile(thumbnail bool) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		id, err := mediaID(r)
		if err != nil {
			a.Refuse(w, r, err)
			return
		}
		file, err := a.Library.OpenFile(r.Context(), shell.VisitorOf(r.Context()).ID, id, thumbnail)
		if err != nil {
			a.Refuse(w, r, err)
			return
		}
		defer file.Close()
		// What an address holds never changes; who may see it is asked again by every other browser.
		w.Header().Set("Cache-Control", "private, max-age=31536000, immutable")
		send(w, r, file)
	}
}

// originalFile answers with the stored bytes of an item, metadata included.
func (a *App) originalFile(w http.ResponseWriter, r *http.Request) {
	id, err := mediaID(r)
	if err != nil {
		a.Refuse(w, r, err)
		return
	}
	file, err := a.Library.OpenOriginal(r.Context(), shell.VisitorOf(r.Context()).ID, id)
	if err != nil {
		a.Refuse(w, r, err)
		return
	}
	defer file.Close()
	w.Header().Set("Cache-Control", "private, no-store")
	send(w, r, file)
}

// publicFile answers networks, which fetch what they are to publish by a signed link.
func (a *App) publicFile(w http.ResponseWriter, r *http.Request) {
	file, err := a.Library.Public(r.Context(), r.PathValue("token"))
	if err != nil {
		a.tellProblem(w, r, err)
		return
	}
	defer file.Close()
	// a network's own page may show what it was told to fetch
	w.Header().Set("Cross-Origin-Resource-Policy", "cross-origin")
	send(w, r, file)
}

// send answers with a file, or with the part of it that is asked for.
func send(w http.ResponseWriter, r *http.Request, file media.Opened) {
	h := w.Header()
	h.Set("Content-Security-Policy", policyOf(file.Type))
	h.Set("Content-Type", file.Type)
	h.Set("ETag", file.ETag)
	h.Set("Content-Disposition", disposition(r.URL.Query().Get("download") == "1", file.Name))
	out := shell.LeavingBy(w)
	out.Ends = file.Ends
	http.ServeContent(out, r, "", file.ModTime, file)
}

// disposition says by what name a file is saved (RFC 6266), without whatever a file system could take for a path.
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

func mediaID(r *http.Request) (int64, error) {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil || id < 1 {
		return 0, apierr.Missing()
	}
	return id, nil
}

// tellProblem answers a program with a problem document. What failed on our side is logged.
func (a *App) tellProblem(w http.ResponseWriter, r *http.Request, err error) {
	if err = a.Told(r, err); !shell.Gone(r) && apierr.Of(err).Code == apierr.Internal {
		a.Log.ErrorContext(r.Context(), "a request failed", "method", r.Method, "route", r.Pattern, "error", err)
	}
	problem.Write(w, err, a.PublicURL)
}
