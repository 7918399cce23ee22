package networktest

import (
	"net/http"
	"testing"
	"time"

	"pressroom/internal/network"
	"pressroom/internal/testkit"
)

// Prepare calls a network's Prepare as often as it asks for, moving the clock.
func Prepare(t *testing.T, clock *testkit.Clock, n network.Network, g network.Grant, d network.Draft, files network.Files) (network.Draft, error) {
	t.Helper()
	for range 50 {
		next, wait, err := n.Prepare(t.Context(), g, d, files)
		if err != nil || wait == 0 {
			return next, err //nolint:wrapcheck // it is what is tested
		}
		d = next
		clock.Advance(wait)
	}
	t.Fatal("never ready")
	return nil, nil
}

// StandsStill looks for a post, and lets an hour pass with each answer.
func StandsStill(t *testing.T, resolve func(network.App, network.Tried) (network.Verdict, network.Receipt, error)) {
	t.Helper()
	clock := testkit.NewClock(Start)
	tried := network.Tried{First: clock.Now(), Last: clock.Now()}
	clock.Advance(30 * time.Second)
	app := network.App{Now: clock.Now, Settled: network.Span(time.Minute), HTTP: &http.Client{Transport: passing{clock}}}
	if verdict, _, err := resolve(app, tried); verdict != network.Unknown || Class(err) != network.Processing {
		t.Errorf("verdict %v, %v", verdict, err)
	}
}
