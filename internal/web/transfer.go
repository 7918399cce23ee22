package web

import (
	"errors"
	"io"
	"net/http"
	"time"
)

const (
	stalled     = time.Minute      // without a byte the other side is given up
	moveEvery   = time.Second      // how often deadlines are moved at most
	answering   = 5 * time.Minute  // how long the work may take after the last byte
	discardable = 8 << 20          // bytes of a refused file that are still read, as clients read no answer before they have sent
	discarding  = 30 * time.Second // how long they are still read, whoever sends them

	// An upload that is slower than the slowest line holds a connection for its own sake.
	allowance = 30 * time.Minute // before its pace counts
	pace      = 1 << 10          // bytes a second after that, on average
)

// arriving is the body of an upload: it may take as long as it needs while bytes come at a pace that a poor line has,
// whatever the server's own deadlines are.
type arriving struct {
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

func arrivingIn(w http.ResponseWriter, r *http.Request) *arriving {
	return &arriving{ReadCloser: r.Body, control: http.NewResponseController(w), asks: r.Header.Get("Expect") != ""}
}

func (b *arriving) Read(p []byte) (int, error) {
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
func (b *arriving) until(now time.Time) time.Time {
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
func (b *arriving) discard() {
	if begun := !b.moved.IsZero(); !b.ended && (begun || !b.asks) {
		b.refused = true
		until := time.Now().Add(discarding)
		_ = b.control.SetReadDeadline(until)
		_ = b.control.SetWriteDeadline(until.Add(answering))
		_, _ = io.CopyN(io.Discard, b, discardable) // whether it ends does not matter any more
	}
}

// leaving sends a file for as long as somebody takes its bytes, and no byte from its end on.
type leaving struct {
	http.ResponseWriter
	control *http.ResponseController
	moved   time.Time
	ends    time.Time // zero for never
}

func leavingBy(w http.ResponseWriter) *leaving {
	return &leaving{ResponseWriter: w, control: http.NewResponseController(w)}
}

var errOver = errors.New("the time within which the file may be given out is over")

func (l *leaving) Write(p []byte) (int, error) {
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

// over tells whether the end has come, by the machine's clock, which may be set, or by its own count of time, which may stand still
// where the machine does.
func (l *leaving) over(now time.Time) bool {
	return l.limited() && (!now.Before(l.ends) || !now.Round(0).Before(l.ends.Round(0)))
}

func (l *leaving) limited() bool { return !l.ends.IsZero() }

// deadline is when the next bytes have to have been taken.
func (l *leaving) deadline(now time.Time) time.Time {
	if next := now.Add(stalled); !l.limited() || next.Before(l.ends) {
		return next
	}
	return l.ends
}
