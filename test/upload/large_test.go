package upload

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/testkit/must"
	"pressroom.example/pressroom/internal/testkit/program"
)

const (
	largeSize    = int64(1) << 30
	maxMemory    = int64(100) << 20
	pollInterval = 10 * time.Millisecond
)

// Uploading a gigabyte needs little memory.
func TestLargeUploadMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("sends a gigabyte")
	}
	s := newSite(t, program.Build(t, program.Pressroom, ""))
	p := s.start(t, "", "")
	if _, err := os.Stat(p.status()); err != nil {
		t.Skip("this system does not report the memory of a process")
	}
	small, whole := newVideo(1, 1<<20), newVideo(2, largeSize)
	links := p.mustOpen(t, small, whole).Data.Upload.Uploads
	if status, err := p.put(t.Context(), links[0], small.reader(), small.size); status != http.StatusCreated {
		t.Fatalf("%d, %v", status, err)
	}
	idle := p.memory(t, "VmRSS")
	done, highest := make(chan int64), int64(0)
	go func() {
		defer close(done)
		status, err := p.put(t.Context(), links[1], whole.reader(), whole.size)
		if status != http.StatusCreated {
			t.Errorf("%d, %v", status, err)
		}
	}()
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for sending := true; sending; {
		highest = max(highest, p.memory(t, "VmRSS"))
		select {
		case <-done:
			sending = false
		case <-tick.C:
		}
	}
	peak := p.memory(t, "VmHWM")
	t.Logf("idle %d MiB, at most %d MiB during the upload, %d MiB at its peak", idle>>20, highest>>20, peak>>20)
	if highest-idle > maxMemory || peak-idle > maxMemory {
		t.Errorf("%d bytes more than idle during the upload, %d at the peak", highest-idle, peak-idle)
	}
	if got := s.digest(t, whole); got != whole.digest {
		t.Errorf("stored digest %s, want %s", got, whole.digest)
	}
}

func (p *process) status() string { return fmt.Sprintf("/proc/%d/status", p.Process.Process.Pid) }

// memory returns a metric of the process, in bytes.
func (p *process) memory(t *testing.T, name string) int64 {
	t.Helper()
	raw := must.Get(os.ReadFile(p.status()))(t)
	_, rest, _ := strings.Cut(string(raw), name+":")
	var kib int64
	if _, err := fmt.Sscanf(rest, "%d kB", &kib); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return kib << 10
}

// digest returns the digest of the stored file with the name of a file.
func (s site) digest(t *testing.T, f file) string {
	t.Helper()
	found := must.Get(filepath.Glob(filepath.Join(s.files(), "*", f.digest[:2], f.digest+".*")))(t)
	if len(found) != 1 {
		t.Fatalf("stored files %v", found)
	}
	stored := must.Get(os.Open(found[0]))(t)
	defer stored.Close()
	sum := sha256.New()
	must.Get(io.Copy(sum, stored))(t)
	return hex.EncodeToString(sum.Sum(nil))
}
