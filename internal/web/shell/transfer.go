package shell

import (
	"errors"
	"io"
	"net/http"
	"time"
)

const (
	stalled   = time.Minute     // without a byte the other side is given up
	moveEvery = time.Second     // how often deadlines are moved at most
	answering = 5 * time.Minute // how long the work may take after the last byte
	// bytes of a refused file that are still read, as clients read no answer before they have sent
	discardable = 8 << 20
	discarding  = 30 * time.Second // how long they are still read, whoever sends them

	// An upload that is slower than the slowest line holds a connection for its own sake.
	allowance = 30 * time.Minute // before its pace counts
	pace      = 1 << 10          // bytes a second after that, on average
)

// Arriving is the body of an upload. It replaces the server's deadlines: an upload may last as long as it keeps a pace
// that a poor line has.
type Arriving struct {
	io.ReadCloser
	control *http.ResponseController
	begun   time.Time
	moved   time.Time
	came    int64 // bytes
	ended   bool
	refused bool  // the rest is read to no end
	err     error // why it broke off
	asks    bool  // the client waits to be told that it may send
}

// ArrivingIn returns the body of a request as an upload.
func ArrivingIn(w http.ResponseWriter, r *http.Request) *Arriving {
	return &Arriving{ReadCloser: r.Body, control: http.NewResponseController(w), asks: r.Header.Get("Expect") != ""}
}

// Err returns why the upload broke off; nil if it did not.
func (b *Arriving) Err() error { return b.err }

// Refuse answers a request before its body has ended. Clients that read while they send see the answer and stop. From
// the others a little more is read, as they read no answer before they have sent everything.
func (b *Arriving) Refuse(w http.ResponseWriter, r *http.Request, answer func()) {
	_ = b.control.EnableFullDuplex()
	if r.ProtoMajor == 1 && !b.ended && (r.ContentLength < 0 || r.ContentLength-b.came > discardable) {
		w.Header().Set("Connection", "close")
	}
	answer()
	_ = b.control.Flush()
	b.discard()
}

// Read implements io.Reader.
func (b *Arriving) Read(p []byte) (int, error) {
	// A server that knows no deadlines has none to be moved.
	if now := time.Now(); !b.refused && now.Sub(b.moved) >= moveEvery {
		b.moved = now
		until := b.until(now)
		_ = b.control.SetReadDeadline(until)
		_ = b.control.SetWriteDeadline(until.Add(answering))
	}
	n, err := b.ReadCloser.Read(p)
	b.came += int64(n)
	if err != nil && !b.ended {
		b.ended = true
		_ = b.control.SetWriteDeadline(time.Now().Add(answering))
		if !errors.Is(err, io.EOF) {
			b.err = err
		}
	}
	return n, err //nolint:wrapcheck // it stands in for the body
}

// until is when the next byte has to be there.
func (b *Arriving) until(now time.Time) time.Time {
	if b.begun.IsZero() {
		b.begun = now
	}
	slowest := b.begun.Add(allowance + time.Duration(b.came/pace)*time.Second)
	if next := now.Add(stalled); next.Before(slowest) {
		return next
	}
	return slowest
}

// discard reads on a little where the file was refused before its end, but for a client that asked and was not told
// to send.
func (b *Arriving) discard() {
	if begun := !b.moved.IsZero(); !b.ended && (begun || !b.asks) {
		b.refused = true
		until := time.Now().Add(discarding)
		_ = b.control.SetReadDeadline(until)
		_ = b.control.SetWriteDeadline(until.Add(answering))
		_, _ = io.CopyN(io.Discard, b, discardable) // whether it ends does not matter any more
	}
}

// Leaving sends a file for as long as the client takes its bytes, and no byte after Ends.
type Leaving struct {
	http.ResponseWriter
	control *http.ResponseController
	moved   time.Time
	Ends    time.Time // when the last byte may leave; zero for no limit
}

// LeavingBy returns a writer that sends a file as an answer.
func LeavingBy(w http.ResponseWriter) *Leaving {
	return &Leaving{ResponseWriter: w, control: http.NewResponseController(w)}
}

var errOver = errors.New("the time within which the file may be given out is over")

// Write implements io.Writer.
func (l *Leaving) Write(p []byte) (int, error) {
	now := time.Now()
	if l.over(now) {
		return 0, errOver // a process that has stood still since it opened the file
	}
	if now.Sub(l.moved) >= moveEvery {
		l.moved = now
		_ = l.control.SetWriteDeadline(l.deadline(now))
	}
	n, err := l.ResponseWriter.Write(p)
	if err != nil || !l.limited() {
		return n, err //nolint:wrapcheck // it stands in for the answer
	}
	// Nothing waits where the process may stand still. A writer that knows no flushing has nowhere to keep it.
	if err := l.control.Flush(); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return n, err //nolint:wrapcheck // as above
	}
	return n, nil
}

// over tells whether the end has come, by the machine's clock, which may be set, or by its own count of time, which
// may stand still where the machine does.
func (l *Leaving) over(now time.Time) bool {
	return l.limited() && (!now.Before(l.Ends) || !now.Round(0).Before(l.Ends.Round(0)))
}

func (l *Leaving) limited() bool { return !l.Ends.IsZero() }

// deadline is when the next bytes have to have been taken.
func (l *Leaving) deadline(now time.Time) time.Time {
	if next := now.Add(stalled); !l.limited() || next.Before(l.Ends) {
		return next
	}
	return l.Ends
}
