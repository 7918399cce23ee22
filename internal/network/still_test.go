package network_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
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
	var asked int
	call := func(purpose network.Purpose, may error) error {
		ctx := network.Still(t.Context(), func() error { asked++; return may })
		_, err := client.Do(ctx, network.Call{Purpose: purpose, Name: "post", Method: http.MethodPost, URL: server.URL, JSON: map[string]string{"text": "bread"}})
		return err
	}
	for _, step := range []struct {
		purpose      network.Purpose
		may          error
		asked, heard int
	}{{network.Committing, nil, 1, 1}, {network.Committing, late, 2, 1}, {network.Signing, late, 2, 2}, {network.Committing, nil, 3, 3}} {
		err := call(step.purpose, step.may)
		if refused := step.purpose == network.Committing && step.may != nil; refused != errors.Is(err, late) {
			t.Errorf("%+v: %v", step, err)
		}
		if failed, ok := errors.AsType[*network.Error](err); ok && failed.Class != network.Uncertain {
			t.Errorf("%+v: of class %s", step, failed.Class)
		}
		if asked != step.asked || len(heard) != step.heard {
			t.Errorf("%+v: asked %d times, heard %q", step, asked, heard)
		}
	}
}
