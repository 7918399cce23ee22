package sandbox

import (
	"context"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"time"
)

const tiktokUploadLife = time.Hour // not confirmed

// tiktokRange matches the Content-Range of an upload (RFC 9110, section 14.4).
var tiktokRange = regexp.MustCompile(`^bytes ([0-9]{1,18})-([0-9]{1,18})/([0-9]{1,18})$`)

// errTikTokRange refuses a part that is not the next one.
var errTikTokRange = &tiktokError{
	http.StatusRequestedRangeNotSatisfiable, "invalid_range", "Content-Range is not that of the next part",
}

// upload receives a part of a video. It needs the address but no token.
func (n *tiktok) upload(w http.ResponseWriter, r *http.Request) {
	last, err := n.takePart(w, r)
	var done http.Handler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		status := http.StatusPartialContent
		if last {
			status = http.StatusCreated
		}
		w.WriteHeader(status)
	})
	n.write(w, r, done, err, func(refused *tiktokError) any { return map[string]string{"message": refused.message} })
}

// takePart saves a part, and reports whether it is the last.
func (n *tiktok) takePart(w http.ResponseWriter, r *http.Request) (bool, error) {
	p, before, err := n.uploadOf(r)
	if err != nil {
		return false, err
	}
	size, err := p.next(r)
	if err != nil {
		return false, err
	}
	part, err := n.store.keepFile(http.MaxBytesReader(w, r.Body, size))
	if err != nil || part.size != size {
		return false, tiktokBadRequest("invalid_file_upload", "The part is not as long as it says")
	}
	last := p.uploaded+size == p.size
	whole := part
	if last {
		if whole, err = n.store.join(append(before, part.cid)); err != nil {
			return false, err
		}
	}
	ctx, cancel := work(r)
	defer cancel()
	return last, n.keepPart(ctx, p, part, whole)
}

// uploadOf returns the upload of the address, and its parts.
func (n *tiktok) uploadOf(r *http.Request) (tiktokPublish, []string, error) {
	ctx, cancel := work(r)
	defer cancel()
	var p tiktokPublish
	var before []string
	err := n.store.in(ctx, func(t tx) error {
		var found bool
		var err error
		p, found, err = findTikTok(ctx, t, `where secret = ?`, n.seal(r.URL.Query().Get("upload_token")))
		switch {
		case err != nil:
			return err
		case !found || p.id() != r.URL.Query().Get("upload_id"):
			return &tiktokError{http.StatusNotFound, "not_found", "There is no such upload"}
		case n.now().Sub(p.made) >= tiktokUploadLife:
			return &tiktokError{http.StatusForbidden, "expired", "The address has expired"}
		}
		before, err = listTikTokParts(ctx, t, p.seq)
		return err
	})
	return p, before, err
}

// next returns the length of the next part, and refuses any other part.
func (p tiktokPublish) next(r *http.Request) (int64, error) {
	if !slices.Contains([]string{"video/mp4", "video/quicktime", "video/webm"}, r.Header.Get("Content-Type")) {
		return 0, tiktokBadRequest("invalid_file_upload", "Content-Type is not that of a video")
	}
	match := tiktokRange.FindStringSubmatch(r.Header.Get("Content-Range"))
	if match == nil {
		return 0, tiktokBadRequest("invalid_file_upload", "Content-Range cannot be read")
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
		return 0, errTikTokRange
	case r.ContentLength != size:
		return 0, tiktokBadRequest("invalid_file_upload", "Content-Length is not that of the range")
	}
	return size, nil
}

// keepPart stores a part, and with the last one the post, on disk when it returns.
func (n *tiktok) keepPart(ctx context.Context, p tiktokPublish, part, whole blobRef) error {
	_, err := n.publish(errTikTokInternal, func(waited bool) (outcome, error) {
		var out outcome
		err := n.store.in(ctx, func(t tx) error {
			now, _, err := findTikTok(ctx, t, `where seq = ?`, p.seq)
			if err != nil {
				return err
			}
			if now.uploaded != p.uploaded {
				return errTikTokRange // another request was faster
			}
			if now.uploaded+part.size == now.size {
				if out, err = n.arrive(ctx, t, &now, whole, waited); err != nil || now.done.IsZero() {
					return err
				}
			}
			return insertTikTokPart(ctx, t, &now, part)
		})
		return out, err
	})
	return err
}

// arrive finishes a video. One of an unsupported type fails.
func (n *tiktok) arrive(ctx context.Context, t tx, p *tiktokPublish, whole blobRef, waited bool) (outcome, error) {
	if !slices.Contains([]string{"video/mp4", "video/quicktime", "video/webm"}, whole.mime) {
		p.failure = "file_format_check_failed"
	}
	return n.conclude(ctx, t, p, []blobRef{whole}, waited)
}
