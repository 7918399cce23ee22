package restoreguard_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/platform/restoreguard"
)

// TestFailover checks that a connection to a server on another timeline puts the database on hold, unless failovers are
// trusted.
func TestFailover(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		trust     bool
		timelines []string // of successive connections; empty if unknown
		held      int
	}{
		"the same server": {timelines: []string{"00000001", "00000001"}},
		"a replica":       {timelines: []string{"00000001", "00000002", "00000002"}, held: 1},
		"two replicas":    {timelines: []string{"0000000F", "00000010", "00000011"}, held: 2},
		"trusted":         {trust: true, timelines: []string{"00000001", "00000002"}},
		"unknown":         {timelines: []string{"", "00000001", "", "00000001"}},
	} {
		f, held := restoreguard.NewFailoverCheck(c.trust), 0
		for _, timeline := range c.timelines {
			exec := func(query string, _ ...any) error {
				if strings.Contains(query, "failed_over") {
					held++
				}
				return nil
			}
			queryRow := func(_ string, dest ...any) error {
				if timeline == "" {
					return errors.New("permission denied")
				}
				_, err := fmt.Sscan(timeline, dest[0])
				return err
			}
			if err := f.CheckConnection(t.Context(), exec, queryRow); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		if held != c.held {
			t.Errorf("%s: held %d times, want %d", name, held, c.held)
		}
	}
	f := restoreguard.NewFailoverCheck(false)
	answer := func(timeline string) func(string, ...any) error {
		return func(_ string, dest ...any) error { _, err := fmt.Sscan(timeline, dest[0]); return err }
	}
	broken := func(string, ...any) error { return errors.New("read-only") }
	if err := f.CheckConnection(t.Context(), broken, answer("00000001")); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := f.CheckConnection(t.Context(), broken, answer("00000002")); err == nil {
			t.Error("a connection is used although the hold failed")
		}
	}
}

// TestReplicaRejected checks that a connection to a replica fails as if the database were unreachable.
func TestReplicaRejected(t *testing.T) {
	t.Parallel()
	exec := func(string, ...any) error { return nil }
	queryRow := func(query string, dest ...any) error {
		if strings.Contains(query, "pg_is_in_recovery") {
			_, err := fmt.Sscan("true", dest[0])
			return err
		}
		return errors.New("recovery is in progress")
	}
	if err := restoreguard.NewFailoverCheck(true).CheckConnection(t.Context(), exec, queryRow); err == nil || !db.IsUnavailable(err) {
		t.Errorf("a replica: %v", err)
	}
}
