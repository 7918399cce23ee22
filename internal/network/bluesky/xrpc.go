package bluesky

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"pressroom.example/pressroom/internal/network"
)

// call is one XRPC call.
type call struct {
	purpose network.Purpose
	verb    string
	method  string // method's NSID, such as com.atproto.repo.getRecord
	server  string // base URL
	token   string // bearer token, or empty
	params  url.Values
	in      any           // JSON body, or nil
	file    *network.File // body instead of in; the call closes it
	out     any           // receives the response; nil to ignore it
	// status, other than 200, that means success; 0 for none
	orStatus int
}

// call makes the call within its time limit. Its error is always a *network.Error.
func (n *Network) call(ctx context.Context, c call) error {
	if c.file != nil {
		defer c.file.Close()
	}
	base, err := serverURL(c.server)
	if err != nil {
		return network.PermanentError(err)
	}
	networkCall := network.Call{
		Purpose: c.purpose, Name: c.method, Method: c.verb, URL: base.JoinPath("xrpc", c.method).String(),
		Query: c.params, Bearer: c.token, JSON: c.in,
	}
	if c.file != nil {
		networkCall.Body = &network.Body{Reader: c.file, Type: c.file.Type, Size: c.file.Size}
	}
	response, err := n.client.Do(ctx, networkCall)
	if err != nil {
		return err
	}
	if response.Status != http.StatusOK && response.Status != c.orStatus {
		return rejection(response, n.opts.Now())
	}
	if c.out == nil {
		return nil
	}
	return response.Decode(c.out)
}

// serverURL parses the base URL of an account's server.
func serverURL(text string) (*url.URL, error) {
	base, err := url.Parse(strings.TrimSpace(text))
	if err != nil {
		return nil, errors.New("the server's address is invalid: enter an address such as https://bsky.social")
	}
	if base.Scheme != "https" && base.Scheme != "http" || base.Hostname() == "" || base.User != nil {
		return nil, errors.New("the server's address must begin with https:// or http:// and have no user name")
	}
	return base, nil
}
