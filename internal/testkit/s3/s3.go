// Package s3 runs versitygw, an S3 server, for a test. The server is built from the module in tools/s3, listens on a
// loopback address, and stores its data in a temporary folder.
package s3

import (
	"crypto/rand"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Region is the S3 region that every Server uses.
const Region = "us-east-1"

// Server is the S3 server of one test.
type Server struct {
	Endpoint   string // base URL, without a trailing slash
	ID, Secret string // access key
	folder     string
}

// Start runs a server until the test ends. The test is skipped with -short. If the server cannot be built, the test is
// skipped, or fails if CI=true.
func Start(tb testing.TB) *Server {
	tb.Helper()
	if testing.Short() {
		tb.Skip("this test builds and runs an S3 server")
	}
	program := serverProgram(tb)
	s := &Server{ID: rand.Text(), Secret: rand.Text(), folder: tb.TempDir()}
	running, err := launch(program, s)
	if err != nil {
		tb.Fatalf("starting the S3 server: %v", err)
	}
	tb.Cleanup(running.kill)
	return s
}

// Bucket creates a bucket and returns its URL for package blob, s3://BUCKET?endpoint=…&region=….
func (s *Server) Bucket(tb testing.TB) string {
	tb.Helper()
	name := "test-" + strings.ToLower(rand.Text())
	if err := os.Mkdir(filepath.Join(s.folder, name), 0o700); err != nil { // versitygw's buckets are folders
		tb.Fatalf("creating a bucket: %v", err)
	}
	return s.URL(name)
}

// URL returns the URL of a bucket, which need not exist.
func (s *Server) URL(bucket string) string {
	return "s3://" + bucket + "?" + url.Values{"endpoint": {s.Endpoint}, "region": {Region}}.Encode()
}
