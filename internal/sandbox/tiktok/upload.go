package tiktok

import (
	"context"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"time"

	"pressroom.example/pressroom/internal/sandbox/base"
	"pressroom.example/pressroom/internal/sandbox/marker"
	"pressroom.example/pressroom/internal/sandbox/store"
)

const uploadLifetime = time.Hour // an assumption, because TikTok does not document the lifetime

// rangePattern matches the Content-Range of an upload (RFC 9110, section 14.4).
var rangePattern = regexp.MustCompile(`^bytes ([0-9]{1,18})-([0-9]{1,18})/([0-9]{1,18})$`)

// errRange is the error for a part that is not the next part.
var errRange = &apiError{
	http.StatusRequestedRangeNotSatisfiable, "invalid_range", "Content-Range is not the range of the next part",
}

// upload receives a part of a video. The upload URL authorizes the request, so no token is required.
func (n *Network) upload(w http.ResponseWriter, r *http.Request) {
	last, err := n.receivePart(w, r)
	var success http.Handler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		status := http.StatusPartialContent
		if last {
			status = http.StatusCreated
		}
		w.WriteHeader(status)
	})
	n.write(w, r, success, err, func(apiErr *apiError) any { return map[string]string{"message": apiErr.message} })
}

// receivePart saves a part, and reports whether it is the last part.
func (n *Network) receivePart(w http.ResponseWriter, r *http.Request) (bool, error) {
	p, previous, err := n.findUpload(r)
	if err != nil {
		return false, err
	}
	size, err := p.checkPart(r)
	if err != nil {
		return false, err
	}
	part, err := n.Store.SaveFile(http.MaxBytesReader(w, r.Body, size))
	if err != nil || part.Size != size {
		return false, badRequest("invalid_file_upload", "The size of the part differs from Content-Range")
	}
	last := p.uploaded+size == p.size
	file := part
	if last {
		if file, err = n.Store.Join(append(previous, part.CID)); err != nil {
			return false, err
		}
	}
	ctx, cancel := base.WorkContext(r)
	defer cancel()
	return last, n.savePart(ctx, p, part, file)
}

// findUpload returns the post to which the upload URL belongs, and the CIDs of its parts.
func (n *Network) findUpload(r *http.Request) (publication, []string, error) {
	ctx, cancel := base.WorkContext(r)
	defer cancel()
	var p publication
	var parts []string
	err := n.Store.InTx(ctx, func(t store.Tx) error {
		var found bool
		var err error
		p, found, err = findPublication(ctx, t, `where secret = ?`, n.Hash(r.URL.Query().Get("upload_token")))
		switch {
		case err != nil:
			return err
		case !found || p.id() != r.URL.Query().Get("upload_id"):
			return &apiError{http.StatusNotFound, "not_found", "Upload not found"}
		case n.Now().Sub(p.createdAt) >= uploadLifetime:
			return &apiError{http.StatusForbidden, "expired", "The address has expired"}
		}
		parts, err = listParts(ctx, t, p.seq)
		return err
	})
	return p, parts, err
}

// checkPart returns the size of the request's part in bytes. It returns an error if the part is not the next part.
func (p publication) checkPart(r *http.Request) (int64, error) {
	if !slices.Contains([]string{"video/mp4", "video/quicktime", "video/webm"}, r.Header.Get("Content-Type")) {
		return 0, badRequest("invalid_file_upload", "Content-Type is not a supported video type")
	}
	match := rangePattern.FindStringSubmatch(r.Header.Get("Content-Range"))
	if match == nil {
		return 0, badRequest("invalid_file_upload", "Content-Range is invalid")
	}
	var numbers [3]int64
	for i := range numbers {
		numbers[i], _ = strconv.ParseInt(match[i+1], 10, 64) // at most 18 digits
	}
	size := p.chunk
	if remaining := p.size - p.uploaded; remaining < 2*p.chunk {
		size = remaining // the last part has the remaining bytes
	}
	switch {
	case size <= 0 || numbers != [3]int64{p.uploaded, p.uploaded + size - 1, p.size}:
		return 0, errRange
	case r.ContentLength != size:
		return 0, badRequest("invalid_file_upload", "Content-Length differs from Content-Range")
	}
	return size, nil
}

// savePart stores a part, and the post if the part is the last one. When savePart returns, the data is on disk.
func (n *Network) savePart(ctx context.Context, p publication, part, file store.Blob) error {
	_, err := n.PublishInTx(ctx, errInternal, func(t store.Tx, waited bool) (marker.Outcome, error) {
		var outcome marker.Outcome
		current, _, err := findPublication(ctx, t, `where seq = ?`, p.seq)
		if err != nil {
			return outcome, err
		}
		if current.uploaded != p.uploaded {
			return outcome, errRange // a concurrent request has stored the part
		}
		if current.uploaded+part.Size == current.size {
			if outcome, err = n.finishVideo(ctx, t, &current, file, waited); err != nil || current.completedAt.IsZero() {
				return outcome, err
			}
		}
		return outcome, insertPart(ctx, t, &current, part)
	})
	return err
}

// finishVideo finishes a video. The post fails if the type of the file is not supported.
func (n *Network) finishVideo(
	ctx context.Context, t store.Tx, p *publication, file store.Blob, waited bool,
) (marker.Outcome, error) {
	if !slices.Contains([]string{"video/mp4", "video/quicktime", "video/webm"}, file.MIME) {
		p.failure = "file_format_check_failed"
	}
	return n.finish(ctx, t, p, []store.Blob{file}, waited)
}
