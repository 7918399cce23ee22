package network

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// Drafts writes and reads one network's drafts, each of which is a D as JSON.
type Drafts[D any] struct {
	Of       string        // what is published, such as "a pin"
	Foreign  func(D) error // why it is no draft of this network; nil where it is one
	Prepared func(D) bool  // tells whether Commit has all that it needs
}

// Plan writes a publication's first draft.
func (s Drafts[D]) Plan(first D) (Draft, error) {
	planned, err := s.Write(first)
	if err != nil {
		return nil, fmt.Errorf("planning %s: %w", s.Of, err)
	}
	return planned, nil
}

// Write writes a draft.
func (Drafts[D]) Write(kept D) (Draft, error) {
	written, err := json.Marshal(kept)
	if err != nil {
		return nil, fmt.Errorf("writing the draft: %w", err)
	}
	return written, nil
}

// Prepare changes a draft by advance, which returns how long the network needs before the next step, or 0 when all are
// done. Where it fails, nothing of the change is kept.
func (s Drafts[D]) Prepare(d Draft, advance func(*D) (time.Duration, error)) (Draft, time.Duration, error) {
	kept, err := s.read(d)
	if err != nil {
		return nil, 0, err
	}
	wait, err := advance(&kept)
	if err != nil {
		return nil, 0, err
	}
	prepared, err := s.Write(kept)
	if err != nil {
		return nil, 0, Unusable(err)
	}
	return prepared, wait, nil
}

// Read reads a draft for the calls that come after Prepare.
func (s Drafts[D]) Read(d Draft) (D, error) {
	kept, err := s.read(d)
	if err == nil && !s.Prepared(kept) {
		err = Unusable(errors.New("the draft has not been prepared"))
	}
	return kept, err
}

func (s Drafts[D]) read(d Draft) (D, error) {
	var kept, none D
	if err := json.Unmarshal(d, &kept); err != nil {
		return none, Unusable(fmt.Errorf("reading the draft: %w", err))
	}
	if err := s.Foreign(kept); err != nil {
		return none, Unusable(err)
	}
	return kept, nil
}
