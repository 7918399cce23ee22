package threads

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"pressroom/internal/network"
)

// kind says what a call's failure means.
type kind int

const (
	reading    kind = iota // shows nothing to anybody
	fetching               // as reading; the network fetches a file before it answers
	signing                // trades a code or a token
	committing             // makes a post visible
)

// call is one call of the Graph API. Its parameters go into the body of a POST and the query of a GET.
type call struct {
	kind    kind
	verb    string
	server  string // base URL
	path    string // below the server, with the version where the call has one
	params  url.Values
	secrets []string // among the parameters; kept out of every message
	out     any      // where the answer goes
}

// graph is a call of the versioned API by an account.
func (n *Network) graph(verb string, g network.Grant, path string, params url.Values, out any) call {
	params.Set("access_token", g.Access)
	return call{verb: verb, server: g.Server, path: n.opts.Version + "/" + path, params: params, secrets: []string{g.Access}, out: out}
}

// call makes the call within its deadline. Its error is always a *network.Error.
func (n *Network) call(ctx context.Context, c call) error {
	patience := n.timeout
	if c.kind == fetching {
		patience *= 3
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var wire network.Wire
	request, err := c.request(wire.Watch(ctx))
	if err != nil {
		return unusable(fmt.Errorf("%s: %w", c.path, err))
	}
	if ctx.Err() != nil {
		return c.failed(ctx.Err(), true)
	}
	response, err := n.http.Do(request)
	if err != nil {
		return c.failed(withoutURL(err), wire.Untouched(err))
	}
	defer response.Body.Close()
	body, err := network.ReadAnswer(response.Body)
	if err != nil {
		return c.failed(err, false)
	}
	if response.StatusCode != http.StatusOK {
		return c.refusal(response, body, n.opts.Now())
	}
	if err := json.Unmarshal(body, c.out); err != nil {
		return c.failed(errors.New("the answer cannot be read"), false)
	}
	return nil
}

func (c call) request(ctx context.Context) (*http.Request, error) {
	base, err := url.Parse(c.server)
	if err != nil || base.Scheme != "https" && base.Scheme != "http" || base.Hostname() == "" || base.User != nil {
		return nil, errors.New("the server's address is not one of http or https")
	}
	target := base.JoinPath(c.path)
	var body io.Reader
	if c.verb == http.MethodPost {
		body = strings.NewReader(c.params.Encode())
	} else {
		target.RawQuery = c.params.Encode()
	}
	request, err := http.NewRequestWithContext(ctx, c.verb, target.String(), body)
	if err != nil {
		return nil, errors.New("the request cannot be made")
	}
	if body != nil {
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	request.Header.Set("Accept", "application/json")
	return request, nil
}

// withoutURL takes the address out of a transport's error: it holds the token.
func withoutURL(err error) error {
	if full, ok := errors.AsType[*url.Error](err); ok {
		return full.Err
	}
	return err
}

// failed is the want of an answer, or of one that can be read.
func (c call) failed(err error, unsent bool) *network.Error {
	class := network.Transient
	if c.kind == committing && !unsent {
		class = network.Uncertain
	}
	return &network.Error{Class: class, Err: fmt.Errorf("%s: %w", c.path, err)}
}

// numericID is the form of every id that the network gives.
var numericID = regexp.MustCompile(`^[0-9]{1,40}$`)

// created is the answer to every call that makes something.
type created struct {
	ID string `json:"id"`
}

// networkTime is how the network writes times, with a zone without a colon.
const networkTime = "2006-01-02T15:04:05-0700"

func parseTime(text string) time.Time {
	at, err := time.Parse(networkTime, text)
	if err != nil {
		at, _ = time.Parse(time.RFC3339, text) // zero where it is neither
	}
	return at.UTC()
}
