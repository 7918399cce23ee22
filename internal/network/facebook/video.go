package facebook

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/network/graph"
)

const (
	maxUploads = 3
	maxChunks  = 20_000 // enough for 10 GB in chunks of 500 kB; Facebook chooses the chunk size
	maxMessage = 500    // characters kept of the network's own text
)

// upload sends the video in the chunks that Facebook requests. The video remains unpublished until Commit finishes the
// upload.
func (n *Network) upload(ctx context.Context, g network.Grant, d *draft, files network.Files) error {
	file, err := files.Open(ctx, d.Media[0].ID, n.fileLimits(*d, network.Video))
	if err != nil {
		return network.FileError(err)
	}
	defer file.Close()
	if d.Reel {
		return n.uploadReel(ctx, g, d, file)
	}
	var newUpload struct {
		span

		Video   string `json:"video_id"`
		Session string `json:"upload_session_id"`
	}
	start := n.videoCall(g, url.Values{"upload_phase": {"start"}, "file_size": {strconv.FormatInt(file.Size, 10)}}, &newUpload)
	if err := n.graph.Do(ctx, start); err != nil {
		return err
	}
	if !graph.IsID(newUpload.Video) || newUpload.Session == "" || len(newUpload.Session) > maxName {
		return network.InvalidResponse(errors.New("starting an upload: the response lacks an id"))
	}
	if err := n.transfer(ctx, g, newUpload.Session, newUpload.span, file); err != nil {
		return err
	}
	d.Video, d.Session = newUpload.Video, newUpload.Session
	d.Uploads++
	return nil
}

// videoCall returns a call to the API for video uploads.
func (n *Network) videoCall(g network.Grant, params url.Values, out any) graph.Call {
	c := n.newCall(g, http.MethodPost, g.Account+"/videos", params, out)
	c.Server = n.opts.VideoHost
	return c
}

// span is the part of the file that Facebook requests next. It is empty after the last part.
type span struct {
	Start int64 `json:"start_offset,string"`
	End   int64 `json:"end_offset,string"`
}

// transfer sends the file once, in order. After a failure, the upload cannot be resumed; it must start again from the
// beginning.
func (n *Network) transfer(ctx context.Context, g network.Grant, session string, next span, file network.File) error {
	offset := int64(0)
	for range maxChunks {
		switch {
		case next.Start == file.Size && next.End == file.Size && offset == file.Size:
			return nil
		case next.Start != offset || next.End <= next.Start || next.End > file.Size:
			return network.InvalidResponse(errors.New("uploading: the network does not request the next part"))
		}
		body, err := n.newChunkBody(g.AccessToken, session, next, file)
		if err != nil {
			return network.PermanentError(err)
		}
		offset = next.End
		c := n.videoCall(g, nil, &next)
		c.Purpose, c.Body = network.PurposeTransfer, body
		if err := n.graph.Do(ctx, c); err != nil {
			return err
		}
	}
	return network.InvalidResponse(errors.New("uploading: the network requests parts that are too small"))
}

// newChunkBody returns a multipart form (RFC 7578) that contains a part of the file. The file is read while the form is
// sent.
func (n *Network) newChunkBody(token, session string, s span, file io.Reader) (*network.Body, error) {
	var envelope bytes.Buffer
	form := multipart.NewWriter(&envelope)
	fields := [][2]string{
		{"access_token", token}, {"upload_phase", "transfer"}, {"upload_session_id", session},
		{"start_offset", strconv.FormatInt(s.Start, 10)},
	}
	if n.opts.ClientSecret != "" {
		fields = append(fields, [2]string{graph.ProofParam, graph.Proof(token, n.opts.ClientSecret)})
	}
	for _, field := range fields {
		if err := form.WriteField(field[0], field[1]); err != nil {
			return nil, fmt.Errorf("encoding a chunk: %w", err)
		}
	}
	if _, err := form.CreateFormFile("video_file_chunk", "chunk"); err != nil {
		return nil, fmt.Errorf("encoding a chunk: %w", err)
	}
	headSize := envelope.Len()
	if err := form.Close(); err != nil {
		return nil, fmt.Errorf("encoding a chunk: %w", err)
	}
	frame, size := envelope.Bytes(), s.End-s.Start
	return &network.Body{
		Reader: io.MultiReader(bytes.NewReader(frame[:headSize]), io.LimitReader(file, size),
			bytes.NewReader(frame[headSize:])),
		Type: form.FormDataContentType(), Size: int64(len(frame)) + size,
	}, nil
}

// The states of a video.
const (
	statusUploading      = "uploading"
	statusUploadComplete = "upload_complete"
	statusProcessing     = "processing"
	statusReady          = "ready"
	statusError          = "error"
	statusUploadFailed   = "upload_failed"
	statusExpired        = "expired"
	phaseComplete        = "complete" // status of a phase
	phaseNotStarted      = "not_started"

	// Values of publish_status. The value "scheduled" is not used here.
	statusPublished = "published"
	statusDraft     = "draft"
)

// phase is one phase in which Facebook processes a video.
type phase struct {
	Status string `json:"status"`
	// set only in the publishing phase, and not in all responses
	PublishStatus string `json:"publish_status"`
	Error         struct {
		Message string `json:"message"`
	} `json:"error"`
	Errors []struct {
		Message string `json:"message"`
	} `json:"errors"`
}

// state is Facebook's description of a video.
type state struct {
	Published *bool  `json:"published"` // nil if it is missing in the response
	Permalink string `json:"permalink_url"`
	Status    struct {
		Video      string `json:"video_status"`
		Processing phase  `json:"processing_phase"`
		Publishing phase  `json:"publishing_phase"`
	} `json:"status"`
}

func (n *Network) readState(ctx context.Context, g network.Grant, id string) (state, error) {
	var videoState state
	fields := url.Values{"fields": {"id,status,published,permalink_url"}}
	err := n.graph.Do(ctx, n.newCall(g, http.MethodGet, id, fields, &videoState))
	return videoState, err
}

// isPublished reports whether everybody can see the video. A draft may also have completed all phases, so a completed
// publishing phase counts only if no other field contradicts it. Older responses do not contain the phases.
//
// Source: https://developers.facebook.com/docs/video-api/guides/reels-publishing
func (s state) isPublished() bool {
	step := s.Status.Publishing
	switch {
	case s.Status.Video != statusReady:
		return false
	case step.PublishStatus != "":
		return strings.EqualFold(step.PublishStatus, statusPublished) && (step.Status == phaseComplete || s.isMarkedPublished())
	case s.Published != nil:
		return *s.Published
	}
	return step.Status == phaseComplete
}

// isMarkedPublished reports whether the video's field published is true.
func (s state) isMarkedPublished() bool { return s.Published != nil && *s.Published }

// isRejected reports whether Facebook could not process or publish the video.
func (s state) isRejected() bool {
	return s.Status.Video == statusError || s.Status.Publishing.Status == statusError && !s.isMarkedPublished()
}

// failureReason returns an error with Facebook's reason for rejecting the video.
func (s state) failureReason() *network.Error {
	text := ""
	for _, step := range []phase{s.Status.Processing, s.Status.Publishing} {
		text = cmp.Or(text, step.Error.Message)
		for _, e := range step.Errors {
			text = cmp.Or(text, e.Message)
		}
	}
	return &network.Error{
		Class: network.RejectedMedia, Status: http.StatusOK, Code: statusError, Message: network.Clip(text, maxMessage),
		Err: errors.New("the network could not process or publish the video"),
	}
}

// verifyVideo checks that an uploaded video can still be published, and uploads it again if Facebook has discarded it.
func (n *Network) verifyVideo(ctx context.Context, g network.Grant, d *draft, files network.Files) error {
	if !d.isVideo() {
		return nil
	}
	videoState, err := n.readState(ctx, g, d.Video)
	netErr, ok := errors.AsType[*network.Error](err)
	switch {
	case ok && graph.IsMissing(netErr):
		return n.uploadAgain(ctx, g, d, files, netErr)
	case err != nil:
		return err
	case videoState.isRejected():
		return videoState.failureReason()
	case videoState.Status.Video == statusExpired, videoState.Status.Video == statusUploadFailed:
		return n.uploadAgain(ctx, g, d, files, lostUploadError(videoState.Status.Video))
	}
	return nil
}

// uploadAgain repeats the upload. After maxUploads uploads, it returns reason instead.
func (n *Network) uploadAgain(
	ctx context.Context, g network.Grant, d *draft, files network.Files, reason *network.Error,
) error {
	if d.Uploads >= maxUploads {
		return reason
	}
	d.Video, d.Session, d.Finished = "", "", false
	err := n.upload(ctx, g, d, files)
	d.PreparedAt = n.opts.Now().UTC()
	return err
}

// lostUploadError returns the error for an upload that Facebook discarded before the video was published.
func lostUploadError(status string) *network.Error {
	return &network.Error{
		Class: network.Transient, Status: http.StatusOK, Code: status,
		Err: errors.New("the network has discarded the upload"),
	}
}
