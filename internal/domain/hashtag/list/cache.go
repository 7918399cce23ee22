package list

import (
	"bytes"
	"sync"

	"pressroom.example/pressroom/internal/core/operation"
)

// cacheEntry holds the hashtags of a list at a revision of the list and a version of the statistics. It is immutable.
type cacheEntry struct {
	revision, version int64
	hashtags          []ListedHashtag
	json              []byte // hashtags as JSON
}

// maxCacheBytes limits the cached JSON. The decoded values need about the same amount of memory.
const maxCacheBytes = 64 << 20

// listCache caches recently read lists, because encoding thousands of hashtags takes much longer than checking for
// changes.
type listCache struct {
	mu    sync.Mutex
	lists map[int64]cacheEntry // by list ID
	bytes int
}

// get returns the entry of a list if it is current.
func (o *listCache) get(l List, version int64) (cacheEntry, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	e, known := o.lists[l.ID]
	return e, known && e.revision == l.revision && e.version == version
}

// put stores the entry of a list. If the cache is full, it first drops all other entries.
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

// JSON returns the list as JSON, reusing its encoded hashtags.
func (o HashtagList) JSON() ([]byte, error) {
	head, err := operation.JSON(o.HashtagListEntry)
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
