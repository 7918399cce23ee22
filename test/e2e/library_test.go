package e2e

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/testkit/must"
)

// file is a file to upload.
type file struct {
	name, mime string
	bytes      []byte
}

// aPNG returns a small image, which differs for each name.
func aPNG(name string) file {
	return drawImage(name, "image/png", png.Encode)
}

func aJPEG(name string) file {
	return drawImage(name, "image/jpeg", func(w io.Writer, m image.Image) error { return jpeg.Encode(w, m, nil) })
}

func aGIF(name string) file {
	return drawImage(name, "image/gif", func(w io.Writer, m image.Image) error { return gif.Encode(w, m, nil) })
}

func drawImage(name, mime string, encode func(io.Writer, image.Image) error) file {
	sum := sha256.Sum256([]byte(name))
	picture := image.NewRGBA(image.Rect(0, 0, 12, 8))
	for i := range 12 * 8 {
		picture.SetRGBA(i%12, i/12, color.RGBA{sum[i%32], sum[(i+7)%32], sum[(i+19)%32], 255})
	}
	var out bytes.Buffer
	if err := encode(&out, picture); err != nil {
		panic(err) // a buffer never fails
	}
	return file{name, mime, out.Bytes()}
}

// aVideo returns a video of one second.
func aVideo(t *testing.T, name string) file {
	t.Helper()
	clip := must.Get(os.ReadFile("../../internal/sandbox/bridge/wide.mp4"))(t)
	return file{name, "video/mp4", clip}
}

// aPage returns an HTML file with the media type of an image.
func aPage(name string) file {
	return file{name, "image/png", []byte("<!doctype html><title>" + name + "</title><script>alert(1)</script>")}
}

func (f file) digest() string {
	sum := sha256.Sum256(f.bytes)
	return hex.EncodeToString(sum[:])
}

func (f file) description() map[string]any {
	return map[string]any{"sha256": f.digest(), "size_bytes": len(f.bytes), "file_name": f.name, "mime_type": f.mime}
}

// uploadArgs returns the arguments of create_uploads for some files, merged with more.
func uploadArgs(more map[string]any, files ...file) map[string]any {
	list := []any{}
	for _, f := range files {
		list = append(list, f.description())
	}
	return mergeArgs(map[string]any{"files": list}, more)
}

// uploadOf returns uploadArgs as the arguments of a scenario.
func uploadOf(more map[string]any, files ...file) func(*env) map[string]any {
	return func(*env) map[string]any { return uploadArgs(more, files...) }
}

// link is an upload link in an answer.
type link struct{ url, authorization string }

// linkOf returns the upload link of the answer's n-th file.
func (a answer) linkOf(n int) link {
	at := func(name string) string { return a.text(fmt.Sprintf("data.upload.uploads.%d.%s", n, name)) }
	return link{at("url"), at("headers.Authorization")}
}

// put uploads a file to a link.
func (w *env) put(to link, f file) answer {
	w.t.Helper()
	return w.putAs(to, f.mime, bytes.NewReader(f.bytes))
}

// putAs uploads a body to a link, with Content-Length if the length is known.
func (w *env) putAs(to link, contentType string, body io.Reader) answer {
	w.t.Helper()
	got := must.Get(w.tryPut(to, contentType, body))(w.t)
	return got
}

// tryPut is like putAs, but returns an error, so that it can be called in other goroutines.
func (w *env) tryPut(to link, contentType string, body io.Reader) (answer, error) {
	req, err := http.NewRequestWithContext(w.t.Context(), http.MethodPut, to.url, body)
	if err != nil {
		return answer{}, err
	}
	req.Header.Set("Content-Type", contentType)
	return w.sendToLink(req, to.authorization)
}

// sendToLink sends a request to a link and checks the rules that apply to every response.
func (w *env) sendToLink(req *http.Request, authorization string) (answer, error) {
	w.t.Helper()
	if authorization != "" {
		req.Header.Set("Authorization", authorization)
	}
	resp, err := client.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		return answer{}, err
	}
	got := newAnswer(resp, raw)
	kind := "application/json"
	if got.status >= 400 {
		kind = "application/problem+json"
	}
	if got.header.Get("Cache-Control") != "no-store" || got.header.Get("X-Content-Type-Options") != "nosniff" ||
		got.header.Get("Content-Type") != kind {
		w.t.Errorf("%s %s: %d with headers %v", req.Method, req.URL, got.status, got.header)
	}
	if _, secret, _ := strings.Cut(authorization, " "); secret != "" && bytes.Contains(raw, []byte(secret)) {
		w.t.Errorf("%s %s: the response contains the secret: %s", req.Method, req.URL, raw)
	}
	return got, nil
}

// addFiles uploads files to the library and returns their IDs. folder may be 0.
func (w *env) addFiles(folder int64, files ...file) []int64 {
	w.t.Helper()
	opened := w.rest(w.keys[access.Full], "create_uploads", uploadArgs(map[string]any{"folder_id": folder}, files...), "")
	opened.mustBe(w.t, http.StatusCreated)
	ids := []int64{}
	for i, f := range files {
		got := w.put(opened.linkOf(i), f)
		got.mustBe(w.t, http.StatusCreated)
		ids = append(ids, got.number("data.media_id"))
	}
	return ids
}

// addFolder creates a folder in the team's library.
func (w *env) addFolder(name string) int64 {
	w.t.Helper()
	f := must.Get(w.Media.EnsureFolder(w.t.Context(), w.team, name))(w.t)
	return f.ID
}

// usedBytes returns the size of the team's library in bytes.
func (w *env) usedBytes() int64 {
	w.t.Helper()
	return w.full("list_media", nil).number("data.storage.used_bytes")
}

// setNoteID stores an ID as a note.
func (w *env) setNoteID(name string, id int64) { w.setNote(name, number(id)) }

// mustBeSound checks that the library's audit has no findings.
func (w *env) mustBeSound() {
	w.t.Helper()
	found := must.Get(w.Media.Audit(w.t.Context()))(w.t)
	for _, f := range found {
		if f.Team == w.team || strings.HasPrefix(f.Blob, number(w.team)+"/") {
			w.t.Errorf("library audit: %+v", f)
		}
	}
}

// jsonInt parses a stored number.
func jsonInt(text string) int64 {
	n, err := jsonNumber(text).Int64()
	if err != nil {
		panic(err) // the note is always a number
	}
	return n
}
