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
	// pageTimeout bounds a page, so that a hanging dependency cannot hold its slot forever.
	pageTimeout    = 30 * time.Second
	formReadAhead  = 64 << 10 // bytes of a form read before it takes a slot, because clients may be slow
	longReadAhead  = 2 << 20  // bytes of a long form read before it takes a slot
	longForms      = 32       // concurrent long forms in memory
	longPerNetwork = 4        // of these, per network: an IPv4 /24 or IPv6 /48

	// uploadsPerPerson limits a person's concurrent requests with files. The upload page's script sends two at once.
	uploadsPerPerson  = 6
	uploadsRetryAfter = 5 * time.Second
)

// LimitConcurrency makes every request occupy a slot of the node until it is answered. Urgent routes need no slot. Forms
// with files occupy a slot per file, see EnterUploads, and a post's form then occupies a page slot.
func (s *Shell) LimitConcurrency(next http.Handler) http.Handler {
	slotted := s.WithSlot(next, s.ServerError)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, pattern := s.known.Handler(r)
		if route := s.routes[pattern]; route.Urgent || route.Files && SendsFiles(r) {
			next.ServeHTTP(w, r)
			return
		}
		slotted.ServeHTTP(w, r) // also without a route: the 404 page looks up the visitor
	})
}

// WithSlot makes a handler occupy a page slot for at most pageTimeout. If the node is full, reject answers the request.
func (s *Shell) WithSlot(next http.Handler, reject func(http.ResponseWriter, *http.Request, error)) http.Handler {
	bounded := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), pageTimeout)
		defer cancel()
		next.ServeHTTP(w, r.WithContext(ctx))
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			var long bool
			if r.Body, long = readAheadOf(r.Body, formReadAhead); long {
				// A slow sender must not hold a page slot.
				leave, ok := s.EnterLongForm(r)
				if !ok {
					reject(w, r, apierr.AtCapacity(loadshed.RetryAfter()))
					return
				}
				defer leave()
				r.Body, _ = readAheadOf(r.Body, longReadAhead)
			}
		}
		s.within(s.Limiters.Pages, bounded, reject, w, r)
	})
}

// EnterLongForm counts a long form in memory until the returned function is called. It reports false if the client's
// network or the node has too many.
func (s *Shell) EnterLongForm(r *http.Request) (func(), bool) {
	network := loadshed.NetworkPrefix(s.Client(r))
	if !s.longBy.TryAcquire(network) {
		return nil, false
	}
	select {
	case s.long <- struct{}{}:
		return func() {
			<-s.long
			s.longBy.Release(network)
		}, true
	default:
		s.longBy.Release(network)
		return nil, false
	}
}

var errManyUploads = apierr.Newf(apierr.RateLimited,
	"You already have %d uploads in progress. Wait until one has finished, then send this one.", uploadsPerPerson).
	With("scope", "uploads_under_way").After(uploadsRetryAfter)

// EnterUploads counts a request with files of the visitor until the returned function is called. The request itself
// occupies no slot. Each file occupies a slot, see EnterUpload, until it has arrived or is rejected, so that a form that
// stalls between files occupies none. The error is rate_limited if the person has too many such requests.
func (s *Shell) EnterUploads(r *http.Request) (func(), error) {
	person := strconv.FormatInt(VisitorOf(r.Context()).ID, 10)
	if !s.uploads.TryAcquire(person) {
		return nil, errManyUploads
	}
	return func() { s.uploads.Release(person) }, nil
}

// EnterUpload takes a slot for a file and returns the function that releases it. The error is service_unavailable if
// the node is full.
func (s *Shell) EnterUpload(r *http.Request) (func(), error) {
	err := s.Enter(r, s.Limiters.Uploads)
	if apierr.Is(err, apierr.Unavailable) {
		err = apierr.New(apierr.Unavailable,
			"The server is receiving as many files as it can. Nothing was stored. Send this one again in a moment.").
			With("reason", apierr.Busy).After(loadshed.RetryAfter())
	}
	if err != nil {
		return nil, err
	}
	return s.Limiters.Uploads.Release, nil
}

// within runs a handler in a slot of a limiter.
func (s *Shell) within(
	limiter *loadshed.Limiter, next http.Handler, reject func(http.ResponseWriter, *http.Request, error),
	w http.ResponseWriter, r *http.Request,
) {
	if err := s.Enter(r, limiter); err != nil {
		reject(w, r, err)
		return
	}
	defer limiter.Release()
	next.ServeHTTP(w, r)
}

// bufferedBody is a request body that is read through a buffer.
type bufferedBody struct {
	io.Reader
	io.Closer
}

// readAheadOf reads up to limit bytes of a body in advance, so that a slow sender occupies no slot. It returns the whole
// body and reports whether more bytes may follow.
func readAheadOf(body io.ReadCloser, limit int64) (io.ReadCloser, bool) {
	var begun bytes.Buffer
	_, err := io.CopyN(&begun, body, limit)
	rest := io.Reader(body)
	if err != nil {
		rest = failing{err}
	}
	return bufferedBody{io.MultiReader(&begun, rest), body}, err == nil
}

// failing is a reader that returns an error.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// ClientGone reports whether the client disconnected. A request that timed out still needs an answer.
func ClientGone(r *http.Request) bool { return errors.Is(r.Context().Err(), context.Canceled) }

// Enter takes a slot of a limiter; the limiter's Release frees it. The error is service_unavailable if no slot is free.
func (*Shell) Enter(r *http.Request, limiter *loadshed.Limiter) error {
	err := limiter.Acquire(r.Context())
	if errors.Is(err, loadshed.ErrFull) {
		return apierr.AtCapacity(loadshed.RetryAfter())
	}
	if err != nil {
		return fmt.Errorf("waiting for a slot: %w", err)
	}
	return nil
}

// AsUnavailable returns service_unavailable if err occurred because a dependency is unreachable. It does not if a page took
// too long while the database is reachable, because a retry would take as long.
func (s *Shell) AsUnavailable(r *http.Request, err error) error {
	if apierr.FromError(err).Code != apierr.Internal || !s.IsUnavailable(err) || errors.Is(r.Context().Err(),
		context.DeadlineExceeded) && s.IsReachable() {
		return err
	}
	return apierr.Unreachable(err)
}

// unavailable asks the person to try again later.
func (s *Shell) unavailable(w http.ResponseWriter, r *http.Request, err error) {
	told := apierr.FromError(err)
	text := s.T(r, overloadedText(r))
	if told.Context["reason"] == apierr.DiskFull {
		text = s.Detail(r, err)
	} else if told.Err != nil {
		s.Log.WarnContext(r.Context(), "a page is temporarily unavailable", "method", r.Method, "route", r.Pattern,
			"error",
			err)
		text = s.T(r, "The service cannot reach its database. Try again in a moment. If you submitted a form, first check "+
			"whether it took effect.")
	}
	SetRetryAfter(w, told)
	s.ShowText(w, r, http.StatusServiceUnavailable, "Service busy", text)
}

// overloadedText returns the message of an overloaded node. After a successful form, the page it redirects to may be
// rejected: the message must not say that nothing was done.
func overloadedText(r *http.Request) locale.Key {
	const much = "The service is overloaded. "
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return much +
			"This page cannot be shown now. If you sent a form, it was processed: reload this page, do not send " +
			"the form again."
	}
	return much + "Nothing was changed. Try again in a moment."
}
