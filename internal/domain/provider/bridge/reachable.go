package bridge

import (
	"context"
	"net/http"

	"pressroom.example/pressroom/internal/domain/provider/wire"
)

// Reachable checks whether the bridge responds. It accepts any status except server errors and 429. Its errors are
// *provider.UnavailableError.
func (c *Client) Reachable(ctx context.Context, _ string) error {
	request, err := c.newRequest(ctx, c.base.JoinPath("v1").String()+"/")
	if err != nil {
		return err
	}
	response, err := wire.Do(c.http, request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode >= http.StatusInternalServerError || response.StatusCode == http.StatusTooManyRequests {
		out := wire.Unavailable("the bridge returned HTTP %d", response.StatusCode)
		out.After = wire.RetryAfter(response.Header, c.opts.Now())
		return out
	}
	return nil
}
