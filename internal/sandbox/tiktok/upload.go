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

const uploadLifetime = time.Hour // not confirmed

// rangePattern matches the Content-Range of an upload (RFC 9110, section 14.4).
var rangePattern = regexp.MustCompile(`^bytes ([0-9]{1,18})-([0-9]{1,18})/([0-9]{1,18})$`)

// errRange refuses a part that is not the next one.
var errRange = &apiError{
	http.StatusRequestedRangeNotSatisfiable, "invalid_range", "Content-Range is not that of the next part",
}

// upload receives a part of a video. It needs the address but no token.
func (n *Network) upload(w http.ResponseWriter, r *http.Request) {
	last, err := n.receivePart(w, r)
	var done http.Handler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		status := http.StatusPartialContent
		if last {
			status = http.StatusCreated
		}
		w.WriteHeader(status)
	})
	n.write(w, r, done, err, func(refused *apiError) any { return map[string]string{"message": refused.message} })
}

// receivePart saves a part, and reports whether it is the last.
func (n *Network) receivePart(w http.ResponseWriter, r *http.Request) (bool, error) {
	p, before, err := n.uploadOf(r)
	if err != nil {
		return false, err
	}
	size, err := p.next(r)
	if err != nil {
		return false, err
	}
	part, err := n.Store.SaveFile(http.MaxBytesReader(w, r.Body, size))
	if err != nil || part.Size != size {
		return false, badRequest("invalid_file_upload", "The part is not as long as it says")
	}
	last := p.uploaded+size == p.size
	whole := part
	if last {
		if whole, err = n.Store.Join(append(before, part.CID)); err != nil {
			return false, err
		}
	}
	ctx, cancel := base.WorkContext(r)
	defer cancel()
	return last, n.savePart(ctx, p, part, whole)
}

// uploadOf returns the upload of the address, and its parts.
func (n *Network) uploadOf(r *http.Request) (publication, []string, error) {
	ctx, cancel := base.WorkContext(r)
	defer cancel()
	var p publication
	var before []string
	err := n.Store.InTx(ctx, func(t store.Tx) error {
		var found bool
		var err error
		p, found, err = findPublication(ctx, t, `where secret = ?`, n.Hash(r.URL.Query().Get("upload_token")))
		switch {
		case err != nil:
			return err
		case !found || p.id() != r.URL.Query().Get("upload_id"):
			return &apiError{http.StatusNotFound, "not_found", "There is no such upload"}
		case n.Now().Sub(p.made) >= uploadLifetime:
			return &apiError{http.StatusForbidden, "expired", "The address has expired"}
		}
		before, err = listParts(ctx, t, p.seq)
		return err
	})
	return p, before, err
}

// next returns the length of the next part, and refuses any other part.
func (p publication) next(r *http.Request) (int64, error) {
	if !slices.Contains([]string{"video/mp4", "video/quicktime", "video/webm"}, r.Header.Get("Content-Type")) {
		return 0, badRequest("invalid_file_upload", "Content-Type is not that of a video")
	}
	match := rangePattern.FindStringSubmatch(r.Header.Get("Content-Range"))
	if match == nil {
		return 0, badRequest("invalid_file_upload", "Content-Range cannot be read")
	}
	var numbers [3]int64
	for i := range numbers {
		numbers[i], _ = strconv.ParseInt(match[i+1], 10, 64) // at most 18 digits
	}
	size := p.chunk
	if left := p.size - p.uploaded; left < 2*p.chunk {
		size = left // the last part contains the rest
	}
	switch {
	case size <= 0 || numbers != [3]int64{p.uploaded, p.uploaded + size - 1, p.size}:
		return 0, errRange
	case r.ContentLength != size:
		return 0, badRequest("invalid_file_upload", "Content-Length is not that of the range")
	}
	return size, nil
}

// savePart stores a part, and with the last one the post, on disk when it returns.
func (n *Network) savePart(ctx context.Context, p publication, part, whole store.Blob) error {
	_, err := n.PublishInTx(ctx, errInternal, func(t store.Tx, waited bool) (marker.Outcome, error) {
		var out marker.Outcome
		now, _, err := findPublication(ctx, t, `where seq = ?`, p.seq)
		if err != nil {
			return out, err
		}
		if now.uploaded != p.uploaded {
			return out, errRange // another request was faster
		}
		if now.uploaded+part.Size == now.size {
			if out, err = n.finishVideo(ctx, t, &now, whole, waited); err != nil || now.done.IsZero() {
				return out, err
			}
		}
		return out, insertPart(ctx, t, &now, part)
	})
	return err
}

// finishVideo finishes a video. One of an unsupported type fails.
func (n *Network) finishVideo(
	ctx context.Context, t store.Tx, p *publication, whole store.Blob, waited bool,
) (marker.Outcome, error) {
	if !slices.Contains([]string{"video/mp4", "video/quicktime", "video/webm"}, whole.MIME) {
		p.failure = "file_format_check_failed"
	}
	return n.finish(ctx, t, p, []store.Blob{whole}, waited)
}
