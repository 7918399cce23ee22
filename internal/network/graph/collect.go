package graph

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/network"
)

const (
	maxPageSize = 100 // items per page of a list
	maxCalls    = 60  // calls per list, not counting those rejected as too large
)

// listPage is a page of a list.
type listPage[T any] struct {
	Data   []T `json:"data"`
	Paging struct {
		Next    string `json:"next"`
		Cursors struct {
			After string `json:"after"`
		} `json:"cursors"`
	} `json:"paging"`
}

// ListSince reads a list page by page, newest first. It stops at the first item that is older than since, after limit
// items, or after maxCalls calls. It returns true if there may be more items. The function timeOf returns an item's
// time.
func ListSince[T any](
	ctx context.Context, c *Client, call Call, since time.Time, limit int, timeOf func(T) time.Time,
) ([]T, bool, error) {
	params, size := maps.Clone(call.Params), maxPageSize
	params.Set("since", strconv.FormatInt(since.Unix(), 10))
	var items []T
	for range maxCalls {
		var response listPage[T]
		call.Params, call.Out = params, &response
		var err error
		if size, err = c.doWithSmallerPages(ctx, call, size); err != nil {
			return items, true, err
		}
		for _, item := range response.Data {
			if itemTime := timeOf(item); itemTime.Before(since) && !itemTime.IsZero() {
				return items, false, nil
			}
			if len(items) >= limit {
				return items, true, nil
			}
			items = append(items, item)
		}
		after := response.Paging.Cursors.After
		if response.Paging.Next == "" || after == "" || after == params.Get("after") {
			return items, response.Paging.Next != "", nil
		}
		params.Set("after", after)
	}
	return items, true, nil
}

// doWithSmallerPages reads a page of a list. The network rejects a page that contains too much data, so
// doWithSmallerPages halves the page size until the call succeeds. It returns the size that succeeded, to be used for
// the next pages.
func (c *Client) doWithSmallerPages(ctx context.Context, call Call, size int) (int, error) {
	for ; ; size /= 2 {
		call.Params.Set("limit", strconv.Itoa(size))
		err := c.Do(ctx, call)
		if netErr, ok := errors.AsType[*network.Error](err); !ok || size == 1 || !isTooMuchData(netErr) {
			return size, err
		}
	}
}

// isTooMuchData reports whether the network asks for a smaller page. It checks the message, because the code is the one
// for unknown errors.
func isTooMuchData(e *network.Error) bool {
	code, _, _ := strings.Cut(e.Code, "/")
	return code == "1" && strings.Contains(strings.ToLower(e.Message), "reduce the amount of data")
}

// insight is one metric. It has either a list of values, of which the last one is used, or a total. A value may consist
// of parts, such as one number for each kind of reaction.
type insight struct {
	Name   string `json:"name"`
	Values []struct {
		Value metricValue `json:"value"`
	} `json:"values"`
	Total struct {
		Value metricValue `json:"value"`
	} `json:"total_value"`
}

// metricValue is a number, or the sum of several named numbers. n is nil if the value has another format.
type metricValue struct{ n *int64 }

func (v *metricValue) UnmarshalJSON(text []byte) error {
	var sum int64
	if json.Unmarshal(text, &sum) == nil {
		v.n = &sum
		return nil
	}
	var parts map[string]int64
	if json.Unmarshal(text, &parts) == nil && parts != nil {
		for _, part := range parts {
			sum += part
		}
		v.n = &sum
	}
	return nil
}

// Metrics maps the names of a post's metrics to their values.
type Metrics map[string]int64

// Get returns a metric, or nil if the network did not provide it.
func (m Metrics) Get(metric string) *int64 {
	if n, ok := m[metric]; ok {
		return network.NonNegative(&n)
	}
	return nil
}

// Insights reads metrics of the object at the call's path. The result omits metrics that the network does not provide.
func (c *Client) Insights(ctx context.Context, call Call, metrics []string) (Metrics, error) {
	var response struct {
		Data []insight `json:"data"`
	}
	call.Method, call.Params, call.Out = http.MethodGet, url.Values{"metric": {strings.Join(metrics, ",")}}, &response
	if err := c.Do(ctx, call); err != nil {
		return nil, err
	}
	values := Metrics{}
	for _, i := range response.Data {
		value := i.Total.Value.n
		if len(i.Values) > 0 && value == nil {
			value = i.Values[len(i.Values)-1].Value.n
		}
		if value != nil {
			values[i.Name] = *value
		}
	}
	return values, nil
}

const (
	maxRejected = 3 // number of posts without metrics after which a kind of post is skipped
	maxFailed   = 5 // number of posts whose temporary errors are ignored
)

// MetricsReader reads metrics of one account's posts during one collection. If the network does not support a metric
// for one post, the metric is not requested for other posts of that kind. The other metrics are still read.
type MetricsReader struct {
	Names []string
	// Fetch reads metrics of a post.
	Fetch func(ctx context.Context, post string, metrics []string) (Metrics, error)

	supported     map[string][]string // supported metrics by kind of post
	rejectedPosts map[string]int      // number of rejected posts by kind; counted until a metric is supported
	failedPosts   int
}

// Read returns the metrics of a post. If an error concerns only this post, the result is empty.
func (m *MetricsReader) Read(ctx context.Context, kind, postID string) (Metrics, error) {
	names, known := m.supported[kind]
	if !known {
		if m.rejectedPosts[kind] >= maxRejected {
			return Metrics{}, nil
		}
		names = m.Names
	}
	values, err := m.Fetch(ctx, postID, names)
	if isRejection(err) && !known {
		names, values, err = m.fetchEach(ctx, postID)
	}
	switch {
	case isRejection(err) || err == nil && len(names) == 0:
		m.recordRejection(kind)
		return Metrics{}, nil
	case isTemporary(err) && m.failedPosts < maxFailed:
		m.failedPosts++
		return Metrics{}, nil
	case err != nil:
		return nil, err
	}
	m.recordSupported(kind, names)
	return values, nil
}

// fetchEach requests each metric separately. It returns the names and the values of the supported metrics.
func (m *MetricsReader) fetchEach(ctx context.Context, postID string) ([]string, Metrics, error) {
	var supported []string
	metrics := Metrics{}
	for _, name := range m.Names {
		values, err := m.Fetch(ctx, postID, []string{name})
		switch {
		case isRejection(err):
			continue
		case err != nil:
			return nil, nil, err
		}
		supported = append(supported, name)
		maps.Copy(metrics, values)
	}
	return supported, metrics, nil
}

func (m *MetricsReader) recordRejection(kind string) {
	if m.rejectedPosts == nil {
		m.rejectedPosts = map[string]int{}
	}
	m.rejectedPosts[kind]++
}

func (m *MetricsReader) recordSupported(kind string, names []string) {
	if m.supported == nil {
		m.supported = map[string][]string{}
	}
	m.supported[kind] = names
}

// isRejection reports whether an error concerns only the metric, the post or a permission. The networks also report a
// missing permission if a post has too few viewers.
func isRejection(err error) bool {
	netErr, ok := errors.AsType[*network.Error](err)
	return ok && (netErr.Class == network.Rejected || IsMissing(netErr) || isMissingPermission(netErr))
}

// isTemporary reports whether the network responded with a temporary error.
func isTemporary(err error) bool {
	netErr, ok := errors.AsType[*network.Error](err)
	return ok && netErr.Class == network.Transient && netErr.Status != 0
}

// tokenErrorCodes lists the error codes for an invalid token.
var tokenErrorCodes = []string{"102", "190"}

// isMissingPermission reports whether an error concerns only a permission.
func isMissingPermission(e *network.Error) bool {
	code, _, _ := strings.Cut(e.Code, "/")
	return e.Class == network.ReconnectRequired && e.Code != "" && !slices.Contains(tokenErrorCodes, code)
}

// DowngradeMissingPermission changes the class of an error from ReconnectRequired to AppNotApproved if only a
// permission is missing. An account can still publish if the app may not read its metrics, so it must not be
// disconnected.
func DowngradeMissingPermission(err error) error {
	netErr, ok := errors.AsType[*network.Error](err)
	if !ok || !isMissingPermission(netErr) {
		return err
	}
	newErr := *netErr
	newErr.Class = network.AppNotApproved
	return &newErr
}

// FirstKnown returns first. If first is nil, it returns other.
func FirstKnown(first, other *int64) *int64 {
	if first != nil {
		return first
	}
	return other
}
