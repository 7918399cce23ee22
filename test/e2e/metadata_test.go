package e2e

import (
	"bytes"
	"encoding/binary"
	"io"
	"net/http"
	"net/url"
	"slices"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/testkit/must"
)

// testLocation is the location in the metadata of the test files.
const testLocation = "+52.5200+013.4050/"

// addLocation adds a location to the EXIF data of a JPEG.
func addLocation(f file) file {
	exif := "Exif\x00\x00MM\x00\x2a\x00\x00\x00\x08\x00\x00" + testLocation
	segment := append([]byte{0xff, 0xe1, 0, byte(2 + len(exif))}, exif...)
	f.bytes = slices.Concat(f.bytes[:2], segment, f.bytes[2:])
	return f
}

// addVideoLocation appends a location to the boxes of an MP4, as cameras do.
func addVideoLocation(f file) file {
	inner := slices.Concat(binary.BigEndian.AppendUint32(nil, uint32(8+len(testLocation))), []byte("\xa9xyz"+testLocation))
	outer := slices.Concat(binary.BigEndian.AppendUint32(nil, uint32(8+len(inner))), []byte("udta"), inner)
	f.bytes = slices.Concat(f.bytes, outer)
	return f
}

// TestLocationRemoved publishes a photo and a video with a location and shows them to a client. No output of the
// server may contain the location. The test covers new files, files stored before metadata was removed, and a team
// that keeps originals.
func TestLocationRemoved(t *testing.T) {
	t.Parallel()
	withEnv(t, options{}, func(t *testing.T, w *env) {
		photo, video := addLocation(aJPEG("quay.jpg")), addVideoLocation(aVideo(t, "quay.mp4"))
		for _, stored := range []string{"new", "older", "kept"} {
			if stored != "new" {
				w.exec(`UPDATE teams SET keep_originals = 1 WHERE id = ?`, w.team)
			}
			for n, id := range w.addFiles(0, addLocation(aJPEG(stored+".jpg")), withMark(video, stored)) {
				w.setNoteID([]string{"photo", "video"}[n], id)
			}
			if stored == "older" {
				w.exec(`UPDATE teams SET keep_originals = 0 WHERE id = ?`, w.team)
			}
			for _, name := range []string{"photo", "video"} {
				w.mustNotContainLocation(t, stored+" "+name, w.noteID(name), w.publicURLs(name, stored))
			}
		}
		w.exec(`UPDATE teams SET keep_originals = 0 WHERE id = ?`, w.team)
		w.addFiles(0, photo)
		got := w.rest(full(w), "create_uploads", uploadArgs(nil, photo), "")
		got.mustHave(t, map[string]any{"data.upload.uploads.0.state": "stored", "data.upload.uploads.0.url": nil})
	})
}

// withMark returns the same media with different bytes.
func withMark(f file, mark string) file {
	rest := slices.Concat(binary.BigEndian.AppendUint32(nil, uint32(8+len(mark))), []byte("mdat"+mark))
	f.bytes = slices.Concat(f.bytes, rest)
	return f
}

// publicURLs publishes a file, requests a client's approval, and returns all public URLs of the file.
func (w *env) publicURLs(name, stored string) []string {
	w.t.Helper()
	caption := name + " " + stored
	post := w.full("create_post", mergeArgs(w.mediaIDs(name), map[string]any{"caption": caption,
		"account_ids": w.accounts})).text("data.id")
	w.publish(post).mustHave(w.t, map[string]any{"data.state": "succeeded"})
	var held struct{ Posts []struct{ Media []string } }
	w.fetch(w.box.URL+"/held?contains="+url.QueryEscape(caption), &held)
	out := []string{}
	for _, p := range held.Posts {
		out = append(out, p.Media...)
	}
	asked := w.full("create_post",
		mergeArgs(w.mediaIDs(name), map[string]any{"caption": "asked", "account_ids": w.accounts})).text("data.id")
	link := must.Get(w.Approvals.Request(w.t.Context(), w.owner, asked))(w.t)
	signed := must.Get(w.Media.Files(w.team).Link(w.t.Context(), w.noteID(name), network.FileLimits{}, time.Now().Add(time.Hour)))(w.t)
	shown := map[string]string{"photo": "/media/", "video": "/videos/"}[name]
	return append(out, link+shown+w.note(name), signed)
}

func (w *env) mustNotContainLocation(t *testing.T, what string, id int64, addresses []string) {
	t.Helper()
	if len(addresses) != len(w.accounts)+2 {
		t.Errorf("%s: unexpected URLs %v", what, addresses)
	}
	for _, address := range addresses {
		resp := must.Get(client.Get(address))(t)
		raw := must.Get(io.ReadAll(resp.Body))(t)
		must.NoError(t, resp.Body.Close())
		if resp.StatusCode != http.StatusOK || len(raw) < 100 || bytes.Contains(raw, []byte(testLocation)) {
			t.Errorf("%s at %s: %d, %d bytes, location present: %t", what, address, resp.StatusCode, len(raw),
				bytes.Contains(raw, []byte(testLocation)))
		}
	}
	file := must.Get(w.Media.OpenFile(t.Context(), w.owner, id, false))(t)
	raw := must.Get(io.ReadAll(file))(t)
	must.NoError(t, file.Close())
	if len(raw) < 100 || bytes.Contains(raw, []byte(testLocation)) {
		t.Errorf("%s in the app: %d bytes with the location", what, len(raw))
	}
}
