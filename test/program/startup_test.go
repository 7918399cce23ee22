package program

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/must"
	"pressroom.example/pressroom/internal/testkit/postgres"
)

// A node waits for a database that starts later. The log reports a database that rejects the node or does not start.
func TestStartBeforeDatabase(t *testing.T) {
	t.Parallel()
	s := postgres.Start(t)
	url := s.Create("press")
	s.Stop()
	addr := must.Get(testkit.FreeAddr())(t)
	env := []string{"PRESSROOM_SEALING_KEY=" + newSealingKey(t), "PRESSROOM_BLOBS=file:" + filepath.Join(t.TempDir(), "media")}
	p := start(t, env, "serve", "--database", url, "--addr", addr, "--metrics-addr", "")
	awaited := make(chan int, 1)
	go func() { awaited <- answers(t, "http://"+addr+"/readyz") }() // the node listens before it connects to the database
	select {
	case status := <-awaited:
		t.Fatalf("status %d without a database", status)
	case <-time.After(2 * time.Second):
	}
	s.Start()
	if status := <-awaited; status != http.StatusOK {
		t.Fatalf("status %d: %s", status, p.log)
	}
	if status := p.end(); status != 0 {
		t.Errorf("exit status %d: %s", status, p.log)
	}
	began := time.Now()
	if said := fails(t, env, "serve", "--database", s.URL("nowhere"), "--addr", addr, "--metrics-addr",
		""); !strings.Contains(said, "nowhere") || time.Since(began) > 20*time.Second {
		t.Errorf("missing database, after %v: %s", time.Since(began), said)
	}
}

// answers waits at most a minute for a response from a URL and returns its status.
func answers(t *testing.T, url string) int {
	for began := time.Now(); time.Since(began) < time.Minute; <-time.After(20 * time.Millisecond) {
		if resp, err := http.Get(url); err == nil {
			resp.Body.Close()
			return resp.StatusCode
		}
	}
	t.Errorf("no response from %s within a minute", url)
	return 0
}
