package web_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/auth/tokencrypt"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/core/plan"
	"pressroom.example/pressroom/internal/domain/job"
	"pressroom.example/pressroom/internal/domain/media"
	"pressroom.example/pressroom/internal/platform/blob"
	"pressroom.example/pressroom/internal/platform/safehttp"
)

// library is a real library with files in a folder.
func (w *world) library(t *testing.T, log *slog.Logger) *media.Service {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	blobs, err := blob.Open(t.Context(), "file:"+t.TempDir(), blob.Options{})
	must(err)
	key, err := tokencrypt.NewKey()
	must(err)
	sealer, err := tokencrypt.New(key)
	must(err)
	queue, err := job.NewQueue(w.db, 1, log)
	must(err)
	client, err := safehttp.New(safehttp.Options{})
	must(err)
	offered := plan.Default()
	offered.Limits.MaxImageBytes, offered.Limits.MaxVideoBytes = 1<<20, 2<<20
	return media.New(media.Options{DB: w.db, Blobs: blobs, Jobs: job.NewStore(w.db, nil, 5),
		Worker: job.NewWorker(w.db, queue, log), Keys: w.teams, Catalog: offered,
		Fetch: client, Sealer: sealer, PublicURL: "http://press.example", Log: log})
}

// opened is a batch and the path of its page.
type opened struct {
	page  string
	links []link
}

// link is the upload link of a described file.
type link struct{ path, authorization string }

// batch opens a batch of the Harbour team.
func (w *world) batch(t *testing.T, files ...[]byte) opened {
	t.Helper()
	in := []any{}
	for i, f := range files {
		sum := sha256.Sum256(f)
		in = append(in,
			map[string]any{"sha256": hex.EncodeToString(sum[:]), "size_bytes": len(f), "file_name": fmt.Sprintf("described %d.png", i)})
	}
	args, err := json.Marshal(map[string]any{"files": in})
	if err != nil {
		t.Fatal(err)
	}
	create := operation.NewRegistry(w.media.Operations()).Tool("create_uploads")
	out, err := create.Run(t.Context(),
		operation.Call{
			Actor: &access.Actor{TeamID: w.harbour.ID, PersonID: w.ada.ID, KeyID: w.key, Zone: time.UTC}, Now: w.clock.Now(),
		}, args)
	if err != nil {
		t.Fatal(err)
	}
	b, ok := out.Data.(media.UploadBatch)
	if !ok {
		t.Fatalf("%T", out.Data)
	}
	made := opened{page: strings.TrimPrefix(b.PageURL, "http://press.example")}
	for _, u := range b.Upload.Uploads {
		made.links = append(made.links, link{strings.TrimPrefix(u.URL, "http://press.example"), u.Headers["Authorization"]})
	}
	return made
}

// picture returns a unique PNG.
func picture(t *testing.T, shade uint8) []byte {
	t.Helper()
	img := image.NewGray(image.Rect(0, 0, 32, 32))
	for i := range img.Pix {
		img.Pix[i] = shade
	}
	img.SetGray(1, 1, color.Gray{Y: 255 - shade})
	var out bytes.Buffer
	if err := png.Encode(&out, img); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// arrived is the answer for an accepted file.
type arrived struct {
	MediaID int64  `json:"media_id"`
	Name    string `json:"name"`
	Already bool   `json:"already_in_library"`
}

// send sends a file like the page's script.
func (b *browser) send(at, name string, raw []byte) page {
	b.t.Helper()
	return b.do("POST", at+"/files?name="+url.QueryEscape(name), bytes.NewReader(raw), "Content-Type", "image/png")
}

// sendOK sends a file that is accepted.
func (b *browser) sendOK(at, name string, raw []byte) arrived {
	b.t.Helper()
	p := b.send(at, name, raw)
	var out arrived
	if err := json.Unmarshal([]byte(p.text), &out); err != nil || p.StatusCode != http.StatusOK {
		b.t.Fatalf("%d %s", p.StatusCode, p.text)
	}
	return out
}

func (a arrived) file() string { return "/media/" + itoa(a.MediaID) + "/file" }

func (a arrived) thumbnail() string { return "/media/" + itoa(a.MediaID) + "/thumbnail" }
