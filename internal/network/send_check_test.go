package network_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/network"
)

// If the check fails after the connection was opened, the request is not sent and its outcome counts as unknown.
func TestSendCheck(t *testing.T) {
	t.Parallel()
	var received []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // incomplete, so no network can act on it
		}
		received = append(received, string(body))
		_, _ = w.Write([]byte("{}"))
	}))
	defer server.Close()
	client := network.NewClient(server.Client())
	late := errors.New("too late")
	const always = 1 << 20
	call := func(purpose network.Purpose, text string, times int) error {
		checks := 0
		ctx := network.WithSendCheck(t.Context(), func() error {
			if checks++; checks > times {
				return late
			}
			return nil
		})
		_, err := client.Do(ctx, network.Call{
			Purpose: purpose, Name: "post", Method: http.MethodPost, URL: server.URL, JSON: map[string]string{"text": text},
		})
		return err
	}
	long := strings.Repeat("bread ", 50_000)
	for name, step := range map[string]struct {
		purpose network.Purpose
		text    string
		times   int // number of times that the check passes
		sent    bool
	}{
		"in time": {network.PurposeCommit, "bread", always, true}, "late": {network.PurposeCommit, "bread", 0, false},
		"publishes nothing":       {network.PurposeAuthorize, "bread", 0, true},
		"long body, check passes": {network.PurposeCommit, long, always, true},
		"long body, late check":   {network.PurposeCommit, long, 3, false},
	} {
		before := len(received)
		err := call(step.purpose, step.text, step.times)
		netErr, ok := errors.AsType[*network.Error](err)
		if errors.Is(err, late) == step.sent || ok && netErr.Class != network.OutcomeUnknown {
			t.Errorf("%s: %v", name, err)
		}
		if got := len(received) - before; (got == 1) != step.sent {
			t.Errorf("%s: %d received", name, got)
		}
	}
}
