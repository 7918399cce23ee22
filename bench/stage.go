package main

import (
	"context"
	"errors"
	"slices"
)

// testEnv holds the servers and databases of one measurement.
type testEnv struct{ cleanups []func() error }

// withTestEnv runs a measurement in a new environment and closes the environment.
func withTestEnv(run func(*testEnv) error) error {
	var st testEnv
	return errors.Join(run(&st), st.close())
}

// close stops and removes the environment's servers and databases, last first.
func (s *testEnv) close() error {
	var errs []error
	for _, end := range slices.Backward(s.cleanups) {
		errs = append(errs, end())
	}
	s.cleanups = nil
	return errors.Join(errs...)
}

// database copies a seeded database. Closing the environment removes the copy.
func (s *testEnv) database(ctx context.Context, from storage, posts int, label string) (string, dataset, error) {
	url, data, err := from.copy(ctx, posts, label)
	if err != nil {
		return "", data, err
	}
	s.cleanups = append(s.cleanups, func() error { return from.drop(context.WithoutCancel(ctx), url) })
	return url, data, nil
}

// ours starts pressroom on its own copy of a database and pauses it until it is measured.
func (s *testEnv) ours(ctx context.Context, binary string, from storage, posts int) (*process, error) {
	url, data, err := s.database(ctx, from, posts, "ours")
	if err != nil {
		return nil, err
	}
	p, err := startOurs(ctx, binary, url, data)
	if err != nil {
		return nil, err
	}
	s.cleanups = append(s.cleanups, p.stop)
	return p, p.pause()
}

// floor starts the floor on its own copy of a database.
func (s *testEnv) floor(ctx context.Context, from storage, posts int) (*process, error) {
	url, data, err := s.database(ctx, from, posts, "floor")
	if err != nil {
		return nil, err
	}
	p, err := startFloor(ctx, url, data)
	if err != nil {
		return nil, err
	}
	s.cleanups = append(s.cleanups, p.stop)
	return p, nil
}
