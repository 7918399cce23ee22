package shell

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"mime"
	"net/http"
	"path"
	"strings"
)

// asset is a stylesheet or script.
type asset struct {
	name string // in URLs, including a hash of the content
	kind string
	data []byte
}

// assets holds the assets by file name.
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

// served holds the assets by the name in URLs.
var served = func() map[string]asset {
	out := map[string]asset{}
	for _, a := range assets {
		out[a.name] = a
	}
	return out
}()

// assetPath returns the path of an asset.
func assetPath(name string) (string, error) {
	a, ok := assets[name]
	if !ok {
		return "", fmt.Errorf("there is no asset %s", name)
	}
	return "/assets/" + a.name, nil
}

// Asset serves the stylesheet, script or icon {name}.
func (f *Frame) Asset(w http.ResponseWriter, r *http.Request) {
	file, ok := served[r.PathValue("name")]
	if !ok {
		f.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", file.kind)
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	_, _ = w.Write(file.data) // the client may have disconnected
}
