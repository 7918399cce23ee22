package sandbox

import (
	"net/http"
	"strings"
)

func (b *bluesky) resolveHandle(r *http.Request) (any, error) {
	handle := strings.ToLower(r.URL.Query().Get("handle"))
	if !handleForm.MatchString(handle) {
		return nil, invalidRequest("Input/handle must be a valid handle")
	}
	var a account
	err := b.store.in(r.Context(), func(t tx) error {
		var found bool
		var err error
		a, found, err = t.account(r.Context(), blueskyName, handle)
		if err == nil && !found {
			err = invalidRequest("Unable to resolve handle")
		}
		return err
	})
	return map[string]string{"did": a.id}, err
}

func (b *bluesky) describeRepo(r *http.Request) (any, error) {
	repo := r.URL.Query().Get("repo")
	if err := need("repo", repo); err != nil {
		return nil, err
	}
	var a account
	collections := []string{}
	err := b.store.in(r.Context(), func(t tx) error {
		var found bool
		var err error
		a, found, err = t.account(r.Context(), blueskyName, strings.ToLower(repo))
		if err != nil {
			return err
		}
		if !found {
			return &xrpcError{http.StatusBadRequest, "RepoNotFound", "Could not find repo for DID: " + repo}
		}
		some, err := page(r.Context(), t, a.id, "", false, 1)
		if len(some) > 0 {
			collections = append(collections, blueskyCollection)
		}
		return err
	})
	return map[string]any{
		"handle": a.handle, "did": a.id, "didDoc": b.didDocument(r, a), "collections": collections,
		"handleIsCorrect": true,
	}, err
}

// nextTID returns a timestamp identifier that is later than all others of this process.
func (b *bluesky) nextTID() string {
	b.tid.Lock()
	defer b.tid.Unlock()
	b.lastTID = max(b.now().UnixMicro(), b.lastTID+1)
	return tidAt(b.lastTID)
}

// tidAt returns the key of a time in microseconds since 1970.
func tidAt(micros int64) string {
	const digits = "234567abcdefghijklmnopqrstuvwxyz"
	value := uint64(micros) << 10
	key := make([]byte, 13)
	for i := len(key) - 1; i >= 0; i-- {
		key[i] = digits[value%32]
		value /= 32
	}
	return string(key)
}
