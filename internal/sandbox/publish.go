package sandbox

// publish runs try, and again after the wait that a marker asks for. It returns the id of the post, and fails with
// closed if the sandbox closes first.
func (s *shared) publish(closed error, try func(waited bool) (outcome, error)) (string, error) {
	for waited := false; ; waited = true {
		out, err := try(waited)
		switch {
		case err != nil:
			return "", err
		case out.wait == 0:
			return out.post, out.refused
		case !s.pause(out.wait):
			return "", closed
		}
	}
}
