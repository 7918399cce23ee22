package bluesky

import (
	"net/http"
	"strings"

	"pressroom.example/pressroom/internal/sandbox/store"
)

func (b *Network) resolveHandle(r *http.Request) (any, error) {
	handle := strings.ToLower(r.URL.Query().Get("handle"))
	if !handlePattern.MatchString(handle) {
		return nil, invalidRequest("Input/handle must be a valid handle")
	}
	var a store.Account
	err := b.Store.InTx(r.Context(), func(t store.Tx) error {
		var found bool
		var err error
		a, found, err = t.Account(r.Context(), Name, handle)
		if err == nil && !found {
			err = invalidRequest("Unable to resolve handle")
		}
		return err
	})
	return map[string]string{"did": a.ID}, err
}

func (b *Network) describeRepo(r *http.Request) (any, error) {
	repo := r.URL.Query().Get("repo")
	if err := requireValues("repo", repo); err != nil {
		return nil, err
	}
	var a store.Account
	collections := []string{}
	err := b.Store.InTx(r.Context(), func(t store.Tx) error {
		var found bool
		var err error
		a, found, err = t.Account(r.Context(), Name, strings.ToLower(repo))
		if err != nil {
			return err
		}
		if !found {
			return &xrpcError{http.StatusBadRequest, "RepoNotFound", "Could not find repo for DID: " + repo}
		}
		posts, err := listPage(r.Context(), t, a.ID, "", false, 1)
		if len(posts) > 0 {
			collections = append(collections, collection)
		}
		return err
	})
	return map[string]any{
		"handle": a.Handle, "did": a.ID, "didDoc": b.didDocument(r, a), "collections": collections,
		"handleIsCorrect": true,
	}, err
}

// nextTID returns a timestamp identifier that is later than all identifiers that this process has returned before.
func (b *Network) nextTID() string {
	b.tidMu.Lock()
	defer b.tidMu.Unlock()
	b.lastTID = max(b.Now().UnixMicro(), b.lastTID+1)
	return encodeTID(b.lastTID)
}

// encodeTID returns the timestamp identifier of a time in Unix microseconds.
func encodeTID(micros int64) string {
	const digits = "234567abcdefghijklmnopqrstuvwxyz"
	value := uint64(micros) << 10
	key := make([]byte, 13)
	for i := len(key) - 1; i >= 0; i-- {
		key[i] = digits[value%32]
		value /= 32
	}
	return string(key)
}
