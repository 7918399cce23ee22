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

	"pressroom.example/pressroom/internal/testkit/must"
	"pressroom.example/pressroom/internal/testkit/s3"
)

func TestIsUnavailable(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err         error
		unavailable bool
	}{
		"the disk is full":   {fmt.Errorf("writing: %w", syscall.ENOSPC), true},
		"the disk fails":     {syscall.EIO, true},
		"S3 is unavailable":  {minio.ErrorResponse{StatusCode: 503}, true},
		"S3 limits requests": {minio.ErrorResponse{StatusCode: 429}, true},
		"S3 denies access":   {minio.ErrorResponse{StatusCode: 403}, false},
		"no such blob":       {ErrNotFound, false},
		"another connection": {&net.OpError{Op: "read", Err: syscall.ECONNRESET}, false},
		"something else":     {errors.New("away"), false},
		"nothing":            {nil, false},
	} {
		if got := IsUnavailable(c.err); got != c.unavailable {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// A bucket whose server does not respond is unavailable until the server responds again.
func TestBucketRecovers(t *testing.T) {
	t.Parallel()
	var unavailable atomic.Bool
	s := s3.Start(t)
	front := proxy(t, s, func(*http.Request) bool { return unavailable.Load() })
	r := newBucket(t, front, front.Bucket(t))
	unavailable.Store(true)
	ctx, done := context.WithTimeout(t.Context(), 10*time.Second) // the client tries a few times
	defer done()
	if _, err := r.Open(ctx, "boats"); !IsUnavailable(err) {
		t.Errorf("opening: %v", err)
	}
	unavailable.Store(false)
	if _, err := r.Open(t.Context(), "boats"); !errors.Is(err, ErrNotFound) {
		t.Errorf("opening after the recovery: %v", err)
	}
}

// A folder that was moved or replaced is unavailable for writes and pings until it is moved back.
func TestFolderRecovers(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "files")
	f := open(t, "file:"+dir, Options{})
	tries := func() map[string]error {
		_, staged := f.Stage(t.Context())
		return map[string]error{"staging": staged, "pinging": f.Ping(t.Context())}
	}
	must.NoError(t, os.Rename(dir, dir+".away"))
	for what, err := range tries() {
		if !IsUnavailable(err) {
			t.Errorf("%s while the folder is missing: %v", what, err)
		}
	}
	must.NoError(t, os.Mkdir(dir, 0o700))
	for what, err := range tries() {
		if !IsUnavailable(err) {
			t.Errorf("%s while another folder is in its place: %v", what, err)
		}
	}
	must.NoError(t, errors.Join(os.Remove(dir), os.Rename(dir+".away", dir)))
	s, err := f.Stage(t.Context())
	if err != nil {
		t.Fatalf("after the recovery: %v", err)
	}
	s.Discard()
}
