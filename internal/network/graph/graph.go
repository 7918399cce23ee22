// Package graph calls Meta's Graph API and reads its errors. The packages threads, instagram and facebook use it.
package graph

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/network"
)

// Client calls one network's Graph API.
type Client struct {
	client *network.Client
	now    func() time.Time
}

// New returns a client with the settings of the network's app.
func New(app network.App) *Client { return &Client{network.NewClient(app.HTTP), app.Now} }

// Call is one call to the API. Params are sent in the body of a POST and in the query of other methods. If Body is set,
// Params and Token are not sent, so the Body must include them.
type Call struct {
	Purpose network.Purpose
	Method  string
	Server  string // base URL
	Path    string // path on the server, including the version if the call has one
	Token   string // access_token, if any
	Secret  string // the app's secret, for appsecret_proof; if empty, no proof is sent
	Params  url.Values
	Body    *network.Body
	Query   url.Values // used only if Body is set
	Header  http.Header
	Secrets []string // removed from error messages
	Out     any      // pointer to the variable that the response is decoded into
}

// Do makes the call. Its error is always a *network.Error.
func (c *Client) Do(ctx context.Context, call Call) error {
	params := url.Values{}
	maps.Copy(params, call.Params)
	if call.Token != "" {
		params.Set("access_token", call.Token)
		if call.Secret != "" {
			params.Set(ProofParam, Proof(call.Token, call.Secret))
		}
	}
	networkCall := network.Call{
		Purpose: call.Purpose, Name: withoutIDs(call.Path), Method: call.Method,
		URL:    strings.TrimRight(call.Server, "/") + "/" + call.Path,
		Header: call.Header, Secrets: append(call.Secrets, call.Token),
	}
	switch {
	case call.Body != nil:
		networkCall.Body, networkCall.Query = call.Body, call.Query
	case call.Method == http.MethodPost:
		networkCall.Form = params
	default:
		networkCall.Query = params
	}
	return c.client.Read(ctx, networkCall, call.Out, func(a network.Response) *network.Error {
		return responseError(a, c.now())
	}, http.StatusOK)
}

// ProofParam is the parameter that proves which app makes a call. It is required for apps with the setting "Require App
// Secret", and optional for other apps.
//
// Source: https://developers.facebook.com/docs/graph-api/guides/secure-requests
const ProofParam = "appsecret_proof"

// Proof returns the value of ProofParam for a token and its app's secret.
func Proof(token, secret string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	_, _ = mac.Write([]byte(token)) // Write never returns an error.
	return hex.EncodeToString(mac.Sum(nil))
}

var idPattern = regexp.MustCompile(`[0-9]{5,}`)

// withoutIDs returns a path without IDs, for the log.
func withoutIDs(path string) string { return idPattern.ReplaceAllLiteralString(path, "…") }

// numericID matches every ID that the networks assign.
var numericID = regexp.MustCompile(`^[0-9]{1,40}(_[0-9]{1,40})?$`)

// IsID reports whether text has the format of an ID. The ID of a Page post consists of two IDs.
func IsID(text string) bool { return numericID.MatchString(text) }

// CreatedObject is the response of every call that creates an object.
type CreatedObject struct {
	ID string `json:"id"`
}

// ParseTime parses a time in the API's format, which has a zone without a colon, or in the format of RFC 3339. It
// returns the zero time for any other text.
func ParseTime(text string) time.Time {
	at, err := time.Parse("2006-01-02T15:04:05-0700", text)
	if err != nil {
		at, _ = time.Parse(time.RFC3339, text) // zero if the text has neither format
	}
	return at.UTC()
}
