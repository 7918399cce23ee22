package program

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pressroom/internal/testkit"
	"pressroom/internal/testkit/must"
	"pressroom/internal/testkit/postgres"
)

// A node that starts before its database waits for it. If the database refuses it or does not start, the log says so.
func TestStartBeforeDatabase(t *testing.T) {
	t.Parallel()
	s := postgres.Start(t)
	url := s.Create("press")
	s.Stop()
	addr := must.Get(testkit.FreeAddr())(t)
	env := []string{"PRESSROOM_SEALING_KEY=" + newSealingKey(t), "PRESSROOM_BLOBS=file:" + filepath.Join(t.TempDir(), "media")}
	p := start(t, env, "serve", "--database", url, "--addr", addr, "--metrics-addr", "")
	awaited := make(chan int, 1)
	go func() { awaited <- answers(t, "http://"+addr+"/readyz") }() // it listens before it connects to its database
	select {
	case status := <-awaited:
		t.Fatalf("without its database it answered %d", status)
	case <-time.After(2 * time.Second):
	}
	s.Start()
	if status := <-awaited; status != http.StatusOK {
		t.Fatalf("it answered %d: %s", status, p.log)
	}
	if status := p.end(); status != 0 {
		t.Errorf("it ended with %d: %s", status, p.log)
	}
	began := time.Now()
	if said := fails(t, env, "serve", "--database", s.URL("nowhere"), "--addr", addr, "--metrics-addr",
		""); !strings.Contains(said, "nowhere") || time.Since(began) > 20*time.Second {
		t.Errorf("a database that is not there, after %v: %s", time.Since(began), said)
	}
}

// answers returns the status of the first answer at an address, for which it waits a minute.
func answers(t *testing.T, url string) int {
	for began := time.Now(); time.Since(began) < time.Minute; <-time.After(20 * time.Millisecond) {
		if resp, err := http.Get(url); err == nil {
			resp.Body.Close()
			return resp.StatusCode
		}
	}
	t.Errorf("nobody answered at %s for a minute", url)
	return 0
}
