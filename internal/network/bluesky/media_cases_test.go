package bluesky_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/network/networktest"
	"pressroom.example/pressroom/internal/testkit/must"
)

// publish publishes a post with these items and returns its embed on the server.
func publish(t *testing.T, w env, items ...item) map[string]any {
	t.Helper()
	g := w.connect(t)
	files, content := newLibrary(items...)
	d, _, err := newNetwork().Prepare(t.Context(), g, plan(t, "post-1", content), files)
	must.NoError(t, err)
	receipt := must.Get(newNetwork().Commit(t.Context(), g, d, nil))(t)
	verdict, resolved, err := newNetwork().Resolve(t.Context(), g, d, network.CommitHistory{})
	if err != nil || verdict != network.Published || resolved != receipt {
		t.Errorf("resolving: %v, %+v, %v", verdict, resolved, err)
	}
	held := w.posts(t)
	if len(held) != 1 || held[0].URI != receipt.ID {
		t.Fatalf("held %v, receipt %+v", held, receipt)
	}
	var record struct{ Embed map[string]any }
	must.NoError(t, json.Unmarshal(held[0].Value, &record))
	return record.Embed
}

// takeBlob removes the blob's object from an embed and returns the bytes that the server has for it.
func (w env) takeBlob(t *testing.T, member any, name string) string {
	t.Helper()
	encoded := must.Get(json.Marshal(member.(map[string]any)[name]))(t)
	delete(member.(map[string]any), name)
	var blob struct {
		Ref map[string]string
	}
	must.NoError(t, json.Unmarshal(encoded, &blob))
	address := w.url + "/xrpc/com.atproto.sync.getBlob?did=" + w.did + "&cid=" + blob.Ref["$link"]
	request := must.Get(http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil))(t)
	response := must.Get((&http.Client{}).Do(request))(t)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("HTTP %d, %v: %s", response.StatusCode, err, body)
	}
	return string(body)
}

func publishImage(t *testing.T, w env) {
	item := pngItem(t, 40, 30, "ein Bild 🖼")
	got := publish(t, w, item)
	shown := got["images"].([]any)[0]
	if w.takeBlob(t, shown, "image") != string(item.bytes) {
		t.Error("the image was changed during the upload")
	}
	want := map[string]any{
		"$type": "app.bsky.embed.images",
		"images": []any{map[string]any{
			"alt": "ein Bild 🖼", "aspectRatio": map[string]any{"width": 40.0, "height": 30.0},
		}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func publishFourImages(t *testing.T, w env) {
	items := []item{jpegItem(t, "a"), pngItem(t, 20, 20, "bb"), jpegItem(t, "ccc"), jpegItem(t, "")}
	shown := publish(t, w, items...)["images"].([]any)
	if len(shown) != len(items) {
		t.Fatalf("%d images", len(shown))
	}
	for i, one := range items {
		if w.takeBlob(t, shown[i], "image") != string(one.bytes) || shown[i].(map[string]any)["alt"] != one.Alt {
			t.Errorf("image %d: %v", i, shown[i])
		}
	}
	// The size of the last image is unknown.
	if diff := cmp.Diff(map[string]any{"alt": ""}, shown[3]); diff != "" {
		t.Error(diff)
	}
}

func publishVideo(t *testing.T, w env) {
	long := strings.Repeat("ä", 1100)
	item := mp4Item(long)
	got := publish(t, w, item)
	if w.takeBlob(t, got, "video") != string(item.bytes) {
		t.Error("the video was changed during the upload")
	}
	want := map[string]any{
		"$type": "app.bsky.embed.video", "alt": long[:2000], "aspectRatio": map[string]any{"width": 1280.0, "height": 720.0},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// publishTooLargeImage publishes an image that the library did not shrink enough. The server rejects the record.
func publishTooLargeImage(t *testing.T, w env) {
	g := w.connect(t)
	large := pngItem(t, 10, 10, "large")
	files, content := newLibrary(large)
	large.bytes = append(large.bytes, make([]byte, 1_000_001-len(large.bytes))...)
	large.Media = content.Media[0]
	large.Size = int64(len(large.bytes))
	files.items[1] = large
	d, _, err := newNetwork().Prepare(t.Context(), g, plan(t, "post-1", content), files)
	must.NoError(t, err)
	_, err = newNetwork().Commit(t.Context(), g, d, nil)
	networktest.WantClass(t, err, network.Rejected, "InvalidRequest")
	if len(w.posts(t)) != 0 {
		t.Error("a post was created")
	}
}

// uploadTooLargeFile uploads more than a server accepts. The server responds before it has read the file.
func uploadTooLargeFile(t *testing.T, w env) {
	files, content := newLibrary(mp4Item(""))
	_, _, err := newNetwork().Prepare(t.Context(), w.connect(t), plan(t, "post-1", content), endless{files})
	rejection := networktest.WantClass(t, err, network.RejectedMedia, "PayloadTooLarge")
	if rejection.Status != http.StatusRequestEntityTooLarge || rejection.Message == "" {
		t.Errorf("%+v", rejection)
	}
}

// uploadWrongType uploads a file with content that does not match its stated type. The server detects the type.
func uploadWrongType(t *testing.T, w env) {
	g := w.connect(t)
	film, picture := mp4Item(""), pngItem(t, 10, 10, "")
	picture.bytes = film.bytes
	files, content := newLibrary(picture)
	d, _, err := newNetwork().Prepare(t.Context(), g, plan(t, "post-1", content), files)
	must.NoError(t, err)
	_, err = newNetwork().Commit(t.Context(), g, d, nil)
	networktest.WantClass(t, err, network.Rejected, "InvalidRequest")
}

func publishBlobOfAnotherAccount(t *testing.T, w env) {
	files, content := newLibrary(pngItem(t, 10, 10, "Alice's"))
	d, _, err := newNetwork().Prepare(t.Context(), w.connect(t), plan(t, "post-1", content), files)
	must.NoError(t, err)
	_, err = newNetwork().Commit(t.Context(), w.another(t), d, nil)
	networktest.WantClass(t, err, network.RejectedMedia, "BlobNotFound")
}

// prepareTwice repeats Prepare, as a process does that resumes after another process stopped.
func prepareTwice(t *testing.T, w env) {
	g := w.connect(t)
	files, content := newLibrary(pngItem(t, 10, 10, "a"), jpegItem(t, "b"))
	plan := plan(t, "post-1", content)
	first, _, err := newNetwork().Prepare(t.Context(), g, plan, files)
	must.NoError(t, err)
	second, _, err := newNetwork().Prepare(t.Context(), g, plan, files)
	if err != nil || string(first) != string(second) {
		t.Fatalf("%s and %s, %v", first, second, err)
	}
	must.Get(newNetwork().Commit(t.Context(), g, second, nil))(t)
	// Media of a published post can be uploaded again.
	if third, _, err := newNetwork().Prepare(t.Context(), g, plan, files); err != nil || string(third) != string(first) {
		t.Errorf("%s and %s, %v", first, third, err)
	}
	again, _, err := newNetwork().Prepare(t.Context(), g, second, nil)
	if err != nil || string(again) != string(second) {
		t.Errorf("%s became %s, %v", second, again, err)
	}
}

func uploadWithExpiredToken(t *testing.T, w env) {
	g := w.connect(t)
	files, content := newLibrary(pngItem(t, 10, 10, ""))
	plan := plan(t, "post-1", content)
	expired := w.expired(t, g)
	_, _, err := newNetwork().Prepare(t.Context(), expired, plan, files)
	networktest.WantClass(t, err, network.RefreshRequired, "ExpiredToken")
	renewed := must.Get(newNetwork().Refresh(t.Context(), expired))(t)
	d, _, err := newNetwork().Prepare(t.Context(), renewed, plan, files)
	must.NoError(t, err)
	if _, err := newNetwork().Commit(t.Context(), renewed, d, nil); err != nil {
		t.Error(err)
	}
}
