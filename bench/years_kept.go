package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// kept is what a run notes of a filled database that it leaves to the next one.
type kept struct {
	URL, Middle  string
	Teams        int
	Large, Usual dataset
}

// leave notes down what the next run has to know, and has the database stay.
func (d *decade) leave(s storage, note string) error {
	raw, err := json.Marshal(kept{d.url, d.middle, d.teams, d.large, d.usual})
	if err != nil {
		return fmt.Errorf("noting a filled database down: %w", err)
	}
	if err := os.WriteFile(note, raw, 0o600); err != nil {
		return fmt.Errorf("noting a filled database down: %w", err)
	}
	s.keep(d.url)
	return nil
}

// left is the database that an earlier run noted down, and whether there is one of so many teams.
func left(ctx context.Context, s storage, note string, teams int) (*decade, bool, error) {
	raw, err := os.ReadFile(note)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("looking for a filled database: %w", err)
	}
	var k kept
	if err := json.Unmarshal(raw, &k); err != nil {
		return nil, false, fmt.Errorf("looking for a filled database: %w", err)
	}
	if _, err := s.size(ctx, k.URL); err != nil || k.Teams != teams {
		return nil, false, nil //nolint:nilerr // it is filled anew
	}
	return &decade{url: k.URL, middle: k.Middle, teams: k.Teams, large: k.Large, usual: k.Usual}, true, nil
}
