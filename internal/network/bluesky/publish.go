package bluesky

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"time"

	"pressroom.example/pressroom/internal/network"
)

// Commit creates the post's record. Without gates, sending the same record again succeeds without creating a second
// post. If the server has a different record with the key, Commit changes nothing and returns an OutcomeUnknown error.
func (n *Network) Commit(
	ctx context.Context, g network.Grant, d network.Draft, _ network.Files,
) (network.Receipt, error) {
	post, rec, err := readPrepared(d)
	if err != nil {
		return network.Receipt{}, err
	}
	if len(post.Gates) > 0 {
		return n.commitWithGates(ctx, g, post, rec)
	}
	var response struct {
		URI string `json:"uri"`
	}
	err = n.call(ctx, call{
		purpose: network.PurposeCommit,
		verb:    http.MethodPost,
		method:  "com.atproto.repo.putRecord",
		server:  g.Server,
		token:   g.AccessToken,
		in: struct {
			Repo       string          `json:"repo"`
			Collection string          `json:"collection"`
			RKey       string          `json:"rkey"`
			Record     json.RawMessage `json:"record"`
			SwapRecord *string         `json:"swapRecord"` // null: only create, never replace
		}{g.Account, postCollection, post.RKey, post.Record, nil},
		out: &response,
	})
	if err != nil {
		return network.Receipt{}, err
	}
	receipt := n.receipt(g, post.RKey, rec)
	if response.URI != receipt.ID {
		return network.Receipt{}, &network.Error{
			Class: network.OutcomeUnknown, Status: http.StatusOK,
			Err: errors.New("creating the record: the response is for another record"),
		}
	}
	return receipt, nil
}

// Resolve reads the record with the post's key. The same record means Published. No record means Absent. The key is
// part of the Draft, so committing the Draft cannot create a second post even if an earlier call is still in progress.
//
// A different record with the key was most likely published by an earlier Commit and edited later. Resolve then returns
// Unknown with an OutcomeUnknown error of code RecordDiffers, and a person has to decide. The server rejects every
// repeat, and a new key could publish the post twice.
func (n *Network) Resolve(
	ctx context.Context, g network.Grant, d network.Draft, _ network.CommitHistory,
) (network.Verdict, network.Receipt, error) {
	post, rec, err := readPrepared(d)
	if err != nil {
		return network.Unknown, network.Receipt{}, err
	}
	existing, err := n.getRecord(ctx, g, post.RKey)
	if isMissing(err) {
		return network.Absent, network.Receipt{}, nil
	}
	if err != nil {
		return network.Unknown, network.Receipt{}, err
	}
	same, err := sameJSON(existing.Value, post.Record)
	if err != nil {
		return network.Unknown, network.Receipt{}, network.InvalidResponse(fmt.Errorf("comparing the record: %w", err))
	}
	if !same {
		return network.Unknown, network.Receipt{}, &network.Error{
			Class: network.OutcomeUnknown, Status: http.StatusOK, Code: "RecordDiffers",
			Err: errors.New("another record has the post's key; compare it with the post on Bluesky"),
		}
	}
	return network.Published, n.receipt(g, post.RKey, rec), nil
}

// Permalink returns the receipt's permalink, which Commit and Resolve always set.
func (n *Network) Permalink(_ context.Context, _ network.Grant, r network.Receipt) (string, error) {
	return r.Permalink, nil
}

// storedRecord is a record on the server.
type storedRecord struct {
	CID   string          `json:"cid"`
	Value json.RawMessage `json:"value"`
}

// getRecord reads one of the account's posts.
func (n *Network) getRecord(ctx context.Context, g network.Grant, rkey string) (storedRecord, error) {
	return n.readRecord(ctx, g, g.Account, postCollection, rkey)
}

// readRecord reads a record of any repository. It sends no token, because records are public. The account's server
// forwards requests for repositories of other servers.
func (n *Network) readRecord(ctx context.Context, g network.Grant, repo, collection, rkey string) (storedRecord, error) {
	var rec storedRecord
	err := n.call(ctx, call{
		purpose: network.PurposeRead,
		verb:    http.MethodGet,
		method:  "com.atproto.repo.getRecord",
		server:  g.Server,
		params:  url.Values{"repo": {repo}, "collection": {collection}, "rkey": {rkey}},
		out:     &rec,
	})
	return rec, err
}

func (n *Network) receipt(g network.Grant, rkey string, rec record) network.Receipt {
	at, _ := time.Parse(time.RFC3339, rec.CreatedAt) // zero if unknown
	return network.Receipt{
		ID:        "at://" + g.Account + "/" + postCollection + "/" + rkey,
		Permalink: n.opts.WebURL + "/profile/" + url.PathEscape(g.Username) + "/post/" + rkey,
		At:        at,
	}
}

// sameJSON reports whether a and b have the same value. A server may return the fields in a different order.
func sameJSON(a, b json.RawMessage) (bool, error) {
	left, err := decodeAny(a)
	if err != nil {
		return false, err
	}
	right, err := decodeAny(b)
	if err != nil {
		return false, err
	}
	return reflect.DeepEqual(left, right), nil
}

func decodeAny(raw json.RawMessage) (any, error) {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil, fmt.Errorf("reading a record: %w", err)
	}
	return value, nil
}
