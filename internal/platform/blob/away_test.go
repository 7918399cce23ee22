package blob

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"

	"pressroom/internal/testkit/s3"
)

func TestAway(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err  error
		away bool
	}{
		"the disk is full":     {fmt.Errorf("writing: %w", syscall.ENOSPC), true},
		"the disk fails":       {syscall.EIO, true},
		"S3 cannot serve":      {minio.ErrorResponse{StatusCode: 503}, true},
		"S3 is asked too much": {minio.ErrorResponse{StatusCode: 429}, true},
		"S3 refuses":           {minio.ErrorResponse{StatusCode: 403}, false},
		"no such blob":         {ErrNotFound, false},
		"somebody else's":      {&net.OpError{Op: "read", Err: syscall.ECONNRESET}, false},
		"something else":       {errors.New("away"), false},
		"nothing":              {nil, false},
	} {
		if got := Away(c.err); got != c.away {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// A bucket whose server's answers do not come is away for whatever is asked of it, and is there again with them.
func TestBucketGoesAndComes(t *testing.T) {
	t.Parallel()
	var away atomic.Bool
	s := s3.Start(t)
	front := between(t, s, func(*http.Request) bool { return away.Load() })
	r := newBucket(t, front, front.Bucket(t))
	away.Store(true)
	ctx, done := context.WithTimeout(t.Context(), 10*time.Second) // the client tries a few times
	defer done()
	if _, err := r.Open(ctx, "boats"); !Away(err) {
		t.Errorf("opening: %v", err)
	}
	away.Store(false)
	if _, err := r.Open(t.Context(), "boats"); !errors.Is(err, ErrNotFound) {
		t.Errorf("opening once it is there again: %v", err)
	}
}

// A folder that was moved, or in whose place another one lies, is away for whatever would be written, and says so when
// it is asked.
func TestFolderGoesAndComes(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "files")
	f := open(t, "file:"+dir, Options{})
	tries := func() map[string]error {
		_, staged := f.Stage(t.Context())
		return map[string]error{"staging": staged, "asking": f.Ping(t.Context())}
	}
	if err := os.Rename(dir, dir+".away"); err != nil {
		t.Fatal(err)
	}
	for what, err := range tries() {
		if !Away(err) {
			t.Errorf("%s while it is gone: %v", what, err)
		}
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for what, err := range tries() {
		if !Away(err) {
			t.Errorf("%s while another lies there: %v", what, err)
		}
	}
	if err := errors.Join(os.Remove(dir), os.Rename(dir+".away", dir)); err != nil {
		t.Fatal(err)
	}
	s, err := f.Stage(t.Context())
	if err != nil {
		t.Fatalf("once it is there again: %v", err)
	}
	s.Discard()
}
