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

// requestTrace records whether a request got a connection. A request without a connection had no effect.
type requestTrace struct{ requested, connected atomic.Bool }

// withTrace returns a context. A request with this context reports its progress to t.
func (t *requestTrace) withTrace(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GetConn: func(string) { t.requested.Store(true) },
		GotConn: func(httptrace.GotConnInfo) { t.connected.Store(true) },
	})
}

// nothingSent reports whether the request failed with err before it got a connection, so that nothing was sent. It
// returns false for transports that do not report their progress.
func (t *requestTrace) nothingSent(err error) bool {
	dial, ok := errors.AsType[*net.OpError](err)
	return !t.connected.Load() && (t.requested.Load() || ok && dial.Op == "dial")
}

const maxResponse = 1 << 20 // bytes

// readBody reads a response body of at most 1 MiB.
func readBody(body io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(body, maxResponse+1))
	if err != nil {
		return nil, fmt.Errorf("reading the response: %w", err)
	}
	if len(data) > maxResponse {
		return nil, errors.New("reading the response: it is longer than 1 MiB")
	}
	return data, nil
}
