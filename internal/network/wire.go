package network

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http/httptrace"
	"sync/atomic"
)

// Wire learns how far a request went: what was certainly never written had no effect.
type Wire struct{ asked, connected atomic.Bool }

// Watch makes the context of the request that is to be learnt about.
func (w *Wire) Watch(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GetConn: func(string) { w.asked.Store(true) },
		GotConn: func(httptrace.GotConnInfo) { w.connected.Store(true) },
	})
}

// Untouched tells, of a request that ended with an error, whether certainly nothing was written: the transport asked
// for a connection and never got one. A transport that does not report what it does is not trusted with that.
func (w *Wire) Untouched(err error) bool {
	dial, ok := errors.AsType[*net.OpError](err)
	return !w.connected.Load() && (w.asked.Load() || ok && dial.Op == "dial")
}

const maxAnswer = 1 << 20 // bytes

// ReadAnswer reads the body of a network's answer; one that is longer than 1 MiB is an error.
func ReadAnswer(body io.Reader) ([]byte, error) {
	read, err := io.ReadAll(io.LimitReader(body, maxAnswer+1))
	if err != nil {
		return nil, fmt.Errorf("reading the answer: %w", err)
	}
	if len(read) > maxAnswer {
		return nil, errors.New("reading the answer: it is longer than 1 MiB")
	}
	return read, nil
}
