// Package wire contains code that the providers share: HTTP requests with limits, and validation of untrusted
// responses.
package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"pressroom.example/pressroom/internal/domain/provider"
	"pressroom.example/pressroom/internal/platform/retryafter"
)

const (
	// MaxHeader is the maximum size of a response header in bytes.
	MaxHeader = 64 << 10
	// MaxRetryAfter is the longest delay accepted from a provider.
	MaxRetryAfter = 24 * time.Hour
)

// NewClient returns an HTTP client for a provider: a copy of base or, if base is nil, a client with limits. The client
// does not store cookies. It follows only redirects that follow allows. If follow is nil, it does not follow redirects,
// because a redirect could leak the token.
func NewClient(base *http.Client, follow func(r *http.Request, via []*http.Request) error) *http.Client {
	client := &http.Client{Transport: &http.Transport{
		Proxy: http.ProxyFromEnvironment, MaxResponseHeaderBytes: MaxHeader, IdleConnTimeout: time.Minute,
		ForceAttemptHTTP2: true,
	}}
	if base != nil {
		clientCopy := *base
		clientCopy.Jar = nil
		client = &clientCopy
	}
	if follow == nil {
		follow = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	}
	client.CheckRedirect = follow
	return client
}

// IsBaseURL reports whether a text is a URL to which paths can be appended.
func IsBaseURL(address string) bool {
	u, err := url.Parse(address)
	return err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Hostname() != "" && u.User == nil &&
		u.RawQuery == "" && u.Fragment == ""
}

// Do sends a request. The caller must close the response body. The error is a *provider.UnavailableError without the
// URL, because the URL names the profile and may contain a token.
func Do(client *http.Client, request *http.Request) (*http.Response, error) {
	request.Header.Set("User-Agent", "pressroom")
	response, err := client.Do(request) //nolint:gosec // the URL is configured by the operator
	if urlErr, ok := errors.AsType[*url.Error](err); ok {
		err = urlErr.Err
	}
	if err != nil {
		return nil, Unavailable("sending the request: %w", err)
	}
	return response, nil
}

// Response is a provider's response with any status.
type Response struct {
	Status int
	Header http.Header
	Body   []byte
}

// Send sends a request and reads the response. It returns a *provider.UnavailableError if that fails, or if the body
// exceeds maxBytes. It releases the context's slot of the provider.Limiter during the request, and then acquires a slot
// again.
func Send(client *http.Client, request *http.Request, maxBytes int64) (Response, error) {
	provider.Release(request.Context())
	response, err := send(client, request, maxBytes)
	if err != nil {
		return Response{}, err
	}
	if err := provider.Acquire(request.Context()); err != nil {
		return Response{}, Unavailable("waiting to process the response: %w", err)
	}
	return response, nil
}

func send(client *http.Client, request *http.Request, maxBytes int64) (Response, error) {
	response, err := Do(client, request)
	if err != nil {
		return Response{}, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxBytes+1))
	if err != nil {
		return Response{}, Unavailable("reading the response: %w", err)
	}
	if int64(len(body)) > maxBytes {
		return Response{}, Unavailable("the response exceeds %d bytes", maxBytes)
	}
	return Response{Status: response.StatusCode, Header: response.Header, Body: body}, nil
}

// Unavailable returns a *provider.UnavailableError with a formatted error.
func Unavailable(format string, args ...any) *provider.UnavailableError {
	return &provider.UnavailableError{Err: fmt.Errorf(format, args...)}
}

// RetryAfter returns the delay in a Retry-After header, at most MaxRetryAfter. It returns 0 if there is no valid
// header.
func RetryAfter(header http.Header, now time.Time) time.Duration {
	return min(retryafter.Parse(header.Get("Retry-After"), now), MaxRetryAfter)
}

// Decode decodes JSON. It treats members with the wrong type as missing, and reports false if the JSON is invalid.
func Decode(text []byte, out any) bool {
	err := json.Unmarshal(text, out)
	if _, isTypeError := errors.AsType[*json.UnmarshalTypeError](err); isTypeError {
		return true
	}
	return err == nil
}
