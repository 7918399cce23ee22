package main

import (
	"context"
	"errors"
	"slices"
)

// testbed holds the servers and databases of one measurement.
type testbed struct{ cleanups []func() error }

// withTestbed runs a measurement with a new testbed, then closes the testbed.
func withTestbed(run func(*testbed) error) error {
	var tb testbed
	return errors.Join(run(&tb), tb.close())
}

// close stops the testbed's servers and removes its databases, in reverse order of their creation.
func (tb *testbed) close() error {
	var errs []error
	for _, cleanup := range slices.Backward(tb.cleanups) {
		errs = append(errs, cleanup())
	}
	tb.cleanups = nil
	return errors.Join(errs...)
}

// copyDatabase copies a seeded database. Closing the testbed removes the copy.
func (tb *testbed) copyDatabase(ctx context.Context, from storage, posts int, label string) (string, dataset, error) {
	url, data, err := from.copy(ctx, posts, label)
	if err != nil {
		return "", data, err
	}
	tb.cleanups = append(tb.cleanups, func() error { return from.drop(context.WithoutCancel(ctx), url) })
	return url, data, nil
}

// startPressroom starts pressroom on its own copy of a database and pauses it until it is measured.
func (tb *testbed) startPressroom(ctx context.Context, binary string, from storage, posts int) (*process, error) {
	url, data, err := tb.copyDatabase(ctx, from, posts, "ours")
	if err != nil {
		return nil, err
	}
	p, err := startPressroom(ctx, binary, url, data)
	if err != nil {
		return nil, err
	}
	tb.cleanups = append(tb.cleanups, p.stop)
	return p, p.pause()
}

// startFloor starts the floor (see package floor) on its own copy of a database.
func (tb *testbed) startFloor(ctx context.Context, from storage, posts int) (*process, error) {
	url, data, err := tb.copyDatabase(ctx, from, posts, "floor")
	if err != nil {
		return nil, err
	}
	p, err := startFloor(ctx, url, data)
	if err != nil {
		return nil, err
	}
	tb.cleanups = append(tb.cleanups, p.stop)
	return p, nil
}
