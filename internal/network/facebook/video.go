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

	"pressroom/internal/network"
	"pressroom/internal/network/graph"
)

const (
	maxUploads = 3
	maxChunks  = 20_000 // the network decides how large they are; of 10 GB these are half a megabyte
	maxMessage = 500    // characters kept of the network's own text
)

// upload sends the video in the chunks that the network asks for. Until the upload is ended nobody sees it.
func (n *Network) upload(ctx context.Context, g network.Grant, p *draft, files network.Files) error {
	file, err := files.Open(ctx, p.Media[0].ID, n.opts.Rules.Fit(network.Video))
	if err != nil {
		return network.FileFailed(err)
	}
	defer file.Close()
	var begun struct {
		span

		Video   string `json:"video_id"`
		Session string `json:"upload_session_id"`
	}
	start := n.video(g, url.Values{"upload_phase": {"start"}, "file_size": {strconv.FormatInt(file.Size, 10)}}, &begun)
	if err := n.graph.Do(ctx, start); err != nil {
		return err
	}
	if !graph.IsID(begun.Video) || begun.Session == "" || len(begun.Session) > maxName {
		return network.Unreadable(errors.New("beginning an upload: the answer lacks an id"))
	}
	if err := n.transfer(ctx, g, begun.Session, begun.span, file); err != nil {
		return err
	}
	p.Video, p.Session = begun.Video, begun.Session
	p.Uploads++
	return nil
}

// video is a call about an upload.
func (n *Network) video(g network.Grant, params url.Values, out any) graph.Call {
	c := n.on(g, http.MethodPost, g.Account+"/videos", params, out)
	c.Server = n.opts.VideoHost
	return c
}

// span is the part of the file that the network wants next. It is empty once there is none.
type span struct {
	Start int64 `json:"start_offset,string"`
	End   int64 `json:"end_offset,string"`
}

// transfer sends the file, once and in its order: what fails half-way begins from the start with a new upload.
func (n *Network) transfer(ctx context.Context, g network.Grant, session string, next span, file network.File) error {
	sent := int64(0)
	for range maxChunks {
		switch {
		case next.Start == file.Size && next.End == file.Size && sent == file.Size:
			return nil
		case next.Start != sent || next.End <= next.Start || next.End > file.Size:
			return network.Unreadable(errors.New("uploading: the network asks for another part than the next"))
		}
		body, err := chunk(g.Access, session, next, file)
		if err != nil {
			return network.Unusable(err)
		}
		sent = next.End
		c := n.video(g, nil, &next)
		c.Purpose, c.Body = network.Fetching, body
		if err := n.graph.Do(ctx, c); err != nil {
			return err
		}
	}
	return network.Unreadable(errors.New("uploading: the network wants too small parts"))
}

// chunk is a form (RFC 7578) with a part of the file, which is read as it is sent.
func chunk(token, session string, s span, file io.Reader) (*network.Body, error) {
	var around bytes.Buffer
	form := multipart.NewWriter(&around)
	for _, field := range [][2]string{
		{"access_token", token}, {"upload_phase", "transfer"}, {"upload_session_id", session},
		{"start_offset", strconv.FormatInt(s.Start, 10)},
	} {
		if err := form.WriteField(field[0], field[1]); err != nil {
			return nil, fmt.Errorf("writing a chunk: %w", err)
		}
	}
	if _, err := form.CreateFormFile("video_file_chunk", "chunk"); err != nil {
		return nil, fmt.Errorf("writing a chunk: %w", err)
	}
	lead := around.Len()
	if err := form.Close(); err != nil {
		return nil, fmt.Errorf("writing a chunk: %w", err)
	}
	written, size := around.Bytes(), s.End-s.Start
	return &network.Body{
		Reader: io.MultiReader(bytes.NewReader(written[:lead]), io.LimitReader(file, size),
			bytes.NewReader(written[lead:])),
		Type: form.FormDataContentType(), Size: int64(len(written)) + size,
	}, nil
}

// The states of a video.
const (
	uploading  = "uploading"
	uploaded   = "upload_complete"
	processing = "processing"
	ready      = "ready"
	failed     = "error"
	unuploaded = "upload_failed"
	expired    = "expired"
	complete   = "complete" // of a phase
)

// phase is one of the things that the network does with a video.
type phase struct {
	Status string `json:"status"`
	Error  struct {
		Message string `json:"message"`
	} `json:"error"`
	Errors []struct {
		Message string `json:"message"`
	} `json:"errors"`
}

// state is what the network says of a video.
type state struct {
	Published bool   `json:"published"`
	Permalink string `json:"permalink_url"`
	Status    struct {
		Video      string `json:"video_status"`
		Processing phase  `json:"processing_phase"`
		Publishing phase  `json:"publishing_phase"`
	} `json:"status"`
}

func (n *Network) state(ctx context.Context, g network.Grant, id string) (state, error) {
	var now state
	err := n.graph.Do(ctx,
		n.on(g, http.MethodGet, id, url.Values{"fields": {"id,status,published,permalink_url"}}, &now))
	return now, err
}

// stands tells whether everybody can see the video. An older answer may lack the phases.
func (s state) stands() bool {
	return s.Status.Video == ready && (s.Published || s.Status.Publishing.Status == complete)
}

// reason is why the network gave a video up.
func (s state) reason() *network.Error {
	said := s.Status.Processing
	text := said.Error.Message
	for _, e := range said.Errors {
		text = cmp.Or(text, e.Message)
	}
	return &network.Error{
		Class: network.RejectedMedia, Status: http.StatusOK, Code: failed, Message: network.Clip(text, maxMessage),
		Err: errors.New("the network could not make the video ready"),
	}
}

// keepVideo makes sure that an uploaded video can still be shown.
func (n *Network) keepVideo(ctx context.Context, g network.Grant, p *draft, files network.Files) error {
	if !p.isVideo() {
		return nil
	}
	now, err := n.state(ctx, g, p.Video)
	said, refused := errors.AsType[*network.Error](err)
	switch {
	case refused && graph.Missing(said):
		return n.uploadAgain(ctx, g, p, files, said)
	case err != nil:
		return err
	case now.Status.Video == failed:
		return now.reason()
	case now.Status.Video == expired, now.Status.Video == unuploaded:
		return n.uploadAgain(ctx, g, p, files, gone(now.Status.Video))
	}
	return nil
}

// uploadAgain gives up after some times, for the reason given.
func (n *Network) uploadAgain(
	ctx context.Context, g network.Grant, p *draft, files network.Files, reason *network.Error,
) error {
	if p.Uploads >= maxUploads {
		return reason
	}
	p.Video, p.Session = "", ""
	err := n.upload(ctx, g, p, files)
	p.Made = n.opts.Now().UTC()
	return err
}

// gone is that the network has let go of an upload that was never shown.
func gone(status string) *network.Error {
	return &network.Error{
		Class: network.Transient, Status: http.StatusOK, Code: status,
		Err: errors.New("the network has let go of the upload"),
	}
}
