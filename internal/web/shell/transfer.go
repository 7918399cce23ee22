package shell

import (
	"errors"
	"io"
	"net/http"
	"time"
)

const (
	stallTimeout     = time.Minute     // the transfer ends after this long without a byte
	deadlineInterval = time.Second     // minimum interval between updates of deadlines
	workTimeout      = 5 * time.Minute // limit for the handler after the last byte
	// bytes of a rejected file that are still read, because clients read no response before they have sent everything.
	maxDiscard     = 8 << 20
	discardTimeout = 30 * time.Second // time limit for that

	// Slower uploads would only hold connections.
	paceGrace = 30 * time.Minute // before the minimum pace applies
	minPace   = 1 << 10          // bytes per second on average
)

// Upload is the body of an upload. It replaces the server's deadlines: an upload may take as long as it keeps a
// minimum pace.
type Upload struct {
	io.ReadCloser
	control  *http.ResponseController
	begun    time.Time
	moved    time.Time
	came     int64 // bytes
	ended    bool
	rejected bool  // the rest is discarded
	err      error // why it was interrupted
	asks     bool  // the client waits for 100 Continue
}

// NewUpload returns the body of a request as an upload.
func NewUpload(w http.ResponseWriter, r *http.Request) *Upload {
	return &Upload{ReadCloser: r.Body, control: http.NewResponseController(w), asks: r.Header.Get("Expect") != ""}
}

// Err returns why the upload was interrupted, or nil.
func (b *Upload) Err() error { return b.err }

// Reject answers a request before its body has ended. Clients that read while sending see the answer and stop. From
// others a little more is read, because they read no answer before they have sent everything.
func (b *Upload) Reject(w http.ResponseWriter, r *http.Request, answer func()) {
	_ = b.control.EnableFullDuplex()
	unread := !b.ended && (r.ContentLength < 0 || r.ContentLength-b.came > maxDiscard) ||
		b.rejected && b.came != r.ContentLength // Bound has ended the body early
	if r.ProtoMajor == 1 && unread {
		w.Header().Set("Connection", "close")
	}
	answer()
	_ = b.control.Flush()
	b.discard()
}

// Read implements io.Reader.
func (b *Upload) Read(p []byte) (int, error) {
	// Servers without deadlines need no update.
	if now := time.Now(); !b.rejected && now.Sub(b.moved) >= deadlineInterval {
		b.moved = now
		until := b.until(now)
		_ = b.control.SetReadDeadline(until)
		_ = b.control.SetWriteDeadline(until.Add(workTimeout))
	}
	n, err := b.ReadCloser.Read(p)
	b.came += int64(n)
	if err != nil && !b.ended {
		b.ended = true
		_ = b.control.SetWriteDeadline(time.Now().Add(workTimeout))
		if !errors.Is(err, io.EOF) {
			b.err = err
		}
	}
	return n, err //nolint:wrapcheck // passes on the body's errors
}

// until returns the deadline of the next byte.
func (b *Upload) until(now time.Time) time.Time {
	if b.begun.IsZero() {
		b.begun = now
	}
	slowest := b.begun.Add(paceGrace + time.Duration(b.came/minPace)*time.Second)
	if next := now.Add(stallTimeout); next.Before(slowest) {
		return next
	}
	return slowest
}

// discard reads a limited rest of a rejected file, unless the client waits for 100 Continue.
func (b *Upload) discard() {
	if begun := !b.moved.IsZero(); !b.ended && (begun || !b.asks) {
		b.LimitRest()
		_, _ = io.Copy(io.Discard, b) // errors no longer matter
	}
}

// LimitRest limits the bytes and the time for reading the rest of a rejected upload.
func (b *Upload) LimitRest() {
	if b.rejected {
		return
	}
	b.rejected = true
	b.ReadCloser = bufferedBody{io.LimitReader(b.ReadCloser, maxDiscard), b.ReadCloser}
	until := time.Now().Add(discardTimeout)
	_ = b.control.SetReadDeadline(until)
	_ = b.control.SetWriteDeadline(until.Add(workTimeout))
}

// Download sends a file as long as the client accepts its bytes, until ExpiresAt.
type Download struct {
	http.ResponseWriter
	control   *http.ResponseController
	moved     time.Time
	ExpiresAt time.Time // no byte is sent afterwards; zero for no limit
}

// NewDownload returns a writer that sends a file as the response.
func NewDownload(w http.ResponseWriter) *Download {
	return &Download{ResponseWriter: w, control: http.NewResponseController(w)}
}

var errExpired = errors.New("the file's link has expired")

// Write implements io.Writer.
func (l *Download) Write(p []byte) (int, error) {
	now := time.Now()
	if l.hasExpired(now) {
		return 0, errExpired // the process was suspended since it opened the file
	}
	if now.Sub(l.moved) >= deadlineInterval {
		l.moved = now
		_ = l.control.SetWriteDeadline(l.deadline(now))
	}
	n, err := l.ResponseWriter.Write(p)
	if err != nil || !l.hasLimit() {
		return n, err //nolint:wrapcheck // passes on the writer's errors
	}
	// Flush now, because the process may be suspended before a later flush. Writers that cannot flush do not buffer.
	if err := l.control.Flush(); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return n, err //nolint:wrapcheck // as above
	}
	return n, nil
}

// hasExpired reports whether the link has expired, by the wall clock, which may be set, or by the monotonic clock, which
// may stop while the machine is suspended.
func (l *Download) hasExpired(now time.Time) bool {
	return l.hasLimit() && (!now.Before(l.ExpiresAt) || !now.Round(0).Before(l.ExpiresAt.Round(0)))
}

func (l *Download) hasLimit() bool { return !l.ExpiresAt.IsZero() }

// deadline returns when the next bytes must have been accepted.
func (l *Download) deadline(now time.Time) time.Time {
	if next := now.Add(stallTimeout); !l.hasLimit() || next.Before(l.ExpiresAt) {
		return next
	}
	return l.ExpiresAt
}
