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

	"pressroom/internal/network"
)

const mostPages = 20 // of a list that are read

// Listed reads a list page by page until it comes to what is older than a time, or to so many. The newest stand first;
// at tells of when one is. It is true where there may be more since then.
func Listed[T any](
	ctx context.Context, c *Client, call Call, since time.Time, most int, at func(T) time.Time,
) ([]T, bool, error) {
	params := maps.Clone(call.Params)
	params.Set("since", strconv.FormatInt(since.Unix(), 10))
	params.Set("limit", pageSize)
	var found []T
	for range mostPages {
		var answer struct {
			Data   []T `json:"data"`
			Paging struct {
				Next    string `json:"next"`
				Cursors struct {
					After string `json:"after"`
				} `json:"cursors"`
			} `json:"paging"`
		}
		call.Params, call.Out = params, &answer
		if err := c.Do(ctx, call); err != nil {
			return found, true, err
		}
		for _, one := range answer.Data {
			if when := at(one); when.Before(since) && !when.IsZero() {
				return found, false, nil
			}
			if len(found) >= most {
				return found, true, nil
			}
			found = append(found, one)
		}
		after := answer.Paging.Cursors.After
		if answer.Paging.Next == "" || after == "" || after == params.Get("after") {
			return found, answer.Paging.Next != "", nil
		}
		params.Set("after", after)
	}
	return found, true, nil
}

// insight is one figure as the networks tell it: as the last of a row of values, or as a total. A value may be parted
// by kinds, as reactions are.
type insight struct {
	Name   string `json:"name"`
	Values []struct {
		Value figure `json:"value"`
	} `json:"values"`
	Total struct {
		Value figure `json:"value"`
	} `json:"total_value"`
}

// figure is a number, or the sum of several that have names; nil for anything else.
type figure struct{ n *int64 }

func (f *figure) UnmarshalJSON(text []byte) error {
	var one int64
	if json.Unmarshal(text, &one) == nil {
		f.n = &one
		return nil
	}
	var parts map[string]int64
	if json.Unmarshal(text, &parts) == nil && parts != nil {
		for _, part := range parts {
			one += part
		}
		f.n = &one
	}
	return nil
}

// Figures are what the network told of a post, by the metric.
type Figures map[string]int64

// Told is a figure; nil where it was not told.
func (f Figures) Told(metric string) *int64 {
	if n, ok := f[metric]; ok {
		return network.Told(&n)
	}
	return nil
}

// Insights reads figures of what has a path. What the network does not tell is not among them.
func (c *Client) Insights(ctx context.Context, call Call, metrics []string) (Figures, error) {
	var answer struct {
		Data []insight `json:"data"`
	}
	call.Method, call.Params, call.Out = http.MethodGet, url.Values{"metric": {strings.Join(metrics, ",")}}, &answer
	if err := c.Do(ctx, call); err != nil {
		return nil, err
	}
	told := Figures{}
	for _, i := range answer.Data {
		value := i.Total.Value.n
		if len(i.Values) > 0 && value == nil {
			value = i.Values[len(i.Values)-1].Value.n
		}
		if value != nil {
			told[i.Name] = *value
		}
	}
	return told, nil
}

const (
	maxRefused = 3 // posts that tell nothing before none did, after which no further one is asked
	maxFailed  = 5 // posts whose figures do not come for a passing reason, after which all is left for later
)

// Metrics reads the figures of one account's posts. A metric that the network does not take for a kind of post is left
// out for the others of that kind, so that one which was removed does not cost the others. It serves one collection.
type Metrics struct {
	Names []string
	// Ask reads figures of a post.
	Ask func(ctx context.Context, post string, metrics []string) (Figures, error)

	taken   map[string][]string // by the kind of post: what the network takes
	refused map[string]int      // posts that told nothing, by their kind, while nothing is taken
	failed  int
}

// Of reads the figures of a post of a kind. None is an error that is about this post alone.
func (m *Metrics) Of(ctx context.Context, kind, post string) (Figures, error) {
	names, known := m.taken[kind]
	if !known {
		if m.refused[kind] >= maxRefused {
			return Figures{}, nil
		}
		names = m.Names
	}
	told, err := m.Ask(ctx, post, names)
	if refuses(err) && !known {
		names, told, err = m.oneByOne(ctx, post)
	}
	switch {
	case refuses(err) || err == nil && len(names) == 0:
		m.noteRefusal(kind)
		return Figures{}, nil
	case passes(err) && m.failed < maxFailed:
		m.failed++
		return Figures{}, nil
	case err != nil:
		return nil, err
	}
	m.noteTaken(kind, names)
	return told, nil
}

// oneByOne asks for each metric by itself and finds those that the network takes.
func (m *Metrics) oneByOne(ctx context.Context, post string) ([]string, Figures, error) {
	var taken []string
	all := Figures{}
	for _, name := range m.Names {
		told, err := m.Ask(ctx, post, []string{name})
		switch {
		case refuses(err):
			continue
		case err != nil:
			return nil, nil, err
		}
		taken = append(taken, name)
		maps.Copy(all, told)
	}
	return taken, all, nil
}

func (m *Metrics) noteRefusal(kind string) {
	if m.refused == nil {
		m.refused = map[string]int{}
	}
	m.refused[kind]++
}

func (m *Metrics) noteTaken(kind string, names []string) {
	if m.taken == nil {
		m.taken = map[string][]string{}
	}
	m.taken[kind] = names
}

// refuses tells whether an error is about the metric, the post or a permission. The networks also say that a permission
// is missing where a post has too few viewers.
func refuses(err error) bool {
	said, ok := errors.AsType[*network.Error](err)
	return ok && (said.Class == network.Rejected || Missing(said) || withheld(said))
}

func passes(err error) bool {
	said, ok := errors.AsType[*network.Error](err)
	return ok && said.Class == network.Transient && said.Status != 0
}

// ofToken are the codes of a token that is worth nothing any more.
var ofToken = []string{"102", "190"}

// withheld tells whether an error is about a permission alone.
func withheld(e *network.Error) bool {
	code, _, _ := strings.Cut(e.Code, "/")
	return e.Class == network.AuthDead && e.Code != "" && !slices.Contains(ofToken, code)
}

// Spare makes another class of a permission that is missing: figures that may not be read must not cost an account its
// connection, as posts can go out all the same.
func Spare(err error) error {
	said, ok := errors.AsType[*network.Error](err)
	if !ok || !withheld(said) {
		return err
	}
	spared := *said
	spared.Class = network.Unapproved
	return &spared
}

// Either is the first figure where it was told, else the other.
func Either(first, other *int64) *int64 {
	if first != nil {
		return first
	}
	return other
}
