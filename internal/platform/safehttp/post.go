package safehttp

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"time"
)

const (
	postTimeout = 20 * time.Second
	maxResponse = 64 << 10 // bytes read from a response
)

// PostResponse is the response to a Post request, without its body.
type PostResponse struct {
	Status     int
	RetryAfter string // the Retry-After header field, or ""
}

// Post sends body to an address and returns the response without its body. It does not follow redirects. Errors have
// the type *Error and do not contain the address, because the address may be a secret.
func (c *Client) Post(ctx context.Context, address string, header map[string]string, body []byte) (PostResponse, error) {
	u, err := c.parse(address)
	if err != nil {
		return PostResponse{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, min(c.opts.Timeout, postTimeout))
	defer cancel()
	r := (&http.Request{
		Method: http.MethodPost, URL: u, Host: u.Host, Header: http.Header{},
		Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)),
	}).WithContext(ctx)
	for name, value := range header {
		r.Header.Set(name, value)
	}
	resp, err := c.transport.RoundTrip(r)
	if err != nil {
		return PostResponse{}, connectError(err)
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, maxResponse)) // some servers count an unread response as a failure
	return PostResponse{resp.StatusCode, resp.Header.Get("Retry-After")}, nil
}
