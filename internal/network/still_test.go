package network_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"pressroom/internal/network"
)

// What may not be sent any more once there is a connection is not sent, and counts as sent for all that is known.
func TestStill(t *testing.T) {
	t.Parallel()
	var heard []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // it did not come whole: no network can act on it
		}
		heard = append(heard, string(body))
		_, _ = w.Write([]byte("{}"))
	}))
	defer server.Close()
	client := network.NewClient(server.Client())
	late := errors.New("too late")
	const always = 1 << 20
	call := func(purpose network.Purpose, text string, times int) error {
		asked := 0
		ctx := network.Still(t.Context(), func() error {
			if asked++; asked > times {
				return late
			}
			return nil
		})
		_, err := client.Do(ctx,
			network.Call{Purpose: purpose, Name: "post", Method: http.MethodPost, URL: server.URL, JSON: map[string]string{"text": text}})
		return err
	}
	long := strings.Repeat("bread ", 50_000)
	for name, step := range map[string]struct {
		purpose network.Purpose
		text    string
		times   int // that it may be sent
		heard   bool
	}{
		"in time": {network.Committing, "bread", always, true}, "late": {network.Committing, "bread", 0, false},
		"nothing that shows": {network.Signing, "bread", 0, true},
		"long, in time":      {network.Committing, long, always, true}, "long, late in its midst": {network.Committing, long, 3, false},
	} {
		before := len(heard)
		err := call(step.purpose, step.text, step.times)
		if failed, ok := errors.AsType[*network.Error](err); errors.Is(err, late) == step.heard || ok && failed.Class != network.Uncertain {
			t.Errorf("%s: %v", name, err)
		}
		if got := len(heard) - before; (got == 1) != step.heard {
			t.Errorf("%s: %d heard", name, got)
		}
	}
}
