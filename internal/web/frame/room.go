package frame

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"pressroom/internal/fault"
	"pressroom/internal/shed"
)

// Roomed has every request take a place on the node until it is answered, but for those of urgent routes.
func (f *Frame) Roomed(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, pattern := f.known.Handler(r)
		route, room := f.routes[pattern], f.Rooms.Pages // of no route too: who asks is looked up for the page that says so
		if route.Files {
			room = f.Rooms.Uploads
		}
		if route.Urgent {
			next.ServeHTTP(w, r)
			return
		}
		if err := f.Enter(r, room); err != nil {
			f.Broken(w, r, err)
			return
		}
		defer room.Leave()
		next.ServeHTTP(w, r)
	})
}

// Enter takes a place in a room, which its Leave gives back; service_unavailable where there is none.
func (*Frame) Enter(r *http.Request, room *shed.Room) error {
	err := room.Enter(r.Context())
	if errors.Is(err, shed.ErrFull) {
		return fault.Full(shed.ComeAgain())
	}
	if err != nil {
		return fmt.Errorf("waiting for a place: %w", err)
	}
	return nil
}

// Told says service_unavailable of what failed only because the node is cut off from what it stands on.
func (f *Frame) Told(err error) error {
	if fault.Of(err).Code == fault.Internal && f.Away(err) {
		return fault.Away(err)
	}
	return err
}

// later asks the person to come again.
func (f *Frame) later(w http.ResponseWriter, r *http.Request, err error) {
	told := fault.Of(err)
	text := "So much is asked of the service at this moment that there was no room for this. Nothing was done. Try again in a moment."
	if told.Err != nil {
		f.Log.WarnContext(r.Context(), "a page cannot be shown now", "method", r.Method, "route", r.Pattern, "error", err)
		text = "The service does not reach its data at this moment. Try again in a moment; if you have sent a form, look first whether it took effect."
	}
	w.Header().Set("Retry-After", strconv.Itoa(int(told.RetryAfter/time.Second)))
	f.Notice(w, r, http.StatusServiceUnavailable, "Not now", text)
}
