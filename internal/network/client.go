package network

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/platform/retryafter"
)

const (
	defaultCallTimeout    = 20 * time.Second
	transferTimeoutFactor = 3       // multiple of the timeout for calls that transfer a file
	commitTimeoutFactor   = 2       // multiple of the timeout for calls that publish
	minUploadRate         = 100_000 // slowest accepted upload, in bytes per second
	maxMessage            = 500     // characters kept of a network's own text
	maxRetryWait          = 24 * time.Hour
)

// Purpose is the purpose of a call. It affects the call's time limit and the class of the call's error.
type Purpose int

// The purposes.
const (
	PurposeRead      Purpose = iota // does not publish anything, so it may be repeated
	PurposeTransfer                 // like PurposeRead, but a file is transferred before the response
	PurposeAuthorize                // exchanges a code or a token
	PurposeCommit                   // makes a post visible
)

// Call is one HTTP request to a network.
type Call struct {
	Purpose Purpose
	Name    string // for the log, such as a path without IDs
	Method  string
	URL     string // absolute; has a query only if Query would encode it differently
	Query   url.Values
	Header  http.Header
	Bearer  string   // access token for the Authorization header, if any
	Secrets []string // removed from error messages

	// At most one of the following fields is set.
	Form url.Values // for application/x-www-form-urlencoded
	JSON any
	Body *Body
}

// idPattern matches the IDs in a path. IDs are not logged.
var idPattern = regexp.MustCompile(`[0-9]{3,}`)

// Call returns a call to a versioned API with the account's token.
func (g Grant) Call(method, version, path string) Call {
	return Call{
		Name: idPattern.ReplaceAllLiteralString(path, "…"), Method: method,
		URL: strings.TrimRight(g.Server, "/") + "/" + version + "/" + path, Bearer: g.AccessToken,
	}
}

// Body is a request body.
type Body struct {
	io.Reader

	Type string // MIME
	Size int64  // bytes; -1 if unknown
}

// Response is a network's response with any status.
type Response struct {
	Call   Call
	Status int
	Header http.Header
	Body   []byte
}

// Client calls networks. It does not follow redirects, because a redirect could send a token or the app's secret to
// another address.
type Client struct {
	http    *http.Client
	timeout time.Duration
}

// NewClient returns a client with the settings of h. h may be nil. The time limit of an ordinary call is h.Timeout, or
// 20 seconds if it is not set. Calls that publish or transfer a file may take longer.
func NewClient(h *http.Client) *Client {
	c := &Client{http: new(http.Client), timeout: defaultCallTimeout}
	if h != nil {
		*c.http = *h
	}
	if c.http.Timeout > 0 {
		c.timeout, c.http.Timeout = c.http.Timeout, 0 // Each call has its own deadline.
	}
	c.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return c
}

// Do makes the call and enforces its time limit. Its error is always an *Error. If a call with PurposeCommit may have
// reached the network, the class is OutcomeUnknown.
func (c *Client) Do(ctx context.Context, call Call) (Response, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeoutFor(call))
	defer cancel()
	var trace requestTrace
	request, err := call.request(trace.withTrace(ctx))
	if err != nil {
		return Response{}, PermanentError(fmt.Errorf("%s: %w", call.Name, err))
	}
	if ctx.Err() != nil {
		return Response{}, call.Failure(ctx.Err(), true)
	}
	if call.Purpose == PurposeCommit {
		checkBeforeSending(ctx, request)
	}
	response, err := c.http.Do(request)
	if err != nil {
		return Response{}, call.Failure(withoutURL(err), trace.nothingSent(err))
	}
	defer response.Body.Close()
	body, err := readBody(response.Body)
	if err != nil {
		return Response{}, call.Failure(err, false)
	}
	return Response{Call: call, Status: response.StatusCode, Header: response.Header, Body: body}, nil
}

// Read makes the call and decodes the response into out. If the response's status is not one of statuses, Read returns
// rejection(response).
func (c *Client) Read(ctx context.Context, call Call, out any, rejection func(Response) *Error, statuses ...int) error {
	response, err := c.Do(ctx, call)
	if err != nil {
		return err
	}
	if !slices.Contains(statuses, response.Status) {
		return rejection(response)
	}
	return response.Decode(out)
}

// timeoutFor returns the time limit of a call, which grows with the size of its body.
func (c *Client) timeoutFor(call Call) time.Duration {
	timeout := c.timeout
	switch call.Purpose {
	case PurposeTransfer:
		timeout *= transferTimeoutFactor
	case PurposeCommit:
		timeout *= commitTimeoutFactor
	case PurposeRead, PurposeAuthorize:
	}
	if call.Body != nil {
		timeout += time.Duration(max(call.Body.Size, 0)/minUploadRate) * time.Second
	}
	return timeout
}

func (c Call) request(ctx context.Context) (*http.Request, error) {
	target, err := url.Parse(c.URL)
	if err != nil || !isWebURL(target) || target.User != nil {
		return nil, errors.New("the URL is not http or https")
	}
	if len(c.Query) > 0 {
		target.RawQuery = c.Query.Encode()
	}
	body, err := c.body()
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, c.Method, target.String(), body.Reader)
	if err != nil {
		return nil, errors.New("the request is invalid")
	}
	maps.Copy(request.Header, c.Header)
	if body.Type != "" {
		request.Header.Set("Content-Type", body.Type)
	}
	if c.Body != nil {
		request.ContentLength = body.Size
	}
	if c.Bearer != "" {
		request.Header.Set("Authorization", "Bearer "+c.Bearer)
	}
	request.Header.Set("Accept", "application/json")
	return request, nil
}

func (c Call) body() (Body, error) {
	switch {
	case c.Body != nil:
		return *c.Body, nil
	case c.Form != nil:
		return Body{Reader: strings.NewReader(c.Form.Encode()), Type: "application/x-www-form-urlencoded"}, nil
	case c.JSON != nil:
		encoded, err := json.Marshal(c.JSON)
		if err != nil {
			return Body{}, fmt.Errorf("encoding the request: %w", err)
		}
		return Body{Reader: bytes.NewReader(encoded), Type: "application/json"}, nil
	}
	return Body{}, nil
}

// withoutURL removes the URL from a transport's error, because the URL may contain a token.
func withoutURL(err error) error {
	if urlErr, ok := errors.AsType[*url.Error](err); ok {
		return urlErr.Err
	}
	return err
}

// ErrHostBlocked means that a transport is not allowed to call a server. Nothing was sent.
var ErrHostBlocked = errors.New("calls to this server are not allowed")

// Failure returns the error for a call that got no usable response. Set unsent only if nothing can have been written to
// the connection.
func (c Call) Failure(err error, unsent bool) *Error {
	class := Transient
	switch {
	case errors.Is(err, ErrHostBlocked):
		class = HostBlocked
	case c.Purpose == PurposeCommit && !unsent:
		class = OutcomeUnknown
	}
	return &Error{Class: class, Err: fmt.Errorf("%s: %w", c.Name, err)}
}

// Decode decodes the response's JSON into out.
func (r Response) Decode(out any) error {
	if err := json.Unmarshal(r.Body, out); err != nil {
		return r.Call.Failure(errors.New("the response is not the expected JSON"), false)
	}
	return nil
}

// Rejection returns an error with the given class and the network's code and text. It changes the class in two cases. A
// call with PurposeCommit may have published the post despite a temporary failure or a status of 500 and above, so its
// class becomes OutcomeUnknown. The class Rejected of a call with PurposeAuthorize becomes ReconnectRequired.
func (r Response) Rejection(class ErrorClass, code, text string) *Error {
	switch {
	case r.Call.Purpose == PurposeCommit && (class == Transient || r.Status >= http.StatusInternalServerError):
		class = OutcomeUnknown
	case r.Call.Purpose == PurposeAuthorize && class == Rejected:
		class = ReconnectRequired
	}
	return &Error{
		Class: class, Status: r.Status, Code: Clip(code, maxMessage), Message: r.Call.redact(text),
		Err: fmt.Errorf("%s: HTTP %d", r.Call.Name, r.Status),
	}
}

// redact clips the network's text and removes the call's secrets, because networks quote rejected tokens in messages.
func (c Call) redact(text string) string {
	for _, secret := range append([]string{c.Bearer}, c.Secrets...) {
		if secret != "" {
			text = strings.ReplaceAll(text, secret, "…")
		}
	}
	return Clip(text, maxMessage)
}

// RetryAfter returns the time that the Retry-After header specifies, but at most a day from now. The time is zero if
// the response has no such header.
func (r Response) RetryAfter(now time.Time) time.Time {
	wait := retryafter.Parse(r.Header.Get("Retry-After"), now)
	if wait == 0 {
		return time.Time{}
	}
	return now.Add(min(wait, maxRetryWait)).UTC()
}

// ResetAt returns the time in a header that contains Unix seconds, but at most a day from now. The time is zero if the
// response has no such header, or if the time has passed.
func (r Response) ResetAt(header string, now time.Time) time.Time {
	seconds, err := strconv.ParseInt(r.Header.Get(header), 10, 64)
	if err != nil || seconds <= now.Unix() {
		return time.Time{}
	}
	return time.Unix(min(seconds, now.Add(maxRetryWait).Unix()), 0).UTC()
}

// PermanentError returns an error of class Rejected. Use it for a failure that occurred before anything was sent and
// that would occur again in a retry.
func PermanentError(err error) *Error { return &Error{Class: Rejected, Err: err} }

// InvalidResponse returns the error for an unusable response to a call that does not publish anything.
func InvalidResponse(err error) *Error {
	return &Error{Class: Transient, Status: http.StatusOK, Err: err}
}

// ErrPreflight means that a post was not sent because it failed the network's Check.
var ErrPreflight = errors.New("the post failed the check")

// BlockingError returns an error for the first blocking problem, or nil if no problem is blocking.
func BlockingError(problems []Problem) error {
	for _, problem := range problems {
		if !problem.Blocking {
			continue
		}
		class := Rejected
		if strings.HasPrefix(problem.Code, "media_") {
			class = RejectedMedia
		}
		return &Error{Class: class, Code: problem.Code, Err: ErrPreflight}
	}
	return nil
}

// FileError returns the error for a file that cannot be opened. It returns an *Error unchanged.
func FileError(err error) error {
	if netErr, ok := errors.AsType[*Error](err); ok {
		return netErr
	}
	return &Error{Class: Transient, Err: fmt.Errorf("opening media: %w", err)}
}

// Clip returns the text as valid UTF-8 with at most limit characters.
func Clip(text string, limit int) string {
	runes := []rune(strings.ToValidUTF8(text, "\uFFFD"))
	return string(runes[:min(len(runes), limit)])
}

// WebURL returns the text if it is an http or https URL, so that it is safe as a link. Otherwise, it returns "".
func WebURL(text string) string {
	if u, err := url.Parse(text); err != nil || !isWebURL(u) {
		return ""
	}
	return text
}

func isWebURL(u *url.URL) bool {
	return (u.Scheme == "https" || u.Scheme == "http") && u.Hostname() != ""
}
