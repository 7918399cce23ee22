package web

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"html/template"
	"mime"
	"net/http"
	"path"
	"strings"
)

//go:embed templates/*.html assets/*
var files embed.FS

// page is what the layout shows, and the part of one page in it.
type page struct {
	Title   string
	Visitor *visitor // nil for whoever is not signed in
	Body    any
}

// templates holds each page, laid out.
var templates = func() map[string]*template.Template {
	out := map[string]*template.Template{}
	layout := template.Must(template.New("layout.html").Funcs(template.FuncMap{"asset": assetPath, "bytes": inWords, "type": typeName, "network": networkName, "way": wayName}).ParseFS(files, "templates/layout.html"))
	for _, name := range []string{"approval", "connect", "connectchoice", "connected", "connectend", "errors", "front", "home", "notice", "signin", "upload"} {
		out[name] = template.Must(template.Must(layout.Clone()).ParseFS(files, "templates/"+name+".html"))
	}
	return out
}()

// show answers with a page. It is made in full before anything is sent, so that a failure can still be shown.
func (a *App) show(w http.ResponseWriter, r *http.Request, status int, name, title string, body any) {
	var out bytes.Buffer
	if err := templates[name].Execute(&out, page{title, visitorOf(r.Context()), body}); err != nil {
		a.opts.Log.ErrorContext(r.Context(), "a page cannot be made", "page", name, "error", err)
		http.Error(w, "Something failed on our side.", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(out.Bytes()) // the client may be gone
}

// asset is a stylesheet or script.
type asset struct {
	name string // the one it is known by in the browser: its content's hash is part of it
	kind string
	data []byte
}

// assets holds them by the names that they are written with.
var assets = func() map[string]asset {
	out := map[string]asset{}
	entries, err := files.ReadDir("assets")
	if err != nil {
		panic(err)
	}
	for _, e := range entries {
		data, err := files.ReadFile("assets/" + e.Name())
		if err != nil {
			panic(err)
		}
		sum, ext := sha256.Sum256(data), path.Ext(e.Name())
		name := strings.TrimSuffix(e.Name(), ext) + "-" + hex.EncodeToString(sum[:8]) + ext
		out[e.Name()] = asset{name, mime.TypeByExtension(ext), data}
	}
	return out
}()

// served holds the assets by the names that the browser knows.
var served = func() map[string]asset {
	out := map[string]asset{}
	for _, a := range assets {
		out[a.name] = a
	}
	return out
}()

// assetPath is where an asset lies.
func assetPath(name string) (string, error) {
	a, ok := assets[name]
	if !ok {
		return "", fmt.Errorf("there is no asset %s", name)
	}
	return "/assets/" + a.name, nil
}

func (a *App) asset(w http.ResponseWriter, r *http.Request) {
	file, ok := served[r.PathValue("name")]
	if !ok {
		a.missing(w, r)
		return
	}
	w.Header().Set("Content-Type", file.kind)
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	_, _ = w.Write(file.data) // the client may be gone
}

// inWords is a number of bytes as people read it.
func inWords(n int64) string {
	for _, unit := range []struct {
		size int64
		name string
	}{{1 << 30, "GiB"}, {1 << 20, "MiB"}, {1 << 10, "KiB"}} {
		if n >= unit.size {
			return strings.TrimSuffix(fmt.Sprintf("%.1f", float64(n)/float64(unit.size)), ".0") + " " + unit.name
		}
	}
	return fmt.Sprintf("%d bytes", n)
}

// typeName is what people call a MIME type of media.
func typeName(kind string) string {
	names := map[string]string{
		"image/jpeg": "JPEG", "image/png": "PNG", "image/webp": "WebP", "image/gif": "GIF", "video/mp4": "MP4", "video/quicktime": "QuickTime",
	}
	if name, ok := names[kind]; ok {
		return name
	}
	return kind
}
