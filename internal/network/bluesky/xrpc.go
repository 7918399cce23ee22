package bluesky

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"pressroom/internal/network"
)

const uploadRate = 100_000 // bytes a second that an upload may take at the slowest

// kind says what a call's failure means.
type kind int

const (
	reading    kind = iota // shows nothing to anybody
	renewing               // trades the refresh token
	committing             // makes a post visible
	uploading              // sends a file that nothing names yet
)

// call is one XRPC call.
type call struct {
	kind   kind
	verb   string
	method string // the lexicon's name, such as com.atproto.repo.getRecord
	server string // base URL
	token  string // bearer; none where empty
	params url.Values
	in     any           // JSON body; none where nil
	file   *network.File // body in place of in; closed by the call
	out    any           // where the answer goes
}

// call makes the call within its deadline. Its error is always a *network.Error.
func (n *Network) call(ctx context.Context, c call) error {
	if c.file != nil {
		defer c.file.Close()
	}
	ctx, cancel := context.WithTimeout(ctx, n.patience(c))
	defer cancel()
	var wire network.Wire
	request, err := c.request(wire.Watch(ctx))
	if err != nil {
		return unusable(fmt.Errorf("%s: %w", c.method, err))
	}
	if ctx.Err() != nil {
		return c.failed(ctx.Err(), true)
	}
	response, err := n.http.Do(request)
	if err != nil {
		return c.failed(err, wire.Untouched(err))
	}
	defer response.Body.Close()
	body, err := network.ReadAnswer(response.Body)
	if err != nil {
		return c.failed(err, false)
	}
	if response.StatusCode != http.StatusOK {
		return c.refusal(response, body, n.now())
	}
	if err := json.Unmarshal(body, c.out); err != nil {
		return c.failed(fmt.Errorf("reading the answer: %w", err), false)
	}
	return nil
}

// patience is how long a call may take. What a server does with a file once it has it takes longer too.
func (n *Network) patience(c call) time.Duration {
	if c.file == nil {
		return n.timeout
	}
	return 3*n.timeout + time.Duration(c.file.Size/uploadRate)*time.Second
}

func (c call) request(ctx context.Context) (*http.Request, error) {
	base, err := serverURL(c.server)
	if err != nil {
		return nil, err
	}
	target := base.JoinPath("xrpc", c.method)
	target.RawQuery = c.params.Encode()
	request, err := c.withBody(ctx, target.String())
	if err != nil {
		return nil, err
	}
	if c.token != "" {
		request.Header.Set("Authorization", "Bearer "+c.token)
	}
	request.Header.Set("Accept", "application/json")
	return request, nil
}

func (c call) withBody(ctx context.Context, target string) (*http.Request, error) {
	var body io.Reader
	var contentType string
	switch {
	case c.file != nil:
		body, contentType = c.file.ReadCloser, c.file.Type
	case c.in != nil:
		encoded, err := json.Marshal(c.in)
		if err != nil {
			return nil, fmt.Errorf("writing the request: %w", err)
		}
		body, contentType = bytes.NewReader(encoded), "application/json"
	}
	request, err := http.NewRequestWithContext(ctx, c.verb, target, body)
	if err != nil {
		return nil, fmt.Errorf("making the request: %w", err)
	}
	if c.file != nil {
		request.ContentLength = c.file.Size
	}
	if contentType != "" {
		request.Header.Set("Content-Type", contentType)
	}
	return request, nil
}

// serverURL reads the base URL of an account's server.
func serverURL(text string) (*url.URL, error) {
	base, err := url.Parse(strings.TrimSpace(text))
	if err != nil {
		return nil, errors.New("the server's address cannot be read")
	}
	if base.Scheme != "https" && base.Scheme != "http" || base.Hostname() == "" || base.User != nil {
		return nil, errors.New("the server's address is not one of http or https")
	}
	return base, nil
}

// failed is the want of an answer, or of one that can be read.
func (c call) failed(err error, unsent bool) *network.Error {
	class := network.Transient
	if c.kind == committing && !unsent {
		class = network.Uncertain
	}
	return &network.Error{Class: class, Err: fmt.Errorf("%s: %w", c.method, err)}
}
