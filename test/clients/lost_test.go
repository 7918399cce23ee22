package clients

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/color"
	"image/png"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"pressroom.example/pressroom/client"
	"pressroom.example/pressroom/internal/testkit/must"
)

// picture returns a unique square PNG of noise with the given side in pixels.
func picture(t *testing.T, seed uint64, side int) []byte {
	t.Helper()
	noise := rand.New(rand.NewPCG(seed, 1))
	m := image.NewNRGBA(image.Rect(0, 0, side, side))
	for y := range side {
		for x := range side {
			v := noise.Uint32()
			m.Set(x, y, color.NRGBA{R: uint8(v), G: uint8(v >> 8), B: uint8(v >> 16), A: 255})
		}
	}
	var out bytes.Buffer
	must.NoError(t, (&png.Encoder{CompressionLevel: png.NoCompression}).Encode(&out, m))
	return out.Bytes()
}

// If the first response of every path is lost, each call still takes effect once, is charged once and returns its
// result.
func TestLostAnswers(t *testing.T) {
	t.Parallel()
	g := quickstart(t)
	transport := &lossy{lost: map[string]bool{}}
	c := g.client(t, client.WithHTTPClient(&http.Client{Transport: transport}))
	before := balance(t, g.client(t))

	results, err := c.Upload(t.Context(),
		[]client.File{client.FileFromBytes("a.png", picture(t, 1, 20)), client.FileFromBytes("b.png", picture(t, 2,
			20))}, client.UploadInput{})
	if err != nil || results[0].MediaID == 0 || results[1].MediaID == 0 {
		t.Fatalf("%v: %v", results, err)
	}
	post, err := c.CreatePost(t.Context(),
		client.CreatePostInput{Caption: "kept-once", AccountIDs: []int64{1}, MediaIDs: []int64{results[0].MediaID}})
	if err != nil || !post.Replayed {
		t.Fatalf("%+v: %v", post, err)
	}
	published := must.Get(c.PublishPost(t.Context(), client.PublishPostInput{PostID: post.Data.ID}))(t)
	must.Get(c.Wait(t.Context(), published.Data.JobID))(t)
	if n := g.countPosts(t, "kept-once"); n != 1 {
		t.Errorf("the post was published %d times, want 1", n)
	}
	drafts := 0
	for p, err := range c.ListPostsAll(t.Context(), client.ListPostsInput{Limit: 1}) {
		must.NoError(t, err)
		if p.Excerpt == "kept-once" {
			drafts++
		}
	}
	if drafts != 1 {
		t.Errorf("%d posts with this text", drafts)
	}

	report, err := c.CreateReport(t.Context(), client.CreateReportInput{Type: client.ReportKindProfile, Subject: "lost.answers"})
	if err != nil || !report.Replayed {
		t.Fatalf("%+v: %v", report, err)
	}
	job := must.Get(c.Wait(t.Context(), report.Data.JobID))(t)
	made, err := client.Result[client.ReportResult](job.Data)
	if err != nil || made.Report.Status != client.ReportStatusReady {
		t.Errorf("%+v: %v", made, err)
	}
	if after := balance(t, g.client(t)); made.CreditsCharged == 0 || before-after != made.CreditsCharged {
		t.Errorf("%d credits before, %d after, %d charged", before, after, made.CreditsCharged)
	}
}

func balance(t *testing.T, c *client.Client) int64 {
	t.Helper()
	credits, err := c.GetCredits(t.Context())
	if err != nil || credits.Data.Balance == nil {
		t.Fatalf("%+v: %v", credits, err)
	}
	return *credits.Data.Balance
}

// A large file is uploaded without being held in memory, a file changed during upload is reported, and stored files are
// not uploaded again.
func TestUploads(t *testing.T) {
	t.Parallel()
	g := quickstart(t)
	c := g.client(t)
	path := filepath.Join(t.TempDir(), "large.png")
	large := picture(t, 3, 3000)
	if len(large) < 20<<20 {
		t.Fatalf("image size = %d bytes, want more", len(large))
	}
	must.NoError(t, os.WriteFile(path, large, 0o600))
	file := must.Get(client.FileFromPath(path))(t)
	first := must.Get(c.Upload(t.Context(), []client.File{file}, client.UploadInput{}))(t)
	item := func(p *client.Answer[client.MediaList]) bool {
		return slices.ContainsFunc(p.Data.Media, func(m client.MediaItem) bool {
			return m.ID == first[0].MediaID && m.SizeBytes == int64(len(large))
		})
	}
	if list, err := c.ListMedia(t.Context(), client.ListMediaInput{}); err != nil || !item(list) {
		t.Errorf("%+v: %v", list, err)
	}
	file.Open = nil // a stored file is not read
	again, err := c.Upload(t.Context(), []client.File{file}, client.UploadInput{})
	if err != nil || again[0].MediaID != first[0].MediaID {
		t.Errorf("%v: %v", again, err)
	}
	must.NoError(t, os.WriteFile(path, picture(t, 4, 30), 0o600))
	shrinking := must.Get(client.FileFromPath(path))(t)
	must.NoError(t, os.Truncate(path, 100))
	growing := client.FileFromBytes("growing.png", picture(t, 6, 30))
	growing.Size -= 10
	results, err := c.Upload(t.Context(),
		[]client.File{shrinking, growing, client.FileFromBytes("well.png", picture(t, 5, 10))}, client.UploadInput{})
	if err == nil || results[2].MediaID == 0 {
		t.Errorf("%v: %v", results, err)
	}
	for _, r := range results[:2] {
		if lost, is := errors.AsType[*client.UnansweredError](r.Err); !is || lost.Attempts != 1 {
			t.Errorf("a file that changed: %v", r.Err)
		}
	}
}

// The error names the file that the library rejected.
func TestErrorNamesFile(t *testing.T) {
	t.Parallel()
	g := quickstart(t)
	c := g.client(t)
	good := client.FileFromBytes("good.png", picture(t, 41, 5))
	for name, bad := range map[string]client.UploadFile{
		"no bytes":       {SHA256: good.SHA256},
		"too many bytes": {SHA256: good.SHA256, SizeBytes: 1 << 50},
		"another type":   {SHA256: good.SHA256, SizeBytes: 1, MIMEType: "text/html"},
	} {
		in := client.CreateUploadsInput{Files: []client.UploadFile{{SHA256: good.SHA256, SizeBytes: good.Size}, bad}}
		_, err := c.CreateUploads(t.Context(), in)
		if rejected, is := errors.AsType[*client.Error](err); !is || rejected.Context.Item == nil || *rejected.Context.Item != 1 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// More files than a batch allows are uploaded in several batches. A restarted client continues its open batches.
func TestManyFiles(t *testing.T) {
	t.Parallel()
	g := quickstart(t)
	c := g.client(t)
	files := make([]client.File, 53)
	for i := range files {
		files[i] = client.FileFromBytes("many.png", picture(t, uint64(100+i), 4))
	}
	first := must.Get(c.Upload(t.Context(), files, client.UploadInput{}, client.IdempotencyKey("many")))(t)
	again := must.Get(c.Upload(t.Context(), files, client.UploadInput{}, client.IdempotencyKey("many")))(t)
	for i := range files {
		if first[i].MediaID == 0 || first[i].MediaID != again[i].MediaID {
			t.Errorf("media ID of file %d: %d first, then %d", i, first[i].MediaID, again[i].MediaID)
		}
	}
}

// Errors contain the argument, the job, and the network's texts separately from the data.
func TestErrorReasons(t *testing.T) {
	t.Parallel()
	g := quickstart(t)
	c := g.client(t)
	in := client.CreatePostInput{Caption: "one [sandbox:reject@bluesky]", AccountIDs: []int64{1}}
	post := must.Get(c.CreatePost(t.Context(), in, client.IdempotencyKey("same")))(t)
	in.Caption = "two"
	if _, err := c.CreatePost(t.Context(), in, client.IdempotencyKey("same")); client.CodeOf(err) != client.CodeIdempotencyKeyReused {
		t.Errorf("the same key with another body: %v", err)
	}
	published := must.Get(c.PublishPost(t.Context(), client.PublishPostInput{PostID: post.Data.ID}))(t)
	job, err := c.Wait(t.Context(), published.Data.JobID)
	failed, is := errors.AsType[*client.JobFailedError](err)
	if !is || failed.State != client.JobStateFailed || failed.Code != "rejected_content" || job == nil {
		t.Fatalf("%v", err)
	}
	result := must.Get(client.Result[client.PostResult](job.Data))(t)
	if said := job.Text(result.Accounts[0].NetworkMessage); said == "" {
		t.Errorf("the network's message is missing: %+v", result)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Wait(ctx, published.Data.JobID); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled wait: %v", err)
	}
	drafts := must.Get(client.New(g.AppURL, g.Keys.Drafts))(t)
	if _, err := drafts.PublishPost(t.Context(),
		client.PublishPostInput{PostID: post.Data.ID}); client.CodeOf(err) != client.CodePublishNotAllowed {
		t.Errorf("%v", err)
	}
}
