package bluesky

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"pressroom.example/pressroom/internal/sandbox/marker"
	"pressroom.example/pressroom/internal/sandbox/store"
)

// ruleMembers maps each collection of gates to the member that contains a gate's rules.
var ruleMembers = map[string]string{
	"app.bsky.feed.threadgate": "allow", "app.bsky.feed.postgate": "embeddingRules",
}

// gate is a valid record that restricts who can reply to a post or quote it.
type gate struct {
	collection, rkey string
	body             []byte // JSON with sorted members
	cid              string
}

// parseGate parses a gate and checks it against its lexicon.
func parseGate(in recordInput) (gate, error) {
	invalid := func(format string, args ...any) (gate, error) {
		return gate{}, invalidRequest("Invalid "+in.Collection+" record: "+format, args...)
	}
	decoder := json.NewDecoder(bytes.NewReader(in.Record))
	decoder.UseNumber()
	var members map[string]any
	if err := decoder.Decode(&members); err != nil || members == nil {
		return invalid("Expected object value type at $.record")
	}
	if uri, _ := members["post"].(string); !uriPattern.MatchString(uri) {
		return invalid("Missing or invalid AT-URI at $.record.post")
	}
	created, _ := members["createdAt"].(string)
	if _, err := time.Parse(time.RFC3339, created); err != nil {
		return invalid("Missing or invalid datetime at $.record.createdAt")
	}
	if value, given := members[ruleMembers[in.Collection]]; given {
		rules, ok := value.([]any)
		if !ok || len(rules) > 5 {
			return invalid("Expected an array of at most 5 rules at $.record.%s", ruleMembers[in.Collection])
		}
		for _, value := range rules {
			rule, _ := value.(map[string]any)
			if _, ok := rule["$type"].(string); !ok {
				return invalid(`Expected an object which includes the "$type" property at $.record.%s`, ruleMembers[in.Collection])
			}
		}
	}
	members["$type"] = in.Collection
	body, err := json.Marshal(members)
	if err != nil {
		return gate{}, fmt.Errorf("writing a gate: %w", err)
	}
	return gate{in.Collection, in.RKey, body, store.ContentID(body)}, nil
}

// applyWrites creates a post together with its gates. The sandbox supports no other writes.
func (b *Network) applyWrites(r *http.Request) (any, error) {
	if _, err := b.bearer(r, accessType); err != nil {
		return nil, err
	}
	var in struct {
		Repo   string `json:"repo"`
		Writes []struct {
			Type       string          `json:"$type"`
			Collection string          `json:"collection"`
			RKey       string          `json:"rkey"`
			Value      json.RawMessage `json:"value"`
		} `json:"writes"`
	}
	if err := readInput(r, &in); err != nil {
		return nil, err
	}
	w := write{create: true}
	for i, op := range in.Writes {
		input := recordInput{Repo: in.Repo, Collection: op.Collection, RKey: op.RKey, Record: op.Value}
		if op.Type != "com.atproto.repo.applyWrites#create" || (i == 0) != (op.Collection == collection) ||
			i > 0 && ruleMembers[op.Collection] == "" {
			return nil, invalidRequest("The sandbox creates only one post, followed by its gates")
		}
		if i > 0 {
			g, err := parseGate(input)
			if err != nil {
				return nil, err
			}
			w.gates = append(w.gates, g)
			continue
		}
		if err := input.check(); err != nil {
			return nil, err
		}
		rec, err := parseRecord(op.Value)
		if err != nil {
			return nil, err
		}
		w.input, w.record, w.markerKey = input, rec, op.RKey
	}
	if len(in.Writes) == 0 {
		return nil, invalidRequest("The sandbox creates only one post, followed by its gates")
	}
	return b.publishWithGates(r, w)
}

func (b *Network) publishWithGates(r *http.Request, w write) (any, error) {
	type result struct {
		Type             string `json:"$type"`
		URI              string `json:"uri"`
		CID              string `json:"cid"`
		ValidationStatus string `json:"validationStatus"`
	}
	var response writeResponse
	_, err := b.PublishInTx(r.Context(), errClosing, func(t store.Tx, waited bool) (marker.Outcome, error) {
		return b.tryWrite(r, t, w, waited, &response)
	})
	if err != nil {
		return nil, err
	}
	const resultType = "com.atproto.repo.applyWrites#createResult"
	results := []result{{resultType, response.URI, response.CID, response.ValidationStatus}}
	repo := response.URI[:len(response.URI)-len("/"+collection+"/"+w.input.RKey)]
	for _, g := range w.gates {
		results = append(results, result{resultType, repo + "/" + g.collection + "/" + g.rkey, g.cid, "valid"})
	}
	return map[string]any{"commit": response.Commit, "results": results}, nil
}

// saveGates stores a post's gates.
func saveGates(ctx context.Context, t store.Tx, did string, gates []gate) error {
	for _, g := range gates {
		err := t.SaveRecord(ctx, Name, did, "at://"+did+"/"+g.collection+"/"+g.rkey, store.Record{Version: g.cid, Body: g.body})
		if err != nil {
			return err
		}
	}
	return nil
}
