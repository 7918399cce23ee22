package main

import (
	"context"
	"errors"
	"slices"
)

// stage is what runs for one measurement: servers on databases of their own, torn down in the end.
type stage struct{ ends []func() error }

// close tears down what was set up, the last first.
func (s *stage) close() error {
	var errs []error
	for _, end := range slices.Backward(s.ends) {
		errs = append(errs, end())
	}
	s.ends = nil
	return errors.Join(errs...)
}

// database makes a copy of a seeded database that goes with the stage.
func (s *stage) database(ctx context.Context, from storage, posts int, label string) (string, dataset, error) {
	url, data, err := from.copy(ctx, posts, label)
	if err != nil {
		return "", data, err
	}
	s.ends = append(s.ends, func() error { return from.drop(context.WithoutCancel(ctx), url) })
	return url, data, nil
}

// ours starts the program on a database of its own; it rests until it is measured.
func (s *stage) ours(ctx context.Context, binary string, from storage, posts int) (*process, error) {
	url, data, err := s.database(ctx, from, posts, "ours")
	if err != nil {
		return nil, err
	}
	p, err := startOurs(ctx, binary, url, data)
	if err != nil {
		return nil, err
	}
	s.ends = append(s.ends, p.stop)
	return p, p.pause()
}

// floor starts the floor on a database of its own.
func (s *stage) floor(ctx context.Context, from storage, posts int) (*process, error) {
	url, data, err := s.database(ctx, from, posts, "floor")
	if err != nil {
		return nil, err
	}
	p, err := startFloor(ctx, url, data)
	if err != nil {
		return nil, err
	}
	s.ends = append(s.ends, p.stop)
	return p, nil
}
