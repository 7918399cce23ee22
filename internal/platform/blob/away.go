package blob

import (
	"errors"
	"net/http"
	"strings"
	"syscall"
)

// unreached is a request that came to no answer of S3, or a folder that is not where it was.
type unreached struct{ error }

// Error spells EOF out: the client puts an error of its own, which wraps nothing, in the place of one whose text has
// it.
func (u unreached) Error() string {
	return strings.ReplaceAll(u.error.Error(), "EOF", "end of the connection")
}

func (u unreached) Unwrap() error { return u.error }

// marking marks the requests of S3 that come to no answer, so that they are told from those of others.
type marking struct{ http.RoundTripper }

func (m marking) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := m.RoundTripper.RoundTrip(r)
	if err != nil {
		return nil, unreached{err}
	}
	return answer, nil
}

// awaySigns are what a folder's disk says while it cannot be used.
var awaySigns = []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EIO, syscall.EROFS, syscall.ESTALE}

// Away tells whether an error says that the store cannot be used at the moment: S3 does not answer or says that it
// cannot serve, or the disk is full or broken. A later call may go well.
func Away(err error) bool {
	if _, is := errors.AsType[unreached](err); is {
		return true
	}
	if status := answer(err).StatusCode; status >= http.StatusInternalServerError ||
		status == http.StatusTooManyRequests {
		return true
	}
	for _, sign := range awaySigns {
		if errors.Is(err, sign) {
			return true
		}
	}
	return false
}
