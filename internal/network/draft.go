package network

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// DraftCodec encodes one network's drafts, which are values of type D, as JSON. It also decodes them.
type DraftCodec[D any] struct {
	Kind       string        // for error messages, such as "a pin"
	Validate   func(D) error // rejects drafts of other networks
	IsPrepared func(D) bool  // reports whether the draft is ready for Commit
}

// Plan encodes the first draft of a publication.
func (c DraftCodec[D]) Plan(first D) (Draft, error) {
	draft, err := c.Encode(first)
	if err != nil {
		return nil, fmt.Errorf("planning %s: %w", c.Kind, err)
	}
	return draft, nil
}

// Encode returns the draft's JSON.
func (DraftCodec[D]) Encode(draft D) (Draft, error) {
	encoded, err := json.Marshal(draft)
	if err != nil {
		return nil, fmt.Errorf("encoding the draft: %w", err)
	}
	return encoded, nil
}

// Prepare applies advance to a draft and returns the changed draft. advance returns the wait before the next step, or 0
// if the draft is ready. If advance fails, its changes are discarded.
func (c DraftCodec[D]) Prepare(d Draft, advance func(*D) (time.Duration, error)) (Draft, time.Duration, error) {
	draft, err := c.decode(d)
	if err != nil {
		return nil, 0, err
	}
	wait, err := advance(&draft)
	if err != nil {
		return nil, 0, err
	}
	encoded, err := c.Encode(draft)
	if err != nil {
		return nil, 0, PermanentError(err)
	}
	return encoded, wait, nil
}

// Decode decodes a draft, whether it is prepared or not.
func (c DraftCodec[D]) Decode(d Draft) (D, error) { return c.decode(d) }

// DecodePrepared decodes a draft. It returns an error if Prepare has not completed the draft.
func (c DraftCodec[D]) DecodePrepared(d Draft) (D, error) {
	draft, err := c.decode(d)
	if err == nil && !c.IsPrepared(draft) {
		err = PermanentError(errors.New("the draft is not prepared"))
	}
	return draft, err
}

func (c DraftCodec[D]) decode(d Draft) (D, error) {
	var draft, zero D
	if err := json.Unmarshal(d, &draft); err != nil {
		return zero, PermanentError(fmt.Errorf("decoding the draft: %w", err))
	}
	if err := c.Validate(draft); err != nil {
		return zero, PermanentError(err)
	}
	return draft, nil
}
