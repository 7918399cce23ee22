// Package graph calls Meta's Graph API and reads its errors, which Threads, Instagram and Facebook share.
package graph

import (
	"context"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"pressroom/internal/network"
)

// Client calls one network's Graph API.
type Client struct {
	client *network.Client
	now    func() time.Time
}

// New makes a client for the network's app.
func New(app network.App) *Client { return &Client{network.NewClient(app.HTTP), app.Now} }

// Call is one call. Its parameters go into the body of a POST and the query of a GET. One that has a Body sends that
// alone, which then holds the token and the parameters too.
type Call struct {
	Purpose network.Purpose
	Method  string
	Server  string // base URL
	Path    string // below the server, with the version where the call has one
	Token   string // access_token; none where empty
	Params  url.Values
	Body    *network.Body
	Header  http.Header
	Secrets []string // among the parameters; kept out of every message
	Out     any      // where the answer goes
}

// Do makes the call. Its error is always a *network.Error.
func (c *Client) Do(ctx context.Context, call Call) error {
	params := url.Values{}
	maps.Copy(params, call.Params)
	if call.Token != "" {
		params.Set("access_token", call.Token)
	}
	sent := network.Call{
		Purpose: call.Purpose, Name: nameless(call.Path), Method: call.Method,
		URL:    strings.TrimRight(call.Server, "/") + "/" + call.Path,
		Header: call.Header, Secrets: append(call.Secrets, call.Token),
	}
	switch {
	case call.Body != nil:
		sent.Body = call.Body
	case call.Method == http.MethodPost:
		sent.Form = params
	default:
		sent.Query = params
	}
	return c.client.Read(ctx, sent, call.Out, func(a network.Answer) *network.Error {
		return refusal(a, c.now())
	}, http.StatusOK)
}

var ids = regexp.MustCompile(`[0-9]{5,}`)

// nameless is a path without ids, for the log.
func nameless(path string) string { return ids.ReplaceAllLiteralString(path, "…") }

// numericID is the form of every id that the networks give.
var numericID = regexp.MustCompile(`^[0-9]{1,40}(_[0-9]{1,40})?$`)

// IsID tells whether a text has the form of an id, or of a page's post, which is two.
func IsID(text string) bool { return numericID.MatchString(text) }

// Created is the answer to every call that makes something.
type Created struct {
	ID string `json:"id"`
}

// Time reads a time as the API writes it, with a zone without a colon; zero for any other text.
func Time(text string) time.Time {
	at, err := time.Parse("2006-01-02T15:04:05-0700", text)
	if err != nil {
		at, _ = time.Parse(time.RFC3339, text) // zero where it is neither
	}
	return at.UTC()
}
