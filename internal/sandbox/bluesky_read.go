package sandbox

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
)

func recordURI(did, rkey string) string { return "at://" + did + "/" + blueskyCollection + "/" + rkey }

func recordKeyOf(uri string) string { return uri[strings.LastIndexByte(uri, '/')+1:] }

// owns refuses a write to a repository of another account.
func (b *bluesky) owns(ctx context.Context, t tx, a account, repo string) error {
	target, found, err := t.account(ctx, blueskyName, strings.ToLower(repo))
	if err != nil {
		return err
	}
	if !found {
		return &xrpcError{http.StatusForbidden, "AccountNotFound", "Account not found"}
	}
	if target.id != a.id {
		return &xrpcError{http.StatusUnauthorized, "AuthenticationRequired", "Authentication Required"}
	}
	return nil
}

type recordAnswer struct {
	URI   string          `json:"uri"`
	CID   string          `json:"cid"`
	Value json.RawMessage `json:"value"`
}

func (b *bluesky) getRecord(r *http.Request) (any, error) {
	query := r.URL.Query()
	repo, rkey := query.Get("repo"), query.Get("rkey")
	if err := need("repo", repo, "collection", query.Get("collection"), "rkey", rkey); err != nil {
		return nil, err
	}
	var answer recordAnswer
	err := b.store.in(r.Context(), func(t tx) error {
		a, err := b.repo(r.Context(), t, repo)
		if err != nil {
			return err
		}
		uri := "at://" + a.id + "/" + query.Get("collection") + "/" + rkey
		p, found, err := t.post(r.Context(), blueskyName, uri)
		if err == nil && (!found || query.Get("cid") != "" && query.Get("cid") != p.version) {
			err = &xrpcError{http.StatusBadRequest, "RecordNotFound", "Could not locate record: " + uri}
		}
		if err == nil {
			err = untold(blueskyName, p.text, p.at, b.now())
		}
		answer = recordAnswer{URI: p.id, CID: p.version, Value: p.body}
		return err
	})
	return answer, err
}

// repo returns the account of a repository, named by handle or DID.
func (b *bluesky) repo(ctx context.Context, t tx, repo string) (account, error) {
	a, found, err := t.account(ctx, blueskyName, strings.ToLower(repo))
	if err == nil && !found {
		err = invalidRequest("Could not find repo: %s", repo)
	}
	return a, err
}

func (b *bluesky) listRecords(r *http.Request) (any, error) {
	query := r.URL.Query()
	if err := need("repo", query.Get("repo"), "collection", query.Get("collection")); err != nil {
		return nil, err
	}
	limit := 50
	if given := query.Get("limit"); given != "" {
		limit, _ = strconv.Atoi(given) // an invalid limit is 0, which is refused
	}
	if limit < 1 || limit > 100 {
		return nil, invalidRequest("limit must be between 1 and 100")
	}
	var answer struct {
		Records []recordAnswer `json:"records"`
		Cursor  string         `json:"cursor,omitempty"`
	}
	answer.Records = []recordAnswer{}
	err := b.store.in(r.Context(), func(t tx) error {
		a, err := b.repo(r.Context(), t, query.Get("repo"))
		if err != nil || query.Get("collection") != blueskyCollection {
			return err
		}
		listed, err := page(r.Context(), t, a.id, query.Get("cursor"), query.Get("reverse") == "true", limit)
		for _, p := range listed {
			answer.Records = append(answer.Records, recordAnswer{URI: p.id, CID: p.version, Value: p.body})
			answer.Cursor = recordKeyOf(p.id)
		}
		return err
	})
	return answer, err
}

// page lists an account's posts after cursor by record key, the greatest first unless reverse.
func page(ctx context.Context, t tx, did, cursor string, reverse bool, limit int) ([]post, error) {
	if reverse {
		return t.posts(ctx, `where p.platform = ? and p.account = ? and p.id > ? order by p.id limit ?`,
			blueskyName, did, recordURI(did, cursor), limit)
	}
	if cursor == "" {
		cursor = "~" // after every key
	}
	return t.posts(ctx, `where p.platform = ? and p.account = ? and p.id < ? order by p.id desc limit ?`,
		blueskyName, did, recordURI(did, cursor), limit)
}

func (b *bluesky) deleteRecord(r *http.Request) (any, error) {
	var in recordInput
	if _, err := b.bearer(r, accessType); err != nil {
		return nil, err
	}
	if err := readInput(r, &in); err != nil {
		return nil, err
	}
	if err := need("repo", in.Repo, "collection", in.Collection, "rkey", in.RKey); err != nil {
		return nil, err
	}
	answer := struct {
		Commit *commitAnswer `json:"commit,omitempty"`
	}{}
	err := b.store.in(r.Context(), func(t tx) error {
		a, _, err := b.authorize(r, t)
		if err != nil {
			return err
		}
		if err := b.owns(r.Context(), t, a, in.Repo); err != nil {
			return err
		}
		uri := "at://" + a.id + "/" + in.Collection + "/" + in.RKey
		p, found, err := t.post(r.Context(), blueskyName, uri)
		if err != nil || !found {
			return err
		}
		if in.Swap.cid != "" && in.Swap.cid != p.version {
			return swapRefused(p.version)
		}
		rev := b.nextTID()
		answer.Commit = &commitAnswer{CID: contentID([]byte(uri + rev)), Rev: rev}
		if err := t.dropPost(r.Context(), blueskyName, uri); err != nil {
			return err
		}
		return t.dropBlobs(r.Context(), blueskyName, a.id, p.body)
	})
	return answer, err
}
