package bluesky

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"pressroom.example/pressroom/internal/sandbox/marker"
	"pressroom.example/pressroom/internal/sandbox/store"
)

func recordURI(did, rkey string) string { return "at://" + did + "/" + collection + "/" + rkey }

func parseRecordKey(uri string) string { return uri[strings.LastIndexByte(uri, '/')+1:] }

// checkOwner returns an error for a write to another account's repository.
func (b *Network) checkOwner(ctx context.Context, t store.Tx, a store.Account, repo string) error {
	target, found, err := t.Account(ctx, Name, strings.ToLower(repo))
	if err != nil {
		return err
	}
	if !found {
		return &xrpcError{http.StatusForbidden, "AccountNotFound", "Account not found"}
	}
	if target.ID != a.ID {
		return &xrpcError{http.StatusUnauthorized, "AuthenticationRequired", "Authentication Required"}
	}
	return nil
}

type recordResponse struct {
	URI   string          `json:"uri"`
	CID   string          `json:"cid"`
	Value json.RawMessage `json:"value"`
}

func (b *Network) getRecord(r *http.Request) (any, error) {
	query := r.URL.Query()
	repo, rkey := query.Get("repo"), query.Get("rkey")
	if err := requireValues("repo", repo, "collection", query.Get("collection"), "rkey", rkey); err != nil {
		return nil, err
	}
	var response recordResponse
	err := b.Store.InTx(r.Context(), func(t store.Tx) error {
		a, err := b.findRepo(r.Context(), t, repo)
		if err != nil {
			return err
		}
		uri := "at://" + a.ID + "/" + query.Get("collection") + "/" + rkey
		if g, found, err := t.Record(r.Context(), Name, uri); found || err != nil {
			response = recordResponse{URI: uri, CID: g.Version, Value: g.Body}
			return err
		}
		p, found, err := t.Post(r.Context(), Name, uri)
		if err == nil && (!found || query.Get("cid") != "" && query.Get("cid") != p.Version) {
			err = &xrpcError{http.StatusBadRequest, "RecordNotFound", "Could not locate record: " + uri}
		}
		if err == nil {
			err = marker.Withhold(Name, p.Text, p.At, b.Now())
		}
		response = recordResponse{URI: p.ID, CID: p.Version, Value: p.Body}
		return err
	})
	return response, err
}

// findRepo returns the account whose handle or DID is repo.
func (b *Network) findRepo(ctx context.Context, t store.Tx, repo string) (store.Account, error) {
	a, found, err := t.Account(ctx, Name, strings.ToLower(repo))
	if err == nil && !found {
		err = invalidRequest("Could not find repo: %s", repo)
	}
	return a, err
}

func (b *Network) listRecords(r *http.Request) (any, error) {
	query := r.URL.Query()
	if err := requireValues("repo", query.Get("repo"), "collection", query.Get("collection")); err != nil {
		return nil, err
	}
	limit := 50
	if text := query.Get("limit"); text != "" {
		limit, _ = strconv.Atoi(text) // an invalid limit becomes 0, which is rejected
	}
	if limit < 1 || limit > 100 {
		return nil, invalidRequest("limit must be between 1 and 100")
	}
	var response struct {
		Records []recordResponse `json:"records"`
		Cursor  string           `json:"cursor,omitempty"`
	}
	response.Records = []recordResponse{}
	err := b.Store.InTx(r.Context(), func(t store.Tx) error {
		a, err := b.findRepo(r.Context(), t, query.Get("repo"))
		if err != nil || query.Get("collection") != collection {
			return err
		}
		posts, err := listPage(r.Context(), t, a.ID, query.Get("cursor"), query.Get("reverse") == "true", limit)
		for _, p := range posts {
			response.Records = append(response.Records, recordResponse{URI: p.ID, CID: p.Version, Value: p.Body})
			response.Cursor = parseRecordKey(p.ID)
		}
		return err
	})
	return response, err
}

// listPage lists an account's posts after cursor. The posts are in descending order of their record keys, or in
// ascending order if ascending is true.
func listPage(ctx context.Context, t store.Tx, did, cursor string, ascending bool, limit int) ([]store.Post, error) {
	if ascending {
		return t.Posts(ctx, `where p.platform = ? and p.account = ? and p.id > ? order by p.id limit ?`,
			Name, did, recordURI(did, cursor), limit)
	}
	if cursor == "" {
		cursor = "~" // sorts after every key
	}
	return t.Posts(ctx, `where p.platform = ? and p.account = ? and p.id < ? order by p.id desc limit ?`,
		Name, did, recordURI(did, cursor), limit)
}

func (b *Network) deleteRecord(r *http.Request) (any, error) {
	var in recordInput
	if _, err := b.bearer(r, accessType); err != nil {
		return nil, err
	}
	if err := readInput(r, &in); err != nil {
		return nil, err
	}
	if err := requireValues("repo", in.Repo, "collection", in.Collection, "rkey", in.RKey); err != nil {
		return nil, err
	}
	response := struct {
		Commit *commitResponse `json:"commit,omitempty"`
	}{}
	err := b.Store.InTx(r.Context(), func(t store.Tx) error {
		a, _, err := b.authorize(r, t)
		if err != nil {
			return err
		}
		if err := b.checkOwner(r.Context(), t, a, in.Repo); err != nil {
			return err
		}
		uri := "at://" + a.ID + "/" + in.Collection + "/" + in.RKey
		p, found, err := t.Post(r.Context(), Name, uri)
		if err != nil || !found {
			return err
		}
		if in.Swap.cid != "" && in.Swap.cid != p.Version {
			return swapError(p.Version)
		}
		rev := b.nextTID()
		response.Commit = &commitResponse{CID: store.ContentID([]byte(uri + rev)), Rev: rev}
		if err := t.DeletePost(r.Context(), Name, uri); err != nil {
			return err
		}
		return t.DeleteUnreferencedBlobs(r.Context(), Name, a.ID, p.Body)
	})
	return response, err
}
