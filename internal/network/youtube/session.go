package youtube

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/network"
)

const pollInterval = 5 * time.Second // between checks of a session that has all bytes but no video yet

// video has the fields of a video resource that this package reads.
type video struct {
	ID      string `json:"id"`
	Snippet struct {
		PublishedAt string `json:"publishedAt"`
	} `json:"snippet"`
	Status videoStatus `json:"status"`
}

// videoID matches a video's ID. YouTube does not document the format. All known IDs have 11 of these characters.
var videoID = regexp.MustCompile(`^[A-Za-z0-9_-]{5,64}$`)

// progress is the state of an upload session.
type progress struct {
	video video // the finished video; its ID is empty until the upload is complete
	next  int64 // offset of the first missing byte
}

// queryProgress returns a session's progress. It changes nothing.
func (n *Network) queryProgress(ctx context.Context, g network.Grant, d draft) (progress, error) {
	return n.put(ctx, g, d, network.PurposeRead, fmt.Sprintf("bytes */%d", d.Total), nil)
}

// sendChunk sends the bytes [from, to) of the file.
func (n *Network) sendChunk(
	ctx context.Context, g network.Grant, d draft, purpose network.Purpose, source *videoSource, from, to int64,
) (progress, error) {
	part, err := source.chunk(from, to)
	if err != nil {
		return progress{}, err
	}
	return n.put(ctx, g, d, purpose, fmt.Sprintf("bytes %d-%d/%d", from, to-1, d.Total), part)
}

// put sends a PUT request, the only kind that a session accepts.
func (n *Network) put(
	ctx context.Context, g network.Grant, d draft, purpose network.Purpose, contentRange string, part []byte,
) (progress, error) {
	if !isOnServer(d.Session, g.Server) {
		return progress{}, network.PermanentError(errors.New("the upload session's URL does not belong to this network"))
	}
	call := network.Call{
		Purpose: purpose, Name: "upload session", Method: http.MethodPut, URL: d.Session, Bearer: g.AccessToken,
		Header: http.Header{"Content-Range": {contentRange}}, Secrets: []string{d.Session},
	}
	if part != nil {
		call.Body = &network.Body{Reader: bytes.NewReader(part), Type: d.Type, Size: int64(len(part))}
	}
	resp, err := n.client.Do(ctx, call)
	if err != nil {
		return progress{}, err
	}
	switch resp.Status {
	case http.StatusOK, http.StatusCreated:
		return parseVideo(resp)
	case http.StatusPermanentRedirect: // Resume Incomplete
		return n.parseProgress(resp, d.Total)
	}
	return progress{}, n.rejection(resp)
}

// isOnServer reports whether a session's URL is on the server. The token must not be sent to another server.
func isOnServer(session, server string) bool {
	return strings.HasPrefix(session, strings.TrimRight(server, "/")+"/")
}

// parseVideo returns the finished video.
func parseVideo(resp network.Response) (progress, error) {
	var v video
	if err := resp.Decode(&v); err != nil {
		return progress{}, err
	}
	if !videoID.MatchString(v.ID) {
		return progress{}, resp.Call.Failure(errors.New("the response has no valid video ID"), false)
	}
	return progress{video: v}, nil
}

// parseProgress returns the progress in the Range header of a response.
func (n *Network) parseProgress(resp network.Response, total int64) (progress, error) {
	rangeHeader := resp.Header.Get("Range")
	if rangeHeader == "" {
		return progress{}, nil
	}
	last, err := strconv.ParseInt(strings.TrimPrefix(rangeHeader, "bytes=0-"), 10, 64)
	switch {
	case err != nil || last < 0 || last >= total:
		return progress{}, resp.Call.Failure(errors.New("the response has an invalid Range header"), false)
	case last == total-1:
		return progress{}, &network.Error{
			Class: network.Processing, Status: resp.Status, RetryAt: n.opts.Now().Add(pollInterval).UTC(),
			Err: errors.New("YouTube has the whole file and is still processing it"),
		}
	}
	return progress{next: last + 1}, nil
}

// isExpired reports whether err means that the session no longer exists.
func isExpired(err error) bool {
	netErr, ok := errors.AsType[*network.Error](err)
	return ok && (netErr.Status == http.StatusNotFound || netErr.Status == http.StatusGone)
}

// sendChunks sends the missing parts except the last one, and returns the offset of the last part. YouTube creates the
// video only after the last part.
func (n *Network) sendChunks(
	ctx context.Context, g network.Grant, d draft, source *videoSource, next int64,
) (int64, error) {
	last := (d.Total - 1) / n.opts.ChunkBytes * n.opts.ChunkBytes
	for next < last {
		progress, err := n.sendChunk(ctx, g, d, network.PurposeTransfer, source, next, min(next+n.opts.ChunkBytes, last))
		if err != nil {
			return 0, err
		}
		if progress.next <= next {
			return 0, network.InvalidResponse(errors.New("sending a part of the file: the network did not store it"))
		}
		next = progress.next
	}
	return next, nil
}

// videoSource is an open video file with its current offset.
type videoSource struct {
	file   network.File
	offset int64
}

// openVideo opens the draft's video.
func (n *Network) openVideo(ctx context.Context, d draft, files network.Files) (*videoSource, error) {
	if len(d.Media) != 1 { // the operator's rules may allow more
		return nil, &network.Error{Class: network.RejectedMedia, Err: errors.New("a YouTube post needs exactly one video")}
	}
	file, err := files.Open(ctx, d.Media[0].ID, n.opts.Rules.FileLimits(network.Video))
	if err != nil {
		return nil, network.FileError(err)
	}
	if d.Total > 0 && file.Size != d.Total {
		_ = file.Close() // nothing was read
		return nil, network.PermanentError(errors.New("the file has changed since the upload started; retry the post"))
	}
	return &videoSource{file: file}, nil
}

// chunk returns the bytes [from, to) of the file.
func (s *videoSource) chunk(from, to int64) ([]byte, error) {
	part := make([]byte, to-from)
	err := s.seek(from)
	if err == nil {
		_, err = io.ReadFull(s.file, part)
	}
	if err != nil {
		return nil, network.FileError(err)
	}
	s.offset = to
	return part, nil
}

func (s *videoSource) seek(to int64) error {
	seeker, ok := s.file.ReadCloser.(io.Seeker)
	var err error
	switch {
	case to == s.offset:
	case ok:
		_, err = seeker.Seek(to, io.SeekStart)
	case to > s.offset:
		_, err = io.CopyN(io.Discard, s.file, to-s.offset)
	default:
		err = errors.New("the file is not seekable")
	}
	if err != nil {
		return fmt.Errorf("seeking in the file: %w", err)
	}
	return nil
}
