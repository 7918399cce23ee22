package bridge

import (
	"context"
	"net/http"

	"pressroom/internal/domain/provider/wire"
)

// Reachable tells whether the bridge answers at all: what it says of its base address does not matter, unless it says
// that it is out of order or busy. Errors are *source.Unavailable.
func (c *Client) Reachable(ctx context.Context, _ string) error {
	request, err := c.request(ctx, c.base.JoinPath("v1").String()+"/")
	if err != nil {
		return err
	}
	response, err := wire.Do(c.http, request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode >= http.StatusInternalServerError || response.StatusCode == http.StatusTooManyRequests {
		out := wire.Unavailable("asking the bridge: HTTP %d", response.StatusCode)
		out.After = wire.After(response.Header, c.opts.Now())
		return out
	}
	return nil
}
