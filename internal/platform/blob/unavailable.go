package blob

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"syscall"
)

// unreachableError means that S3 did not respond to a request, or that the store's folder was moved.
type unreachableError struct{ error }

// Error replaces "EOF" in the text, because the S3 client replaces an error that contains "EOF" with one that does not
// wrap the original.
func (u unreachableError) Error() string {
	return strings.ReplaceAll(u.error.Error(), "EOF", "end of the connection")
}

func (u unreachableError) Unwrap() error { return u.error }

// transport marks the errors of requests to S3, to distinguish them from errors of other HTTP clients.
type transport struct{ http.RoundTripper }

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := t.RoundTripper.RoundTrip(r)
	if err != nil {
		return nil, unreachableError{err}
	}
	return response, nil
}

// diskErrors are the errors of a disk that cannot be used at the moment.
var diskErrors = []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EIO, syscall.EROFS, syscall.ESTALE}

// IsUnavailable reports whether an error means that the store is temporarily unavailable: S3 does not respond or is
// overloaded, or the disk is full or broken. A later call may succeed.
func IsUnavailable(err error) bool {
	if _, ok := errors.AsType[unreachableError](err); ok {
		return true
	}
	if status := errorResponse(err).StatusCode; status >= http.StatusInternalServerError ||
		status == http.StatusTooManyRequests {
		return true
	}
	return slices.ContainsFunc(diskErrors, func(target error) bool { return errors.Is(err, target) })
}
