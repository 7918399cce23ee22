package shell

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"html/template"
	"mime"
	"net/http"
	"path"
	"regexp"
	"strings"
	"sync"

	"pressroom.example/pressroom/internal/locale"
)

// stylesheet is the file name of the asset that joins all files in the folder styles.
const stylesheet = "app.css"

// asset is a stylesheet, script, font or image.
type asset struct {
	name      string // name in URLs, including a hash of the content
	mediaType string // media type
	data      []byte
	// compressed returns the data compressed with gzip. It is nil for small or already compressed data.
	compressed func() []byte
}

// assets maps file names to assets.
var assets = func() map[string]asset {
	out := map[string]asset{}
	for _, name := range filePaths("assets") {
		out[path.Base(name)] = newAsset(path.Base(name), mustRead(name))
	}
	out[stylesheet] = newAsset(stylesheet, joinStyles(out))
	for _, l := range locale.All() {
		name := textScript(l)
		if l.IsEnglish() {
			continue
		}
		out[name] = newAsset(name, bytes.Replace(mustRead("assets/text.js"), []byte("self.texts = {}"),
			[]byte("self.texts = "+string(l.ScriptTextsJSON())), 1))
	}
	return out
}()

// textScript returns the file name of the asset with the texts that scripts show in a language.
func textScript(l *locale.Language) string {
	if l.IsEnglish() {
		return "text.js"
	}
	return "text-" + l.Tag + ".js"
}

// filePaths returns the paths of a folder's files, sorted by name.
func filePaths(folder string) []string {
	entries, err := files.ReadDir(folder)
	if err != nil {
		panic(err)
	}
	out := make([]string, len(entries))
	for i, e := range entries {
		out[i] = folder + "/" + e.Name()
	}
	return out
}

func mustRead(name string) []byte {
	data, err := files.ReadFile(name)
	if err != nil {
		panic(err)
	}
	return data
}

func newAsset(file string, data []byte) asset {
	sum, ext := sha256.Sum256(data), path.Ext(file)
	mediaType := mime.TypeByExtension(ext)
	if ext == ".woff2" { // unknown on systems without a MIME table
		mediaType = "font/woff2"
	}
	out := asset{name: strings.TrimSuffix(file, ext) + "-" + hex.EncodeToString(sum[:8]) + ext, mediaType: mediaType, data: data}
	if ext != ".woff2" && ext != ".webp" && len(data) >= minCompressSize { // fonts and images are already compressed
		out.compressed = sync.OnceValue(func() []byte { return compress(data) })
	}
	return out
}

var styleURL = regexp.MustCompile(`url\("([^"]+)"\)`)

// joinStyles concatenates all files in the folder styles. It replaces the file names of other assets with the assets'
// names in URLs.
func joinStyles(others map[string]asset) []byte {
	var out bytes.Buffer
	for _, name := range filePaths("styles") {
		out.Write(styleURL.ReplaceAllFunc(mustRead(name), func(match []byte) []byte {
			file := string(styleURL.FindSubmatch(match)[1])
			a, ok := others[file]
			if !ok {
				panic("there is no asset " + file)
			}
			return []byte(`url("` + a.name + `")`)
		}))
	}
	return out.Bytes()
}

// assetsByURLName maps names in URLs to assets.
var assetsByURLName = func() map[string]asset {
	out := map[string]asset{}
	for _, a := range assets {
		out[a.name] = a
	}
	return out
}()

// assetPath returns the URL path of the asset with the given file name.
func assetPath(name string) (string, error) {
	a, ok := assets[name]
	if !ok {
		return "", fmt.Errorf("unknown asset %s", name)
	}
	return "/assets/" + a.name, nil
}

var (
	symbolID = regexp.MustCompile(`<symbol id="([^"]+)"`)
	// iconNames is the set of icon names.
	iconNames = func() map[string]bool {
		out := map[string]bool{}
		for _, found := range symbolID.FindAllSubmatch(assets["icons.svg"].data, -1) {
			out[string(found[1])] = true
		}
		return out
	}()
)

// Icon returns the HTML of an icon. The icon is hidden from assistive technology.
func Icon(name string) (template.HTML, error) {
	if !iconNames[name] {
		return "", fmt.Errorf("unknown icon %s", name)
	}
	//nolint:gosec // symbol and asset names don't need escaping
	return template.HTML(`<svg class="i" aria-hidden="true"><use href="/assets/` + assets["icons.svg"].name + "#" + name +
		`"/></svg>`), nil
}

// Asset serves the asset whose name in URLs is the path value "name".
func (s *Shell) Asset(w http.ResponseWriter, r *http.Request) {
	file, ok := assetsByURLName[r.PathValue("name")]
	if !ok {
		s.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", file.mediaType)
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	writeBody(w, r, http.StatusOK, file.data, file.compressed)
}
