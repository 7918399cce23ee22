package client

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"mime"
	"net/http"
)

const maxResponse = 64 << 20 // bytes

// CallOption is an option for one call.
type CallOption func(*preparedCall)

// IdempotencyKey sets the Idempotency-Key of a write, which has 1 to 128 characters. By default, each call gets a
// random key. Use a new key for each new call. If you reuse a key with different arguments, the call fails with
// [CodeIdempotencyKeyReused], but for a paid operation, it is a new call, which is charged. Reads ignore the key.
func IdempotencyKey(key string) CallOption {
	return func(p *preparedCall) { p.key = key }
}

// newKey returns a random idempotency key.
func newKey() string { return "go-" + rand.Text() }

// Call calls an operation by name. The arguments are a map, a struct or JSON. Call returns the data as JSON.
func (c *Client) Call(
	ctx context.Context, name string, in any, options ...CallOption,
) (*Answer[json.RawMessage], error) {
	return do[json.RawMessage](ctx, c, name, in, options)
}

// CallPages calls an operation once for each page, starting at the cursor in the arguments. It stops at the first
// error.
func (c *Client) CallPages(
	ctx context.Context, name string, in map[string]any, options ...CallOption,
) iter.Seq2[*Answer[json.RawMessage], error] {
	in = maps.Clone(in)
	first, _ := in["cursor"].(string)
	return pages(first, func(cursor string) (*Answer[json.RawMessage], error) {
		args := map[string]any{} // a copy, so that a second iteration begins with the first page
		maps.Copy(args, in)
		if cursor != "" {
			args["cursor"] = cursor
		}
		return c.Call(ctx, name, args, options...)
	})
}

func do[T any](ctx context.Context, c *Client, name string, in any, options []CallOption) (*Answer[T], error) {
	o, err := find(name)
	if err != nil {
		return nil, err
	}
	p, err := c.prepare(o, in, options)
	if err != nil {
		return nil, err
	}
	if p.credential, err = c.key(ctx); err != nil {
		return nil, fmt.Errorf("%s: %w", o.Name, err)
	}
	var a *Answer[T]
	err = c.retry.run(ctx, o.Name, p.key, func(ctx context.Context) error {
		a, err = doOnce[T](ctx, c, p)
		return err
	})
	if err != nil {
		return nil, err
	}
	return a, nil
}

// doOnce sends a call once and reads the response.
func doOnce[T any](ctx context.Context, c *Client, p *preparedCall) (*Answer[T], error) {
	resp, raw, err := c.exchange(ctx, p) //nolint:bodyclose // exchange closes it
	if err != nil {
		return nil, err
	}
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return nil, responseError(resp, raw)
	}
	a := &Answer[T]{
		Raw: raw, Status: resp.StatusCode, Location: resp.Header.Get("Location"), IdempotencyKey: p.key,
		Replayed: resp.Header.Get("Idempotent-Replayed") == "true", Header: resp.Header,
	}
	if media, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); media != "application/json" {
		return nil, &Error{
			Status: resp.StatusCode, Detail: "the response is not JSON, so it is not from the API: check the service's address",
		}
	}
	if err := json.Unmarshal(raw, a); err != nil {
		return nil, fmt.Errorf("reading the response: %w", err)
	}
	if a.Meta.RequestID == "" {
		return nil, &Error{
			Status: resp.StatusCode,
			Detail: "the response has no meta.request_id, so it is not from the API: check the service's address",
		}
	}
	return a, nil
}

func (c *Client) exchange(ctx context.Context, p *preparedCall) (*http.Response, []byte, error) {
	var body io.Reader
	if p.body != nil {
		body = bytes.NewReader(p.body)
	}
	req, err := http.NewRequestWithContext(ctx, p.operation.Method, p.target.String(), body)
	if err != nil {
		return nil, nil, fmt.Errorf("creating the request: %w", err)
	}
	req.Header.Set("Authorization", "Bearer "+p.credential)
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", c.agent)
	if p.body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if p.key != "" {
		req.Header.Set("Idempotency-Key", p.key)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, nil, fmt.Errorf("sending: %w", err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxResponse+1))
	if err != nil {
		return nil, nil, fmt.Errorf("reading the response: %w", err)
	}
	if len(raw) > maxResponse {
		return nil, nil, &permanentError{errors.New("the response is too long to be from the API: check the service's address")}
	}
	return resp, raw, nil
}
