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

	"pressroom/internal/apierr"
	"pressroom/internal/platform/loadshed"
)

const (
	// how long a page may take: what it stands on may hang, and the place has to come free
	pageWithin     = 30 * time.Second
	formAhead      = 64 << 10 // bytes of a form that are read before it takes a place: it may come slowly
	longAhead      = 2 << 20  // bytes of a long form that are read before it takes a place
	longForms      = 32       // long forms that are in memory at once
	longPerNetwork = 4        // of these, from one network: a /24 of IPv4, a /48 of IPv6

	// uploadsPerPerson is how many requests with files one person has under way. The upload page's script sends two at
	// once.
	uploadsPerPerson = 6
	uploadsWait      = 5 * time.Second // before a person with that many tries again
)

// Roomed makes every request take a place on the node until it is answered. Urgent routes take none, and forms with
// files take theirs file by file: see EnterUploads.
func (f *Frame) Roomed(next http.Handler) http.Handler {
	placed := f.Placed(next, f.Broken)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, pattern := f.known.Handler(r)
		if route := f.routes[pattern]; route.Urgent || route.Files && sendsFiles(r) {
			next.ServeHTTP(w, r)
			return
		}
		placed.ServeHTTP(w, r) // of no route too: who asks is looked up for the page that says so
	})
}

// Placed has a handler work in a place among pages, and no longer than a page may take. Where there is none, the
// refusal is told in the words of the route.
func (f *Frame) Placed(next http.Handler, refuse func(http.ResponseWriter, *http.Request, error)) http.Handler {
	bounded := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), pageWithin)
		defer cancel()
		next.ServeHTTP(w, r.WithContext(ctx))
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			var long bool
			if r.Body, long = ahead(r.Body, formAhead); long {
				// A sender that stalls must not hold a place among pages.
				leave, ok := f.enterLong(r)
				if !ok {
					refuse(w, r, apierr.AtCapacity(loadshed.ComeAgain()))
					return
				}
				defer leave()
				r.Body, _ = ahead(r.Body, longAhead)
			}
		}
		f.within(f.Rooms.Pages, bounded, refuse, w, r)
	})
}

// enterLong counts a long form, until the function that it returns is called. It reports false if there are too many,
// of the client's network or of all.
func (f *Frame) enterLong(r *http.Request) (func(), bool) {
	network := loadshed.NetworkOf(f.Client(r))
	if !f.longBy.Enter(network) {
		return nil, false
	}
	select {
	case f.long <- struct{}{}:
		return func() {
			<-f.long
			f.longBy.Leave(network)
		}, true
	default:
		f.longBy.Leave(network)
		return nil, false
	}
}

var errManyUploads = apierr.New(apierr.RateLimited,
	fmt.Sprintf("You have %d uploads under way already. Wait until one of them has ended, then send this one.",
		uploadsPerPerson)).
	With("scope", "uploads_under_way").After(uploadsWait)

// EnterUploads counts a request that brings files of the person who is signed in, until the function that it returns is
// called. The request holds no place among uploads
// by that: each of its files takes one with EnterUpload, and gives it back when it has arrived or is refused, so that
// a form that stalls between files holds none. The error is rate_limited if the person has too many such requests
// under way.
func (f *Frame) EnterUploads(r *http.Request) (func(), error) {
	person := strconv.FormatInt(VisitorOf(r.Context()).ID, 10)
	if !f.uploads.Enter(person) {
		return nil, errManyUploads
	}
	return func() { f.uploads.Leave(person) }, nil
}

// EnterUpload takes a place for a file that comes in. The function that it returns gives the place back. The error is
// service_unavailable if there is none.
func (f *Frame) EnterUpload(r *http.Request) (func(), error) {
	err := f.Enter(r, f.Rooms.Uploads)
	if apierr.Is(err, apierr.Unavailable) {
		err = apierr.New(apierr.Unavailable,
			"The service is receiving as many files as it can. Nothing of this one was kept: send it again "+
				"in a moment.").
			With("reason", apierr.Busy).After(loadshed.ComeAgain())
	}
	if err != nil {
		return nil, err
	}
	return f.Rooms.Uploads.Leave, nil
}

// within has a handler work in a place of a room.
func (f *Frame) within(
	room *loadshed.Room, next http.Handler, refuse func(http.ResponseWriter, *http.Request, error),
	w http.ResponseWriter, r *http.Request,
) {
	if err := f.Enter(r, room); err != nil {
		refuse(w, r, err)
		return
	}
	defer room.Leave()
	next.ServeHTTP(w, r)
}

// readAhead is a body of which the beginning is there already.
type readAhead struct {
	io.Reader
	io.Closer
}

// ahead reads at most that many bytes of a body, so that a slow sender waits in nobody's place. It returns the whole
// body, which ends as the original does, and reports whether more bytes may follow those that were read.
func ahead(body io.ReadCloser, most int64) (io.ReadCloser, bool) {
	var begun bytes.Buffer
	_, err := io.CopyN(&begun, body, most)
	rest := io.Reader(body)
	if err != nil {
		rest = failing{err}
	}
	return readAhead{io.MultiReader(&begun, rest), body}, err == nil
}

// failing is a reader that has ended.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// Gone tells whether nobody is there any more to be answered. A request whose time was over is one that has to be.
func Gone(r *http.Request) bool { return errors.Is(r.Context().Err(), context.Canceled) }

// Enter takes a place in a room, which its Leave gives back; service_unavailable where there is none.
func (*Frame) Enter(r *http.Request, room *loadshed.Room) error {
	err := room.Enter(r.Context())
	if errors.Is(err, loadshed.ErrFull) {
		return apierr.AtCapacity(loadshed.ComeAgain())
	}
	if err != nil {
		return fmt.Errorf("waiting for a place: %w", err)
	}
	return nil
}

// Told says service_unavailable of what failed only because the node is cut off from what it stands on. What took all
// the time that a page has while the database answers is no such thing: it would take as long again.
func (f *Frame) Told(r *http.Request, err error) error {
	if apierr.Of(err).Code != apierr.Internal || !f.Away(err) || errors.Is(r.Context().Err(),
		context.DeadlineExceeded) && f.Answers() {
		return err
	}
	return apierr.Unreachable(err)
}

// later asks the person to come again.
func (f *Frame) later(w http.ResponseWriter, r *http.Request, err error) {
	told := apierr.Of(err)
	text := full(r)
	if told.Context["reason"] == apierr.DiskFull {
		text = told.Detail
	} else if told.Err != nil {
		f.Log.WarnContext(r.Context(), "a page cannot be shown now", "method", r.Method, "route", r.Pattern, "error",
			err)
		text = "The service does not reach its data at this moment. Try again in a moment; if you have sent a form, " +
			"look first whether it took effect."
	}
	w.Header().Set("Retry-After", strconv.Itoa(int(told.RetryAfter/time.Second)))
	f.Notice(w, r, http.StatusServiceUnavailable, "Not now", text)
}

// full says that there was no room. A form that was done leads to a page, which takes a place of its own: that one
// must not say that nothing was done.
func full(r *http.Request) string {
	const much = "So much is asked of the service at this moment that there was no room for this. "
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return much +
			"This page cannot be shown now. If a form led here, it was done: load this page again, do not send the " +
			"form again."
	}
	return much + "Nothing was done. Try again in a moment."
}
