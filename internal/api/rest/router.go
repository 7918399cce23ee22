package rest

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"pressroom.example/pressroom/internal/core/operation"
)

// router finds the operation for a path. Unlike http.ServeMux, it never redirects: every path that does not match
// exactly gets the same endpoint_not_found response.
type router struct{ root *node }

type node struct {
	literals map[string]*node // child nodes, by fixed segment
	argument *node            // child node for any other segment
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
	if n.literals == nil {
		n.literals = map[string]*node{}
	}
	if n.literals[segment] == nil {
		n.literals[segment] = &node{}
	}
	return n.literals[segment]
}

func (r *router) add(method, path string, op *operation.Operation) {
	n := r.root
	for segment := range strings.SplitSeq(path[1:], "/") {
		n = n.child(segment)
	}
	if n.methods == nil {
		n.methods = map[string]*operation.Operation{}
	}
	n.methods[method] = op
}

// find returns the operation and the values of the path's arguments. If the path exists but does not support the
// method, it returns the allowed methods instead. The last result reports whether the path exists.
func (r *router) find(req *http.Request) (*operation.Operation, map[string]string, []string, bool) {
	subpath, ok := strings.CutPrefix(req.URL.EscapedPath(), Prefix+"/")
	if !ok {
		return nil, nil, nil, false
	}
	n, texts := r.root, []string(nil)
	for segment := range strings.SplitSeq(subpath, "/") {
		text, err := url.PathUnescape(segment)
		if err != nil {
			return nil, nil, nil, false
		}
		if next := n.literals[text]; next != nil {
			n = next
			continue
		}
		if n = n.argument; n == nil {
			return nil, nil, nil, false
		}
		texts = append(texts, text)
	}
	if len(n.methods) == 0 || !n.hasValidIDs(texts) {
		return nil, nil, nil, false
	}
	op, ok := n.methods[req.Method]
	if !ok {
		return nil, nil, n.allowedMethods(), true
	}
	return op, pathValues(op, texts), nil, true
}

// hasValidIDs reports whether the IDs in a path have the right format. The format is the same for all operations with
// this path.
func (n *node) hasValidIDs(texts []string) bool {
	for _, op := range n.methods {
		for i, text := range texts {
			if !op.IsValidPathArgument(op.InPath[i], text) {
				return false
			}
		}
		break
	}
	return true
}

func (n *node) allowedMethods() []string {
	out := make([]string, 0, len(n.methods))
	for method := range n.methods {
		out = append(out, method)
	}
	slices.Sort(out)
	return out
}

func pathValues(op *operation.Operation, texts []string) map[string]string {
	if len(texts) == 0 {
		return nil
	}
	out := make(map[string]string, len(texts))
	for i, text := range texts {
		out[op.InPath[i]] = text
	}
	return out
}
