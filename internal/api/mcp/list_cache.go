package mcp

import (
	"bytes"
	"sync"
)

const (
	methodListTools    = "tools/list"
	maxConcurrentLists = 8  // maximum number of tools/list responses that are prepared at the same time
	maxCachedLists     = 64 // maximum number of cached lists, which differ by protocol version, level and selection
)

// listCache shares the long response to tools/list among all clients, so that slow clients do not each need a copy in
// memory.
type listCache struct {
	slots  chan struct{}
	mu     sync.Mutex
	bodies [][]byte
}

func newListCache() *listCache { return &listCache{slots: make(chan struct{}, maxConcurrentLists)} }

// intern returns the cached copy of body. If there is none, it adds a copy to the cache unless the cache is full, and
// returns body.
func (c *listCache) intern(body []byte) []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, cached := range c.bodies {
		if bytes.Equal(cached, body) {
			return cached
		}
	}
	if len(c.bodies) < maxCachedLists {
		c.bodies = append(c.bodies, bytes.Clone(body))
	}
	return body
}

// resultPrefix separates the start of a response, which contains the call's ID, from the part that all clients share.
var resultPrefix = []byte(`,"result":`)

// serveList responds to tools/list. It releases the slot and the buffer before it writes to the connection.
func (x *exchange) serveList() {
	status, head, tail := x.prepareList()
	if status == 0 {
		return // the client has disconnected
	}
	x.write(status, head, tail)
}

// prepareList returns the status of the response, the part for this client, and the shared part. The status is 0 if the
// client has disconnected.
func (x *exchange) prepareList() (int, []byte, []byte) {
	lists := x.edge.lists
	select {
	case lists.slots <- struct{}{}:
		defer func() { <-lists.slots }()
	case <-x.r.Context().Done():
		return 0, nil, nil
	}
	rec := x.record(x.edge.toolHandler())
	head, tail, ok := bytes.Cut(rec.body.Bytes(), resultPrefix)
	if !ok {
		return rec.status, rec.body.Bytes(), nil
	}
	return rec.status, append(bytes.Clone(head), resultPrefix...), lists.intern(tail)
}
