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

// Error returns the error's text without "EOF". The S3 client would replace an error that contains "EOF" with an error
// that does not wrap the original.
func (u unreachableError) Error() string {
	return strings.ReplaceAll(u.error.Error(), "EOF", "end of the connection")
}

func (u unreachableError) Unwrap() error { return u.error }

// transport converts the errors of requests to S3 to unreachableError, to distinguish them from errors of other HTTP
// clients.
type transport struct{ http.RoundTripper }

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := t.RoundTripper.RoundTrip(r)
	if err != nil {
		return nil, unreachableError{err}
	}
	return response, nil
}

// diskErrors lists the errors that mean that a disk cannot be used at the moment.
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
