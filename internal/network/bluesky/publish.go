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

	"pressroom/internal/network"
)

// Commit creates the post's record. The server takes the same record again as often as it comes and keeps
// one; should it hold another record under the key, it changes nothing and the error is Uncertain.
func (n *Network) Commit(
	ctx context.Context, g network.Grant, d network.Draft, _ network.Files,
) (network.Receipt, error) {
	post, rec, err := readPrepared(d)
	if err != nil {
		return network.Receipt{}, err
	}
	var answer struct {
		URI string `json:"uri"`
	}
	err = n.call(ctx, call{
		purpose: network.Committing,
		verb:    http.MethodPost,
		method:  "com.atproto.repo.putRecord",
		server:  g.Server,
		token:   g.Access,
		in: struct {
			Repo       string          `json:"repo"`
			Collection string          `json:"collection"`
			RKey       string          `json:"rkey"`
			Record     json.RawMessage `json:"record"`
			SwapRecord *string         `json:"swapRecord"` // sent as null: only where there is none yet
		}{g.Account, collection, post.RKey, post.Record, nil},
		out: &answer,
	})
	if err != nil {
		return network.Receipt{}, err
	}
	receipt := n.receipt(g, post.RKey, rec)
	if answer.URI != receipt.ID {
		return network.Receipt{}, &network.Error{
			Class: network.Uncertain, Status: http.StatusOK,
			Err: errors.New("creating the record: the answer names another record"),
		}
	}
	return receipt, nil
}

// Resolve looks under the post's key. The same record there Stands. None is Absent: the key is part of the
// Draft, so committing the Draft cannot make a second post even if an earlier call is still under way.
//
// Another record there is neither. The key comes from our own seed, so most likely this publication did
// take effect and was edited afterwards; but what stands is not what was asked for. The answer is then
// Unknown with an Uncertain error of the code RecordDiffers, to be shown to a person: repeating is refused for
// ever, and a new key could show the post twice.
func (n *Network) Resolve(
	ctx context.Context, g network.Grant, d network.Draft, _ network.Tried,
) (network.Verdict, network.Receipt, error) {
	post, rec, err := readPrepared(d)
	if err != nil {
		return network.Unknown, network.Receipt{}, err
	}
	held, err := n.getRecord(ctx, g, post.RKey)
	var refused *network.Error
	if errors.As(err, &refused) && refused.Class == network.Rejected && refused.Code == "RecordNotFound" {
		return network.Absent, network.Receipt{}, nil
	}
	if err != nil {
		return network.Unknown, network.Receipt{}, err
	}
	same, err := sameJSON(held, post.Record)
	if err != nil {
		return network.Unknown, network.Receipt{}, network.Unreadable(fmt.Errorf("comparing the record: %w", err))
	}
	if !same {
		return network.Unknown, network.Receipt{}, &network.Error{
			Class: network.Uncertain, Status: http.StatusOK, Code: "RecordDiffers",
			Err: errors.New("another record stands under the post's key"),
		}
	}
	return network.Stands, n.receipt(g, post.RKey, rec), nil
}

// Permalink tells nothing new: a receipt of this network always has it.
func (n *Network) Permalink(_ context.Context, _ network.Grant, r network.Receipt) (string, error) {
	return r.Permalink, nil
}

// getRecord asks without a token: records are public, and a session that has ended must not keep us from
// learning what stands.
func (n *Network) getRecord(ctx context.Context, g network.Grant, rkey string) (json.RawMessage, error) {
	var answer struct {
		Value json.RawMessage `json:"value"`
	}
	err := n.call(ctx, call{
		purpose: network.Reading,
		verb:    http.MethodGet,
		method:  "com.atproto.repo.getRecord",
		server:  g.Server,
		params:  url.Values{"repo": {g.Account}, "collection": {collection}, "rkey": {rkey}},
		out:     &answer,
	})
	return answer.Value, err
}

func (n *Network) receipt(g network.Grant, rkey string, rec record) network.Receipt {
	at, _ := time.Parse(time.RFC3339, rec.CreatedAt) // zero where unknown, as the Receipt has it
	return network.Receipt{
		ID:        "at://" + g.Account + "/" + collection + "/" + rkey,
		Permalink: n.opts.WebURL + "/profile/" + url.PathEscape(g.Username) + "/post/" + rkey,
		At:        at,
	}
}

// sameJSON compares values, not bytes: a server gives members back in an order of its own.
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
