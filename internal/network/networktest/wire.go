package networktest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
)

// maxBody is the maximum size in bytes of a request body that a RecordingTransport records.
const maxBody = 2 << 20

// Request is a request that was sent, with its response.
type Request struct {
	Method string
	URL    *url.URL
	Header http.Header
	Body   []byte // empty if it is larger than 2 MiB

	Status         int // 0 without a response
	ResponseHeader http.Header
	ResponseBody   []byte
}

// Line returns the method, the path with its query, and the Content-Range of an uploaded part, if any.
func (r Request) Line() string {
	return strings.TrimSpace(r.Method + " " + r.URL.RequestURI() + " " + r.Header.Get("Content-Range"))
}

// Endpoint returns the method and the last element of the path.
func (r Request) Endpoint() string {
	return r.Method + " " + r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]
}

// Params returns the parameters of a form, or else of the query. The value of an uploaded file is its size in bytes.
func (r Request) Params() url.Values {
	kind, options, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	switch {
	case err == nil && kind == "application/x-www-form-urlencoded":
		params, _ := url.ParseQuery(string(r.Body))
		return params
	case err == nil && kind == "multipart/form-data":
		form, err := multipart.NewReader(bytes.NewReader(r.Body), options["boundary"]).ReadForm(maxBody)
		if err != nil {
			return nil
		}
		params := url.Values(form.Value)
		for name, files := range form.File {
			params.Set(name, strconv.FormatInt(files[0].Size, 10))
		}
		return params
	}
	return r.URL.Query()
}

// Transport is the HTTP transport of the tests. It is not http.DefaultTransport, because a closing httptest.Server
// closes the idle connections of http.DefaultTransport and breaks requests of parallel tests.
var Transport http.RoundTripper = &http.Transport{}

// RecordingTransport is an HTTP transport that records requests and drops those that a test selects.
type RecordingTransport struct {
	mu            sync.Mutex
	requests      []Request
	losesResponse func(Request) bool
	dropsRequest  func(Request) bool

	OnResponse func(Request) // called with each request that has a response
}

var errLost = errors.New("the connection was lost")

// LoseResponse drops the responses to the requests for which match returns true. If match is nil, it drops none.
func (t *RecordingTransport) LoseResponse(match func(Request) bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.losesResponse = match
}

// LoseResponseTo drops the responses to the requests whose Line contains part.
func (t *RecordingTransport) LoseResponseTo(part string) {
	t.LoseResponse(func(r Request) bool { return strings.Contains(r.Line(), part) })
}

// loseNth drops one of the following requests, or only its response if dropRequest is false. The next request is number
// 0.
func (t *RecordingTransport) loseNth(n int, dropRequest bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	last := len(t.requests) + n + 1
	isNth := func(Request) bool { return len(t.requests) == last }
	if dropRequest {
		t.dropsRequest = isNth
	} else {
		t.losesResponse = isNth
	}
}

// RoundTrip sends a request unless the test drops it.
func (t *RecordingTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	request := Request{Method: r.Method, URL: r.URL, Header: r.Header}
	if r.Body != nil && r.ContentLength <= maxBody {
		request.Body, _ = io.ReadAll(r.Body) // the body is in memory
		r.Body = io.NopCloser(bytes.NewReader(request.Body))
	}
	at, loseResponse, dropRequest := t.record(request)
	if dropRequest {
		return nil, errLost
	}
	response, err := Transport.RoundTrip(r)
	if err != nil {
		return nil, fmt.Errorf("sending: %w", err)
	}
	body, err := io.ReadAll(response.Body)
	_ = response.Body.Close()
	if err != nil || loseResponse {
		return nil, errLost
	}
	response.Body = io.NopCloser(bytes.NewReader(body))
	request.Status, request.ResponseHeader, request.ResponseBody = response.StatusCode, response.Header, body
	t.mu.Lock()
	t.requests[at] = request
	t.mu.Unlock()
	if t.OnResponse != nil {
		t.OnResponse(request)
	}
	return response, nil
}

// record adds a request. It returns its index, whether to drop its response, and whether to drop the request
// itself.
func (t *RecordingTransport) record(request Request) (int, bool, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.requests = append(t.requests, request)
	return len(t.requests) - 1, t.losesResponse != nil && t.losesResponse(request), t.dropsRequest != nil && t.dropsRequest(request)
}

// Requests returns the requests whose Line contains part.
func (t *RecordingTransport) Requests(part string) []Request {
	t.mu.Lock()
	defer t.mu.Unlock()
	var matches []Request
	for _, r := range t.requests {
		if strings.Contains(r.Line(), part) {
			matches = append(matches, r)
		}
	}
	return matches
}

// Count returns the number of requests whose Line contains part.
func (t *RecordingTransport) Count(part string) int { return len(t.Requests(part)) }

// Interceptor responds to requests with a URL that contains Part, and forwards all others.
type Interceptor struct {
	http.RoundTripper

	Part   string
	Status int
	Header map[string]string
	Body   string
}

// RoundTrip implements http.RoundTripper.
func (i Interceptor) RoundTrip(r *http.Request) (*http.Response, error) {
	if !strings.Contains(r.URL.String(), i.Part) {
		return i.RoundTripper.RoundTrip(r) //nolint:wrapcheck // returned unchanged
	}
	response := &http.Response{
		StatusCode: i.Status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(i.Body)), Request: r,
	}
	for name, value := range i.Header {
		response.Header.Set(name, value)
	}
	return response, nil
}
