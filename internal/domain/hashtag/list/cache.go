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
func (c *listCache) get(l List, version int64) (cacheEntry, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.lists[l.ID]
	return e, ok && e.revision == l.revision && e.version == version
}

// put stores the entry of a list. If the cache is full, it first drops all other entries.
func (c *listCache) put(l List, version int64, e cacheEntry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.bytes -= len(c.lists[l.ID].json)
	delete(c.lists, l.ID)
	if c.bytes+len(e.json) > maxCacheBytes {
		clear(c.lists)
		c.bytes = 0
	}
	e.revision, e.version = l.revision, version
	c.lists[l.ID] = e
	c.bytes += len(e.json)
}

// JSON returns the list as JSON, reusing its encoded hashtags.
func (l HashtagList) JSON() ([]byte, error) {
	head, err := operation.JSON(l.HashtagListEntry)
	if err != nil {
		return nil, err
	}
	tags := l.hashtagsJSON
	if tags == nil {
		if tags, err = operation.JSON(l.Hashtags); err != nil {
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
