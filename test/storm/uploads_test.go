package storm

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
	"time"
)

// link is an upload link for one file.
type link struct {
	URL     string            `json:"url"`
	Headers map[string]string `json:"headers"`
	State   string            `json:"state"`
	MediaID int64             `json:"media_id"`
}

// sendFiles uploads files with upload links, one after another.
func (c *client) sendFiles(ctx context.Context) {
	for ctx.Err() == nil {
		c.sendFile(picture(40+c.dice.IntN(100), c.dice.Uint64()))
		c.rest(time.Duration(c.dice.IntN(300)) * time.Millisecond)
	}
}

// storedDigest returns the digest of a picture as the library stores it.
func storedDigest(raw []byte) string {
	digest := sha256.Sum256(raw[:bytes.LastIndex(raw, []byte(trailer))])
	return hex.EncodeToString(digest[:])
}

// sendFile opens an upload batch and uploads its file until the library has it.
func (c *client) sendFile(raw []byte) {
	digest := sha256.Sum256(raw)
	k := call{tool: "create_uploads", method: http.MethodPost, path: "/uploads", key: c.key("drafts"), idem: newIdem(),
		asTool: c.chance(40),
		body: map[string]any{
			"files": []any{map[string]any{"sha256": hex.EncodeToString(digest[:]), "size_bytes": len(raw), "file_name": "storm.jpg"}},
		}}
	opened := false
	for c.calls.Err() == nil {
		a := c.do(k)
		if !a.ok() {
			if !a.isTemporary() {
				c.book.complainf("refused", "an upload batch: %s", a.raw)
			}
			return
		}
		if !opened {
			opened = true
			c.book.write("uploads.opened", a.job())
		}
		var batch struct {
			Upload struct{ Uploads []link }
		}
		a.into(&batch)
		if len(batch.Upload.Uploads) != 1 {
			c.book.complainf("wrong", "a batch of one file has the links %+v", batch.Upload.Uploads)
			return
		}
		to := batch.Upload.Uploads[0]
		if media := c.put(to, raw); media != 0 {
			c.book.change(func() {
				c.book.sent = append(c.book.sent, &sentFile{c.team, storedDigest(raw), len(raw), media, a.job()})
			})
			return
		}
		c.rest(askAgain) // The next response has a new link, or says that the file is stored.
	}
	c.book.complainf("unanswered", "a file of %d bytes was never stored", len(raw))
}

// put uploads a file and returns its media ID, or 0 if the ID is unknown.
func (c *client) put(to link, raw []byte) int64 {
	if to.MediaID != 0 {
		return to.MediaID
	}
	_, path, _ := strings.Cut(to.URL, "/uploads/")
	for range 3 {
		r, err := http.NewRequestWithContext(c.calls, http.MethodPut, c.gate.url()+"/uploads/"+path, bytes.NewReader(raw))
		if err != nil {
			return 0
		}
		for name, value := range to.Headers {
			r.Header.Set(name, value)
		}
		r.Header.Set("Content-Type", "application/octet-stream")
		began := time.Now()
		status, _, body, err := c.send(r)
		if err != nil {
			c.book.fault("an answer did not arrive")
			c.rest(askAgain)
			continue
		}
		a, _ := read(status, http.Header{}, body)
		c.book.recordAnswer("PUT upload", a.outcome(), 1, time.Since(began))
		switch {
		case a.ok():
			var data struct {
				MediaID int64 `json:"media_id"`
			}
			a.into(&data)
			return data.MediaID
		case status >= 500:
			c.rest(askAgain)
		case status == http.StatusConflict || status == http.StatusUnauthorized:
			return 0 // The link was already used. The batch has the result.
		default:
			c.book.complainf("refused", "uploading a file: %s", body)
			return 0
		}
	}
	return 0
}
