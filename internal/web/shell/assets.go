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

// Asset answers with a stylesheet, script or icon: {name} of the address.
func (f *Frame) Asset(w http.ResponseWriter, r *http.Request) {
	file, ok := served[r.PathValue("name")]
	if !ok {
		f.Missing(w, r)
		return
	}
	w.Header().Set("Content-Type", file.kind)
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	_, _ = w.Write(file.data) // the client may be gone
}
