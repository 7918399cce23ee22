package bluesky

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"pressroom.example/pressroom/internal/network"
)

// write creates one record in a call of com.atproto.repo.applyWrites.
type write struct {
	Type       string          `json:"$type"`
	Collection string          `json:"collection"`
	RKey       string          `json:"rkey"`
	Value      json.RawMessage `json:"value"`
}

// commitWithGates creates the post together with its gates, so that the post is never visible without them. The server
// rejects a repeat, because the records exist; Resolve then finds the post.
func (n *Network) commitWithGates(ctx context.Context, g network.Grant, post draft, rec record) (network.Receipt, error) {
	const create = "com.atproto.repo.applyWrites#create"
	writes := []write{{create, postCollection, post.RKey, post.Record}}
	for _, gateRecord := range post.Gates {
		writes = append(writes, write{create, gateRecord.Collection, post.RKey, gateRecord.Record})
	}
	var response struct {
		Results []struct {
			URI string `json:"uri"`
		} `json:"results"`
	}
	err := n.call(ctx, call{
		purpose: network.PurposeCommit, verb: http.MethodPost, method: "com.atproto.repo.applyWrites", server: g.Server,
		token: g.AccessToken,
		in: struct {
			Repo   string  `json:"repo"`
			Writes []write `json:"writes"`
		}{g.Account, writes},
		out: &response,
	})
	if err != nil {
		return network.Receipt{}, err
	}
	receipt := n.receipt(g, post.RKey, rec)
	if len(response.Results) != len(writes) || response.Results[0].URI != receipt.ID {
		return network.Receipt{}, &network.Error{
			Class: network.OutcomeUnknown, Status: http.StatusOK,
			Err: errors.New("creating the records: the response is for other records"),
		}
	}
	return receipt, nil
}
