package shell

import (
	"errors"
	"io"
	"net/http"
	"time"
)

const (
	stallTimeout     = time.Minute     // a transfer fails after this time without progress
	deadlineInterval = time.Second     // minimum interval between updates of deadlines
	workTimeout      = 5 * time.Minute // time limit for the handler after the last byte
	// Number of bytes of a rejected file that are still read, because many clients don't read the response before they
	// have sent everything.
	maxDiscard     = 8 << 20
	discardTimeout = 30 * time.Second // time limit for reading these bytes

	// Uploads slower than minThroughput are aborted, so that they do not hold connections.
	throughputGrace = 30 * time.Minute // time before minThroughput applies
	minThroughput   = 1 << 10          // minimum average throughput in bytes per second
)

// Upload is the body of a request that uploads files. It replaces the server's deadlines: the upload may take any
// amount of time if it does not stall and keeps a minimum throughput.
type Upload struct {
	io.ReadCloser
	control         *http.ResponseController
	startedAt       time.Time // first read; zero before
	deadlineSetAt   time.Time // last update of the deadlines; zero before the first read
	received        int64     // number of bytes received
	atEnd           bool
	rejected        bool  // whether the rest of the body is limited and discarded
	err             error // why the upload was interrupted; nil if it was not
	expectsContinue bool  // whether the client waits for 100 Continue
}

// NewUpload returns the body of a request as an upload.
func NewUpload(w http.ResponseWriter, r *http.Request) *Upload {
	return &Upload{ReadCloser: r.Body, control: http.NewResponseController(w), expectsContinue: r.Header.Get("Expect") != ""}
}

// Err returns why the upload was interrupted, or nil.
func (u *Upload) Err() error { return u.err }

// Reject calls writeResponse to write the response before the body has ended. Clients that read while they send see the
// response and stop. Other clients don't read the response before they have sent everything, so Reject reads a limited
// part of the rest.
func (u *Upload) Reject(w http.ResponseWriter, r *http.Request, writeResponse func()) {
	_ = u.control.EnableFullDuplex()
	unread := !u.atEnd && (r.ContentLength < 0 || r.ContentLength-u.received > maxDiscard) ||
		u.rejected && u.received != r.ContentLength // LimitRest may have ended the body early
	if r.ProtoMajor == 1 && unread {
		w.Header().Set("Connection", "close")
	}
	writeResponse()
	_ = u.control.Flush()
	u.discard()
}

// Read implements io.Reader.
func (u *Upload) Read(p []byte) (int, error) {
	// Ignore errors: a connection that does not support deadlines needs none.
	if now := time.Now(); !u.rejected && now.Sub(u.deadlineSetAt) >= deadlineInterval {
		u.deadlineSetAt = now
		until := u.deadline(now)
		_ = u.control.SetReadDeadline(until)
		_ = u.control.SetWriteDeadline(until.Add(workTimeout))
	}
	n, err := u.ReadCloser.Read(p)
	u.received += int64(n)
	if err != nil && !u.atEnd {
		u.atEnd = true
		_ = u.control.SetWriteDeadline(time.Now().Add(workTimeout))
		if !errors.Is(err, io.EOF) {
			u.err = err
		}
	}
	return n, err //nolint:wrapcheck // passes on the body's errors
}

// deadline returns the deadline for the next byte.
func (u *Upload) deadline(now time.Time) time.Time {
	if u.startedAt.IsZero() {
		u.startedAt = now
	}
	slowest := u.startedAt.Add(throughputGrace + time.Duration(u.received/minThroughput)*time.Second)
	if next := now.Add(stallTimeout); next.Before(slowest) {
		return next
	}
	return slowest
}

// discard reads a limited part of the rest of a rejected upload, unless the client waits for 100 Continue.
func (u *Upload) discard() {
	if started := !u.deadlineSetAt.IsZero(); !u.atEnd && (started || !u.expectsContinue) {
		u.LimitRest()
		_, _ = io.Copy(io.Discard, u) // errors no longer matter
	}
}

// LimitRest limits the number of bytes and the time for reading the rest of a rejected upload.
func (u *Upload) LimitRest() {
	if u.rejected {
		return
	}
	u.rejected = true
	u.ReadCloser = bufferedBody{io.LimitReader(u.ReadCloser, maxDiscard), u.ReadCloser}
	until := time.Now().Add(discardTimeout)
	_ = u.control.SetReadDeadline(until)
	_ = u.control.SetWriteDeadline(until.Add(workTimeout))
}

// Download is a response writer that sends a file without a total time limit, as long as the client keeps accepting
// bytes.
type Download struct {
	http.ResponseWriter
	control       *http.ResponseController
	deadlineSetAt time.Time // last update of the deadline
	ExpiresAt     time.Time // time after which no byte is sent; zero for no limit
}

// NewDownload returns a writer that sends a file as the response.
func NewDownload(w http.ResponseWriter) *Download {
	return &Download{ResponseWriter: w, control: http.NewResponseController(w)}
}

var errExpired = errors.New("the file's link has expired")

// Write implements io.Writer.
func (d *Download) Write(p []byte) (int, error) {
	now := time.Now()
	if d.hasExpired(now) {
		return 0, errExpired // for example, after the process was suspended
	}
	if now.Sub(d.deadlineSetAt) >= deadlineInterval {
		d.deadlineSetAt = now
		_ = d.control.SetWriteDeadline(d.deadline(now))
	}
	n, err := d.ResponseWriter.Write(p)
	if err != nil || !d.hasLimit() {
		return n, err //nolint:wrapcheck // passes on the writer's errors
	}
	// Flush now, because the process may be suspended before a later flush. Writers that cannot flush do not buffer.
	if err := d.control.Flush(); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return n, err //nolint:wrapcheck // as above
	}
	return n, nil
}

// hasExpired reports whether the link has expired by the wall clock or by the monotonic clock. The wall clock can be
// changed, and the monotonic clock may stop while the machine is suspended.
func (d *Download) hasExpired(now time.Time) bool {
	return d.hasLimit() && (!now.Before(d.ExpiresAt) || !now.Round(0).Before(d.ExpiresAt.Round(0)))
}

func (d *Download) hasLimit() bool { return !d.ExpiresAt.IsZero() }

// deadline returns the time by which the client must have accepted the next bytes.
func (d *Download) deadline(now time.Time) time.Time {
	if next := now.Add(stallTimeout); !d.hasLimit() || next.Before(d.ExpiresAt) {
		return next
	}
	return d.ExpiresAt
}
