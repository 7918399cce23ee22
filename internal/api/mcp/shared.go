package mcp

import (
	"bytes"
	"sync"
)

const (
	listTools = "tools/list"
	atOnce    = 8  // lists of tools that are being made at once; further ones wait for a moment
	variants  = 16 // of the list, by version of the protocol
)

// shelf keeps what tools/list answers once for everybody who asks. It is long and the same for all, and a client that
// takes its time to read it must not hold a copy of its own: a thousand assistants would fill a small machine with
// them.
type shelf struct {
	places chan struct{}
	mu     sync.Mutex
	kept   [][]byte
}

func newShelf() *shelf { return &shelf{places: make(chan struct{}, atOnce)} }

// share gives a text that was seen before in place of the same text.
func (s *shelf) share(text []byte) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, known := range s.kept {
		if bytes.Equal(known, text) {
			return known
		}
	}
	if len(s.kept) < variants {
		s.kept = append(s.kept, bytes.Clone(text))
	}
	return text
}

// resultBegins is where, in an answer, what is the same for everybody begins: before it is the id of the call.
var resultBegins = []byte(`,"result":`)

// serveList answers tools/list: it is made while nobody's connection is waited for, and sent while nothing of its
// making is held any more.
func (x *exchange) serveList() {
	status, head, tail := x.list()
	if status == 0 {
		return // nobody waits for it any more
	}
	x.deliver(status, head, tail)
}

// list lets the protocol write the answer down, and gives its status, its own part and the part that it shares; no
// status where the client has gone meanwhile.
func (x *exchange) list() (int, []byte, []byte) {
	select {
	case x.edge.shelf.places <- struct{}{}:
		defer func() { <-x.edge.shelf.places }()
	case <-x.r.Context().Done():
		return 0, nil, nil
	}
	made := x.made(x.edge.tools())
	head, tail, found := bytes.Cut(made.body.Bytes(), resultBegins)
	if !found {
		return made.status, made.body.Bytes(), nil
	}
	return made.status, append(bytes.Clone(head), resultBegins...), x.edge.shelf.share(tail)
}
