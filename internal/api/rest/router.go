package rest

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"pressroom/internal/core/operation"
)

// router finds the operation at an address. Unlike the standard library's it never redirects: an address is
// right or it is endpoint_not_found, the same bytes for everybody.
type router struct{ root *node }

type node struct {
	below    map[string]*node // by a fixed segment
	argument *node            // any other segment
	methods  map[string]*operation.Operation
}

func newRouter() *router { return &router{root: &node{}} }

func (n *node) child(segment string) *node {
	if strings.HasPrefix(segment, "{") {
		if n.argument == nil {
			n.argument = &node{}
		}
		return n.argument
	}
	if n.below == nil {
		n.below = map[string]*node{}
	}
	if n.below[segment] == nil {
		n.below[segment] = &node{}
	}
	return n.below[segment]
}

func (r *router) add(method, path string, op *operation.Operation) {
	at := r.root
	for segment := range strings.SplitSeq(path[1:], "/") {
		at = at.child(segment)
	}
	if at.methods == nil {
		at.methods = map[string]*operation.Operation{}
	}
	at.methods[method] = op
}

// find gives the operation with the texts of the path's arguments. Where the address has other methods alone it
// gives those; where there is no such address it reports false.
func (r *router) find(req *http.Request) (*operation.Operation, map[string]string, []string, bool) {
	rest, ok := strings.CutPrefix(req.URL.EscapedPath(), Prefix+"/")
	if !ok {
		return nil, nil, nil, false
	}
	at, texts := r.root, []string(nil)
	for segment := range strings.SplitSeq(rest, "/") {
		text, err := url.PathUnescape(segment)
		if err != nil {
			return nil, nil, nil, false
		}
		if next := at.below[text]; next != nil {
			at = next
			continue
		}
		if at = at.argument; at == nil {
			return nil, nil, nil, false
		}
		texts = append(texts, text)
	}
	if len(at.methods) == 0 || !at.fits(texts) {
		return nil, nil, nil, false
	}
	op, ok := at.methods[req.Method]
	if !ok {
		return nil, nil, at.allowed(), true
	}
	return op, named(op, texts), nil, true
}

// fits tells whether the identifiers of a path have their form. All operations of an address agree on it.
func (n *node) fits(texts []string) bool {
	for _, op := range n.methods {
		for i, text := range texts {
			if !op.PathFits(op.InPath[i], text) {
				return false
			}
		}
		break
	}
	return true
}

func (n *node) allowed() []string {
	out := make([]string, 0, len(n.methods))
	for method := range n.methods {
		out = append(out, method)
	}
	slices.Sort(out)
	return out
}

func named(op *operation.Operation, texts []string) map[string]string {
	if len(texts) == 0 {
		return nil
	}
	out := make(map[string]string, len(texts))
	for i, text := range texts {
		out[op.InPath[i]] = text
	}
	return out
}
