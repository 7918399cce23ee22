package list

import (
	"bytes"
	"sync"

	"pressroom/internal/core/operation"
)

// cacheEntry is what a list holds, as it was at a revision of the list and a version of the figures. It is never changed.
type cacheEntry struct {
	revision, version int64
	hashtags          []Hashtag
	json              []byte
}

// maxCacheBytes is how many bytes of JSON are remembered; what they are made of takes about as many again.
const maxCacheBytes = 64 << 20

// listCache remembers lists that were opened: reading and writing thousands of hashtags takes many times as long as asking
// whether anything has changed.
type listCache struct {
	mu    sync.Mutex
	lists map[int64]cacheEntry // by id, which tells the team
	bytes int
}

// get is a list as it is now, where that is remembered.
func (o *listCache) get(l List, version int64) (cacheEntry, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	e, known := o.lists[l.ID]
	return e, known && e.revision == l.revision && e.version == version
}

// put remembers a list as it was at a version; all others are forgotten where there is no room.
func (o *listCache) put(l List, version int64, e cacheEntry) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.bytes -= len(o.lists[l.ID].json)
	delete(o.lists, l.ID)
	if o.bytes+len(e.json) > maxCacheBytes {
		clear(o.lists)
		o.bytes = 0
	}
	e.revision, e.version = l.revision, version
	o.lists[l.ID] = e
	o.bytes += len(e.json)
}

// JSON is the list as answers have it, without writing its hashtags again.
func (o Opened) JSON() ([]byte, error) {
	head, err := operation.JSON(o.Entry)
	if err != nil {
		return nil, err
	}
	tags := o.hashtagsJSON
	if tags == nil {
		if tags, err = operation.JSON(o.Hashtags); err != nil {
			return nil, err
		}
	}
	var out bytes.Buffer
	out.Grow(len(head) + len(tags) + len(`,"hashtags":`))
	out.Write(head[:len(head)-1])
	out.WriteString(`,"hashtags":`)
	out.Write(tags)
	out.WriteByte('}')
	return out.Bytes(), nil
}
