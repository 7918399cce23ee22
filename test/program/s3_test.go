package program

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/testkit/must"
	"pressroom.example/pressroom/internal/testkit/s3"
)

// With files in S3, a file can be uploaded, listed and downloaded. The audit detects a missing file.
func TestFilesInS3(t *testing.T) {
	t.Parallel()
	store := s3.Start(t)
	o, key := newOperator(t, "team")
	o.env = append(o.env, "PRESSROOM_BLOBS="+store.Bucket(t), "AWS_ACCESS_KEY_ID="+store.ID, "AWS_SECRET_ACCESS_KEY="+store.Secret)
	o.serve()
	picture := noise(t)
	o.sends(key, picture)
	if got := o.getMember(key, "/media", "storage.used_bytes"); got != fmt.Sprint("200 ", float64(len(picture))) {
		t.Errorf("storage used: %s, want %d bytes", got, len(picture))
	}
	if found := value(o.mustRun("audit"), "library_complaints"); found != "[]" {
		t.Errorf("audit findings: %s", found)
	}
	o.env = append(o.env, "PRESSROOM_BLOBS="+store.Bucket(t))
	if out, log, err := o.run("audit"); err == nil || !strings.Contains(out, "no_bytes") || !strings.Contains(log,
		"the media library and the file store do not match") {
		t.Errorf("the audit of another bucket: %v, %s %s", err, out, log)
	}
	if out := fails(t, o.env, "serve", "--addr", "127.0.0.1:0"); out == "" {
		t.Error("serve does not warn about a wrong bucket")
	}
}

// noise returns an image of some megabytes.
func noise(t *testing.T) []byte {
	t.Helper()
	img := image.NewNRGBA(image.Rect(0, 0, 1500, 1200))
	random := rand.New(rand.NewPCG(1, 2))
	for i := range img.Pix {
		img.Pix[i] = byte(random.Uint32())
	}
	var out bytes.Buffer
	must.NoError(t, png.Encode(&out, img))
	return out.Bytes()
}

// sends opens an upload link and uploads a file with it.
func (o *operator) sends(key string, file []byte) {
	o.t.Helper()
	described := must.Get(json.Marshal(map[string]any{
		"files": []any{map[string]any{"sha256": fmt.Sprintf("%x", sha256.Sum256(file)), "size_bytes": len(file)}},
	}))(o.t)
	var opened struct {
		Data struct {
			Upload struct {
				Uploads []struct {
					URL     string            `json:"url"`
					Headers map[string]string `json:"headers"`
				} `json:"uploads"`
			} `json:"upload"`
		} `json:"data"`
	}
	answer := o.send(http.MethodPost, o.base+"/uploads", "Bearer "+key, described)
	if err := json.Unmarshal(answer, &opened); err != nil || len(opened.Data.Upload.Uploads) != 1 {
		o.t.Fatalf("opening a link: %v: %s", err, answer)
	}
	link := opened.Data.Upload.Uploads[0]
	o.send(http.MethodPut, link.URL, link.Headers["Authorization"], file)
}

// send sends a body and returns the answer, which must have status 201.
func (o *operator) send(method, address, authorization string, body []byte) []byte {
	o.t.Helper()
	req := must.Get(http.NewRequestWithContext(o.t.Context(), method, address, bytes.NewReader(body)))(o.t)
	req.Header.Set("Authorization", authorization)
	if method == http.MethodPost {
		req.Header.Set("Content-Type", "application/json")
	}
	resp := must.Get(http.DefaultClient.Do(req))(o.t)
	defer resp.Body.Close()
	var out bytes.Buffer
	if _, err := out.ReadFrom(resp.Body); err != nil || resp.StatusCode != http.StatusCreated {
		o.t.Fatalf("%s %s: %s, %v: %s", method, req.URL.Path, resp.Status, err, out.Bytes())
	}
	return out.Bytes()
}
