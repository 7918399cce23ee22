package x

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"strconv"
	"time"

	"pressroom.example/pressroom/internal/network"
)

const (
	segmentSize = 1 << 20 // bytes; larger segments are unconfirmed
	maxSegments = 1000    // per upload
	maxAlt      = 1000    // characters of an alt text
)

// createdUpload is the response to the start of an upload.
type createdUpload struct {
	Data struct {
		ID      string `json:"id"`
		Expires int64  `json:"expires_after_secs"`
	} `json:"data"`
}

// upload sends a file in segments. The network deletes an upload that is never finalized. Source:
// https://docs.x.com/x-api/media/quickstart/media-upload-chunked.
func (n *Network) upload(ctx context.Context, g network.Grant, m network.Media, files network.Files) (upload, error) {
	file, err := files.Open(ctx, m.ID, n.fileLimits(m))
	if err != nil {
		return upload{}, network.FileError(err)
	}
	defer file.Close()
	if file.Size <= 0 || file.Size > segmentSize*maxSegments {
		return upload{}, &network.Error{
			Class: network.RejectedMedia, Code: "media_too_large",
			Err: errors.New("uploading: the file is empty or larger than 1000 MiB"),
		}
	}
	var newUpload createdUpload
	c := n.newCall(g, http.MethodPost, "media/upload/initialize")
	c.JSON = map[string]any{
		"media_type": file.Type, "media_category": mediaCategory(m.Kind, file.Type), "total_bytes": file.Size,
	}
	if err := n.callMedia(ctx, c, &newUpload); err != nil {
		return upload{}, err
	}
	if !isID(newUpload.Data.ID) {
		return upload{}, network.InvalidResponse(errors.New("starting an upload: the response has no id"))
	}
	if err := n.appendSegments(ctx, g, newUpload.Data.ID, file); err != nil {
		return upload{}, err
	}
	return n.finalize(ctx, g, m, newUpload)
}

// fileLimits returns the limits to which the library converts the file. A GIF is sent unchanged, because it may be
// animated.
func (n *Network) fileLimits(m network.Media) network.FileLimits {
	if single := n.opts.Rules.Images.Single; m.Kind != network.Video && single.Type != "" && m.Type == single.Type {
		return network.FileLimits{Types: []string{single.Type}, MaxBytes: single.MaxBytes, MaxSide: single.MaxSide}
	}
	return n.opts.Rules.FileLimits(m.Kind)
}

func mediaCategory(kind, mimeType string) string {
	switch {
	case kind == network.Video:
		return "tweet_video"
	case mimeType == "image/gif":
		return "tweet_gif"
	}
	return "tweet_image"
}

// appendSegments sends the file's segments one after the other. Only one segment is in memory at a time.
func (n *Network) appendSegments(ctx context.Context, g network.Grant, id string, file network.File) error {
	buffer := make([]byte, segmentSize)
	remaining := file.Size
	for i := 0; remaining > 0; i++ {
		size, err := io.ReadFull(file, buffer[:min(remaining, segmentSize)])
		if err != nil {
			return network.FileError(fmt.Errorf("reading segment %d: %w", i, err))
		}
		c := n.newCall(g, http.MethodPost, "media/upload/"+id+"/append")
		c.Purpose = network.PurposeTransfer
		if c.Body, err = newSegmentBody(i, buffer[:size]); err != nil {
			return network.PermanentError(err)
		}
		if err := n.callMedia(ctx, c, &struct{}{}); err != nil {
			return err
		}
		remaining -= int64(size)
	}
	return nil
}

// newSegmentBody returns a multipart form with a part of a file.
func newSegmentBody(index int, part []byte) (*network.Body, error) {
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	err := form.WriteField("segment_index", strconv.Itoa(index))
	if err == nil {
		var field io.Writer
		if field, err = form.CreateFormFile("media", "segment"); err == nil {
			_, err = field.Write(part)
		}
	}
	if err := errors.Join(err, form.Close()); err != nil {
		return nil, fmt.Errorf("writing a segment: %w", err)
	}
	return &network.Body{Reader: &body, Type: form.FormDataContentType(), Size: int64(body.Len())}, nil
}

// finalize ends the upload and sets the alt text.
func (n *Network) finalize(ctx context.Context, g network.Grant, m network.Media, newUpload createdUpload) (upload, error) {
	var response struct {
		Data struct {
			Expires    int64           `json:"expires_after_secs"`
			Processing *processingInfo `json:"processing_info"`
		} `json:"data"`
	}
	c := n.newCall(g, http.MethodPost, "media/upload/"+newUpload.Data.ID+"/finalize")
	c.Purpose = network.PurposeTransfer
	if err := n.callMedia(ctx, c, &response); err != nil {
		return upload{}, err
	}
	if m.Alt != "" {
		c := n.newCall(g, http.MethodPost, "media/metadata")
		c.JSON = map[string]any{
			"id":       newUpload.Data.ID,
			"metadata": map[string]any{"alt_text": map[string]string{"text": network.Clip(m.Alt, maxAlt)}},
		}
		if err := n.callMedia(ctx, c, &struct{}{}); err != nil {
			return upload{}, err
		}
	}
	now := n.opts.Now().UTC()
	return upload{
		ID: newUpload.Data.ID, SentAt: now, Done: response.Data.Processing == nil,
		Expires: expiry(max(response.Data.Expires, newUpload.Data.Expires), now),
	}, nil
}

// expiry returns now plus seconds, or zero if seconds is not positive or exceeds a year.
func expiry(seconds int64, now time.Time) time.Time {
	if seconds <= 0 || seconds > int64(365*quotaWait/time.Second) {
		return time.Time{}
	}
	return now.Add(time.Duration(seconds) * time.Second)
}

// callMedia is like do, but changes the class of a rejection to RejectedMedia, or to Transient if X has deleted the
// upload.
func (n *Network) callMedia(ctx context.Context, c network.Call, data any) error {
	err := n.do(ctx, c, data)
	netErr, ok := errors.AsType[*network.Error](err)
	switch {
	case !ok || netErr.Class != network.Rejected:
	case netErr.Status == http.StatusNotFound:
		netErr.Class = network.Transient
	case netErr.Status != 0:
		netErr.Class = network.RejectedMedia
	}
	return err
}
