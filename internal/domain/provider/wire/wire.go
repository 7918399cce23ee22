// Package wire is what the sources share: asking over HTTP within bounds, and taking nothing for granted of what comes
// back.
package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"pressroom/internal/domain/provider"
)

const (
	// MaxHeader bounds the header of an answer, in bytes.
	MaxHeader = 64 << 10
	// MaxAfter is the longest that a source is left alone on its own word.
	MaxAfter = 24 * time.Hour
)

// Client is a client for one source, of the given one or of one with bounds of its own. It keeps no cookies, and it
// follows the redirects that follow allows; where follow is nil none, as one would carry a token to an address that
// nobody has chosen.
func Client(given *http.Client, follow func(r *http.Request, via []*http.Request) error) *http.Client {
	client := &http.Client{Transport: &http.Transport{
		Proxy: http.ProxyFromEnvironment, MaxResponseHeaderBytes: MaxHeader, IdleConnTimeout: time.Minute, ForceAttemptHTTP2: true,
	}}
	if given != nil {
		own := *given
		own.Jar = nil
		client = &own
	}
	if follow == nil {
		follow = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	}
	client.CheckRedirect = follow
	return client
}

// Base tells whether an address is one that a source's paths can be written behind.
func Base(address string) bool {
	u, err := url.Parse(address)
	return err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Hostname() != "" && u.User == nil && u.RawQuery == "" && u.Fragment == ""
}

// Do sends a request. Whoever calls closes the body. The error is a *provider.Unavailable that repeats nothing of the
// address, which says who was asked for and may hold a token.
func Do(client *http.Client, request *http.Request) (*http.Response, error) {
	request.Header.Set("User-Agent", "pressroom")
	response, err := client.Do(request) //nolint:gosec // the operator says where a source is
	if failed, ok := errors.AsType[*url.Error](err); ok {
		err = failed.Err
	}
	if err != nil {
		return nil, Unavailable("asking the source: %w", err)
	}
	return response, nil
}

// Answer is what a source said, whatever its status.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// Ask sends a request and reads the answer, which may have so many bytes. Its errors are as those of Do, or the
// context's. Meanwhile others may work (provider.Turns); what it gives back is worked out by the caller in its turn.
func Ask(client *http.Client, request *http.Request, most int64) (Answer, error) {
	provider.Waiting(request.Context())
	answer, err := ask(client, request, most)
	if err != nil {
		return Answer{}, err
	}
	if err := provider.Working(request.Context()); err != nil {
		return Answer{}, Unavailable("waiting to read the answer: %w", err)
	}
	return answer, nil
}

func ask(client *http.Client, request *http.Request, most int64) (Answer, error) {
	response, err := Do(client, request)
	if err != nil {
		return Answer{}, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, most+1))
	if err != nil {
		return Answer{}, Unavailable("reading the answer: %w", err)
	}
	if int64(len(body)) > most {
		return Answer{}, Unavailable("reading the answer: it has more than %d bytes", most)
	}
	return Answer{Status: response.StatusCode, Header: response.Header, Body: body}, nil
}

// Unavailable is a *provider.Unavailable for the reason given.
func Unavailable(format string, args ...any) *provider.Unavailable {
	return &provider.Unavailable{Err: fmt.Errorf(format, args...)}
}

// After reads a Retry-After (RFC 9110, 10.2.3), in seconds or as a date; a day at most, 0 where there is none.
func After(header http.Header, now time.Time) time.Duration {
	text, wait := header.Get("Retry-After"), time.Duration(0)
	if seconds, err := strconv.ParseUint(text, 10, 32); err == nil {
		wait = time.Duration(seconds) * time.Second
	} else if at, err := http.ParseTime(text); err == nil {
		wait = at.Sub(now)
	}
	return min(max(wait, 0), MaxAfter)
}

// Read decodes JSON. A member of another type than what is wanted is as one that is missing; the others are read all
// the same. It is false for what is no JSON.
func Read(text []byte, into any) bool {
	err := json.Unmarshal(text, into)
	if _, mistyped := errors.AsType[*json.UnmarshalTypeError](err); mistyped {
		return true
	}
	return err == nil
}
