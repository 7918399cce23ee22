package shell

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/platform/loadshed"
)

const (
	// pageTimeout is the time limit for a page, so that it cannot hold its slot forever if a dependency hangs.
	pageTimeout            = 30 * time.Second
	formReadAhead          = 64 << 10 // bytes of a form that are read before it takes a slot, because clients may be slow
	longReadAhead          = 2 << 20  // bytes of a long form that are read before it takes a slot
	maxLongForms           = 32       // maximum number of long forms in memory
	maxLongFormsPerNetwork = 4        // maximum number of long forms per client network: an IPv4 /24 or IPv6 /48

	// maxUploadsPerPerson limits a person's concurrent requests with files. The upload page's script sends two at once.
	maxUploadsPerPerson = 6
	uploadsRetryAfter   = 5 * time.Second
)

// LimitConcurrency wraps a handler so that every request occupies a page slot of the node until it is served, except
// for routes with SkipsSlot and forms with files. See AcquireUploadRequest for forms with files.
func (s *Shell) LimitConcurrency(next http.Handler) http.Handler {
	withSlot := s.WithSlot(next, s.ServerError)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, pattern := s.routeMux.Handler(r)
		if route := s.routes[pattern]; route.SkipsSlot || route.AcceptsFiles && SendsFiles(r) {
			next.ServeHTTP(w, r)
			return
		}
		withSlot.ServeHTTP(w, r) // even without a route, because the 404 page looks up the visitor
	})
}

// WithSlot wraps a handler so that each request occupies a page slot and ends after pageTimeout. If the node is full,
// it calls reject.
func (s *Shell) WithSlot(next http.Handler, reject func(http.ResponseWriter, *http.Request, error)) http.Handler {
	withTimeout := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), pageTimeout)
		defer cancel()
		next.ServeHTTP(w, r.WithContext(ctx))
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			var long bool
			if r.Body, long = readAhead(r.Body, formReadAhead); long {
				// A slow sender must not hold a page slot.
				release, ok := s.AcquireLongForm(r)
				if !ok {
					reject(w, r, apierr.AtCapacity(loadshed.RetryAfter()))
					return
				}
				defer release()
				r.Body, _ = readAhead(r.Body, longReadAhead)
			}
		}
		s.serveWithSlot(s.Limiters.Pages, withTimeout, reject, w, r)
	})
}

// AcquireLongForm counts a long form in memory until the returned function is called. It returns false if the client's
// network or the node has too many long forms.
func (s *Shell) AcquireLongForm(r *http.Request) (func(), bool) {
	network := loadshed.NetworkPrefix(s.Client(r))
	if !s.longFormLimiter.TryAcquire(network) {
		return nil, false
	}
	select {
	case s.longFormSlots <- struct{}{}:
		return func() {
			<-s.longFormSlots
			s.longFormLimiter.Release(network)
		}, true
	default:
		s.longFormLimiter.Release(network)
		return nil, false
	}
}

var errTooManyUploads = apierr.Newf(apierr.RateLimited,
	"You already have %d uploads in progress. Wait until one has finished, then send this one.", maxUploadsPerPerson).
	With("scope", "uploads_under_way").WithRetryAfter(uploadsRetryAfter)

// AcquireUploadRequest counts a request with files toward the visitor's limit until the returned function is called. It
// returns a rate_limited error if the visitor has too many such requests. The request itself does not occupy a slot.
// Instead, each of its files occupies a slot, taken with AcquireUploadSlot, until the file has arrived or is rejected.
// A form that stalls between files therefore does not occupy a slot.
func (s *Shell) AcquireUploadRequest(r *http.Request) (func(), error) {
	person := strconv.FormatInt(VisitorOf(r.Context()).ID, 10)
	if !s.uploads.TryAcquire(person) {
		return nil, errTooManyUploads
	}
	return func() { s.uploads.Release(person) }, nil
}

// AcquireUploadSlot takes an upload slot for a file and returns the function that releases it. It returns a
// service_unavailable error if the node has no free upload slot.
func (s *Shell) AcquireUploadSlot(r *http.Request) (func(), error) {
	err := s.AcquireSlot(r, s.Limiters.Uploads)
	if apierr.Is(err, apierr.Unavailable) {
		err = apierr.New(apierr.Unavailable,
			"The server is receiving as many files as it can. Nothing was stored. Send this one again in a moment.").
			With("reason", apierr.Busy).WithRetryAfter(loadshed.RetryAfter())
	}
	if err != nil {
		return nil, err
	}
	return s.Limiters.Uploads.Release, nil
}

// serveWithSlot runs a handler while holding a slot of a limiter. If no slot is free, it calls reject.
func (s *Shell) serveWithSlot(
	limiter *loadshed.Limiter, next http.Handler, reject func(http.ResponseWriter, *http.Request, error),
	w http.ResponseWriter, r *http.Request,
) {
	if err := s.AcquireSlot(r, limiter); err != nil {
		reject(w, r, err)
		return
	}
	defer limiter.Release()
	next.ServeHTTP(w, r)
}

// bufferedBody is a request body whose bytes come from another reader.
type bufferedBody struct {
	io.Reader
	io.Closer
}

// readAhead reads up to limit bytes of a body in advance, so that a slow sender does not occupy a slot. It returns a
// reader for the whole body, and whether there may be bytes beyond the limit.
func readAhead(body io.ReadCloser, limit int64) (io.ReadCloser, bool) {
	var head bytes.Buffer
	_, err := io.CopyN(&head, body, limit)
	rest := io.Reader(body)
	if err != nil {
		rest = errReader{err}
	}
	return bufferedBody{io.MultiReader(&head, rest), body}, err == nil
}

// errReader is a reader that always returns an error.
type errReader struct{ err error }

func (r errReader) Read([]byte) (int, error) { return 0, r.err }

// IsClientGone reports whether the client disconnected. It returns false for a request that timed out, which needs a
// response.
func IsClientGone(r *http.Request) bool { return errors.Is(r.Context().Err(), context.Canceled) }

// AcquireSlot takes a slot of a limiter. The caller frees it with limiter.Release. If no slot is free, AcquireSlot
// returns a service_unavailable error.
func (*Shell) AcquireSlot(r *http.Request, limiter *loadshed.Limiter) error {
	err := limiter.Acquire(r.Context())
	if errors.Is(err, loadshed.ErrFull) {
		return apierr.AtCapacity(loadshed.RetryAfter())
	}
	if err != nil {
		return fmt.Errorf("waiting for a slot: %w", err)
	}
	return nil
}

// AsUnavailable returns a service_unavailable error if err occurred because a dependency is unreachable, and err
// otherwise. If the page timed out although the dependencies are reachable, it returns err, because a retry would take
// as long.
func (s *Shell) AsUnavailable(r *http.Request, err error) error {
	if apierr.FromError(err).Code != apierr.Internal || !s.IsUnavailable(err) || errors.Is(r.Context().Err(),
		context.DeadlineExceeded) && s.IsReachable() {
		return err
	}
	return apierr.Unreachable(err)
}

// showUnavailable writes an error page that asks the person to try again later.
func (s *Shell) showUnavailable(w http.ResponseWriter, r *http.Request, err error) {
	apiErr := apierr.FromError(err)
	text := s.T(r, overloadedText(r))
	if apiErr.Context["reason"] == apierr.DiskFull {
		text = s.Detail(r, err)
	} else if apiErr.Err != nil {
		s.Log.WarnContext(r.Context(), "a page is temporarily unavailable", "method", r.Method, "route", r.Pattern,
			"error",
			err)
		text = s.T(r, "The service cannot reach its database. Try again in a moment. If you submitted a form, first check "+
			"whether it took effect.")
	}
	SetRetryAfter(w, apiErr)
	s.ShowText(w, r, http.StatusServiceUnavailable, "Service busy", text)
}

// overloadedText returns the error text of an overloaded node. A rejected GET request may be the redirect after a form
// that was processed, so the text must not say that nothing was changed.
func overloadedText(r *http.Request) locale.Key {
	const overloaded = "The service is overloaded. "
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return overloaded +
			"This page cannot be shown now. If you sent a form, it was processed: reload this page, do not send " +
			"the form again."
	}
	return overloaded + "Nothing was changed. Try again in a moment."
}
