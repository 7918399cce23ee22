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

// The codes of errors.
const (
	Refused = "address_refused" // it was never connected to
	// not reached, not answered as it should be, too slow, cut off, redirected too often
	Unavailable = "source_unavailable"
	TooLarge    = "too_large" // it has more bytes than were asked for
)

// Error says why there is no file. None of it holds the address that was given or one that it resolved to.
type Error struct {
	Code   string // Refused, Unavailable or TooLarge
	Detail string // a sentence for whoever gave the address: it tells nothing of the network around us
	Err    error  // for the log; nil where Detail says everything
}

func (e *Error) Error() string {
	text := e.Code + ": " + e.Detail
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

func (e *Error) Unwrap() error { return e.Err }

func refused(detail string) *Error {
	return &Error{Code: Refused, Detail: detail}
}

func unavailable(detail string, err error) *Error {
	return &Error{Code: Unavailable, Detail: detail, Err: err}
}

func tooLarge() *Error {
	return &Error{Code: TooLarge, Detail: "The file is larger than it may be."}
}

// unreached tells why there is no answer. To the user, every reason is the same one.
func unreached(err error) *Error {
	if errors.Is(err, ErrPrivate) {
		return &Error{Code: Refused, Detail: notPublic, Err: ErrPrivate}
	}
	return unavailable("The source could not be reached.", reason(err))
}

// broken tells why an answer ended too early.
func broken(err error) *Error {
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return tooLarge()
	}
	return unavailable("The source did not send the whole file, or not in time.", reason(err))
}

// reason is what the log is told: errors of the network hold addresses in their texts, and an address may hold a
// signature that opens the file to everybody.
func reason(err error) error {
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
		return errors.New("the certificate does not count")
	}
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		return fmt.Errorf("the name did not resolve (not found: %t, timeout: %t)", dns.IsNotFound, dns.IsTimeout)
	}
	if e, ok := errors.AsType[net.Error](err); ok && e.Timeout() {
		return os.ErrDeadlineExceeded
	}
	return fmt.Errorf("error of type %T", err)
}
