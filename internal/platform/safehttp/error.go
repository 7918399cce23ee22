package safehttp

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"syscall"
)

// The error codes.
const (
	CodeRefused     = "address_refused"    // rejected before a connection was made
	CodeUnavailable = "source_unavailable" // unreachable, invalid response, timeout, incomplete, or too many redirects
	CodeTooLarge    = "too_large"          // more bytes than the limit
)

// Error is the error of a failed download. It contains neither the URL nor the IP addresses of the URL's host.
type Error struct {
	Code   string // CodeRefused, CodeUnavailable or CodeTooLarge
	Detail string // a sentence for the user that reveals nothing about the internal network
	Err    error  // for the log; may be nil
}

func (e *Error) Error() string {
	text := e.Code + ": " + e.Detail
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

func (e *Error) Unwrap() error { return e.Err }

func rejectedError(detail string) *Error {
	return &Error{Code: CodeRefused, Detail: detail}
}

func unavailableError(detail string, err error) *Error {
	return &Error{Code: CodeUnavailable, Detail: detail, Err: err}
}

func tooLargeError() *Error {
	return &Error{Code: CodeTooLarge, Detail: "The file is too large."}
}

// connectError returns the Error for a failed request. The text for users does not reveal the cause.
func connectError(err error) *Error {
	if errors.Is(err, ErrPrivate) {
		return &Error{Code: CodeRefused, Detail: errTextNotPublic, Err: ErrPrivate}
	}
	return unavailableError("The source could not be reached.", logError(err))
}

// readError returns the Error for a response that ended too early.
func readError(err error) *Error {
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return tooLargeError()
	}
	return unavailableError("The source did not send the whole file in time.", logError(err))
}

// logError returns an error for the log that does not contain the addresses in network errors. An address may contain a
// signature that gives access to the file.
func logError(err error) error {
	for _, known := range []error{
		context.Canceled, context.DeadlineExceeded, os.ErrDeadlineExceeded, io.ErrUnexpectedEOF, io.EOF,
	} {
		if errors.Is(err, known) {
			return known
		}
	}
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		return errno
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return errors.New("the certificate is not trusted")
	}
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		return fmt.Errorf("the name did not resolve (not found: %t, timeout: %t)", dns.IsNotFound, dns.IsTimeout)
	}
	if e, ok := errors.AsType[net.Error](err); ok && e.Timeout() {
		return os.ErrDeadlineExceeded
	}
	return fmt.Errorf("error of type %T", err)
}
