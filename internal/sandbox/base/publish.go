package base

import (
	"pressroom/internal/sandbox/marker"
)

// Publish runs try, and again after the wait that a marker asks for. It returns the id of the post, and fails with
// closed if the sandbox closes first.
func (s *Server) Publish(closed error, try func(waited bool) (marker.Outcome, error)) (string, error) {
	for waited := false; ; waited = true {
		out, err := try(waited)
		switch {
		case err != nil:
			return "", err
		case out.Wait == 0:
			return out.Post, out.Refused
		case !s.Pause(out.Wait):
			return "", closed
		}
	}
}
