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
)

const (
	callTimeout = 20 * time.Second
	fetchTimes  = 3       // as long may a call take for which the network deals with a file
	commitTimes = 2       // as long may one take whose lost answer costs the most
	uploadRate  = 100_000 // bytes a second that an upload may take at the slowest
	maxMessage  = 500     // characters kept of a network's own text
	longestWait = 24 * time.Hour
)

// Purpose says what the failure of a call means.
type Purpose int

// The purposes.
const (
	Reading    Purpose = iota // shows nothing to anybody, so it may be repeated
	Fetching                  // as Reading; the network fetches or takes a file before it answers
	Signing                   // trades a code or a token
	Committing                // makes a post visible
)

// Call is one HTTP request to a network.
type Call struct {
	Purpose Purpose
	Name    string // what is called, for the log: a path without ids
	Method  string
	URL     string // absolute; without a query, unless it is one that Query would write otherwise
	Query   url.Values
	Header  http.Header
	Bearer  string // access token for the Authorization header; none where empty
	Secrets []string

	// At most one of these is the body.
	Form url.Values // for application/x-www-form-urlencoded
	JSON any
	Body *Body
}

// ids are parts of paths that the log leaves out.
var ids = regexp.MustCompile(`[0-9]{3,}`)

// Call is one of a versioned API by the account.
func (g Grant) Call(method, version, path string) Call {
	return Call{
		Name: ids.ReplaceAllLiteralString(path, "…"), Method: method,
		URL: strings.TrimRight(g.Server, "/") + "/" + version + "/" + path, Bearer: g.Access,
	}
}

// Body is a request's body as it is.
type Body struct {
	io.Reader

	Type string // MIME
	Size int64  // bytes; -1 where it is not known
}

// Answer is what a network said, whatever its status.
type Answer struct {
	Call   Call
	Status int
	Header http.Header
	Body   []byte
}

// Client calls networks. No redirect is followed: it would carry a token or the app's secret to an address that nobody
// has chosen.
type Client struct {
	http    *http.Client
	timeout time.Duration
}

// NewClient makes a client of h, whose Timeout bounds each call; nil is one with 20 seconds.
func NewClient(h *http.Client) *Client {
	c := &Client{http: new(http.Client), timeout: callTimeout}
	if h != nil {
		*c.http = *h
	}
	if c.http.Timeout > 0 {
		c.timeout, c.http.Timeout = c.http.Timeout, 0 // each call has its own deadline
	}
	c.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return c
}

// Do makes the call within its deadline. Its error is always a *Error, of the class Uncertain where a Committing call
// may have been read.
func (c *Client) Do(ctx context.Context, call Call) (Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, c.patience(call))
	defer cancel()
	var wire Wire
	request, err := call.request(wire.Watch(ctx))
	if err != nil {
		return Answer{}, Unusable(fmt.Errorf("%s: %w", call.Name, err))
	}
	if ctx.Err() != nil {
		return Answer{}, call.Failed(ctx.Err(), true)
	}
	if call.Purpose == Committing {
		askFirst(ctx, request)
	}
	response, err := c.http.Do(request)
	if err != nil {
		return Answer{}, call.Failed(withoutURL(err), wire.Untouched(err))
	}
	defer response.Body.Close()
	body, err := ReadAnswer(response.Body)
	if err != nil {
		return Answer{}, call.Failed(err, false)
	}
	return Answer{Call: call, Status: response.StatusCode, Header: response.Header, Body: body}, nil
}

// Read makes the call and decodes what it is answered with. An answer of another status than these is the error that
// refusal makes of it.
func (c *Client) Read(ctx context.Context, call Call, out any, refusal func(Answer) *Error, statuses ...int) error {
	answer, err := c.Do(ctx, call)
	if err != nil {
		return err
	}
	if !slices.Contains(statuses, answer.Status) {
		return refusal(answer)
	}
	return answer.Decode(out)
}

func (c *Client) patience(call Call) time.Duration {
	patience := c.timeout
	switch call.Purpose {
	case Fetching:
		patience *= fetchTimes
	case Committing:
		patience *= commitTimes
	case Reading, Signing:
	}
	if call.Body != nil {
		patience += time.Duration(max(call.Body.Size, 0)/uploadRate) * time.Second
	}
	return patience
}

func (c Call) request(ctx context.Context) (*http.Request, error) {
	target, err := url.Parse(c.URL)
	if err != nil || target.Scheme != "https" && target.Scheme != "http" || target.Hostname() == "" ||
		target.User != nil {
		return nil, errors.New("the address is not one of http or https")
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
		return nil, errors.New("the request cannot be made")
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
		written, err := json.Marshal(c.JSON)
		if err != nil {
			return Body{}, fmt.Errorf("writing the request: %w", err)
		}
		return Body{Reader: bytes.NewReader(written), Type: "application/json"}, nil
	}
	return Body{}, nil
}

// withoutURL takes the address out of a transport's error: it may hold a token.
func withoutURL(err error) error {
	if full, ok := errors.AsType[*url.Error](err); ok {
		return full.Err
	}
	return err
}

// ErrBarred is what a transport answers that does not call a server: nothing was sent.
var ErrBarred = errors.New("this service does not call that server")

// Failed is the want of an answer, or of one that can be read; unsent tells that certainly nothing was written.
func (c Call) Failed(err error, unsent bool) *Error {
	class := Transient
	switch {
	case errors.Is(err, ErrBarred):
		class = Barred
	case c.Purpose == Committing && !unsent:
		class = Uncertain
	}
	return &Error{Class: class, Err: fmt.Errorf("%s: %w", c.Name, err)}
}

// Decode reads the answer's JSON into out.
func (a Answer) Decode(out any) error {
	if err := json.Unmarshal(a.Body, out); err != nil {
		return a.Call.Failed(errors.New("the answer cannot be read"), false)
	}
	return nil
}

// Refusal is an error of the class, with what the network says of it. Where the class cannot be what it says, it is
// another: a post may stand although its call was answered with a failure, and a token endpoint that refuses asks for a
// new consent.
func (a Answer) Refusal(class Class, code, text string) *Error {
	switch {
	case a.Call.Purpose == Committing && class == Transient:
		class = Uncertain
	case a.Call.Purpose == Signing && class == Rejected:
		class = AuthDead
	}
	return &Error{
		Class: class, Status: a.Status, Code: Clip(code, maxMessage), Message: a.Call.readable(text),
		Err: fmt.Errorf("%s: HTTP %d", a.Call.Name, a.Status),
	}
}

// readable is the network's text without what we sent in confidence: networks like to quote a token that they do not
// take.
func (c Call) readable(text string) string {
	for _, secret := range append([]string{c.Bearer}, c.Secrets...) {
		if secret != "" {
			text = strings.ReplaceAll(text, secret, "…")
		}
	}
	return Clip(text, maxMessage)
}

// RetryAfter reads Retry-After in seconds (RFC 9110, section 10.2.3), at most a day ahead; zero where there is none.
func (a Answer) RetryAfter(now time.Time) time.Time {
	seconds, err := strconv.ParseUint(a.Header.Get("Retry-After"), 10, 31)
	if err != nil || seconds == 0 {
		return time.Time{}
	}
	return now.Add(min(time.Duration(seconds)*time.Second, longestWait)).UTC()
}

// ResetAt reads a header that holds a Unix time in seconds, at most a day ahead; zero where there is none.
func (a Answer) ResetAt(header string, now time.Time) time.Time {
	seconds, err := strconv.ParseInt(a.Header.Get(header), 10, 64)
	if err != nil || seconds <= now.Unix() {
		return time.Time{}
	}
	return time.Unix(min(seconds, now.Add(longestWait).Unix()), 0).UTC()
}

// Unusable is an error of ours that no repeat can mend; nothing has been sent.
func Unusable(err error) *Error { return &Error{Class: Rejected, Err: err} }

// Unreadable is an answer that makes no sense to a call that shows nothing.
func Unreadable(err error) *Error {
	return &Error{Class: Transient, Status: http.StatusOK, Err: err}
}

// ErrPreflight says that a post was not sent, as it does not pass its network's check.
var ErrPreflight = errors.New("the post does not pass the check")

// Blocked is the refusal of a post that does not pass its check; nil where it does.
func Blocked(found []Problem) error {
	for _, problem := range found {
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

// FileFailed is the error of a file that the library does not give; what the library says of it stays.
func FileFailed(err error) error {
	if said, ok := errors.AsType[*Error](err); ok {
		return said
	}
	return &Error{Class: Transient, Err: fmt.Errorf("opening a medium: %w", err)}
}

// Clip makes a text fit to be kept: valid, and at most so many characters.
func Clip(text string, most int) string {
	runes := []rune(strings.ToValidUTF8(text, "\uFFFD"))
	return string(runes[:min(len(runes), most)])
}

// WebAddress keeps an address that a browser may open, as it becomes a link; it is empty for any other.
func WebAddress(text string) string {
	address, err := url.Parse(text)
	if err != nil || address.Scheme != "https" && address.Scheme != "http" || address.Hostname() == "" {
		return ""
	}
	return text
}
