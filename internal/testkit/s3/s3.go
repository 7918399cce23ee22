// Package s3 gives tests a genuine server of S3's protocol on loopback: versitygw, built from tools/s3, with a folder
// for its data.
package s3

import (
	"crypto/rand"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Region is the servers' region.
const Region = "us-east-1"

// Server is a server of one test.
type Server struct {
	Endpoint   string // base URL, without a slash at its end
	ID, Secret string // its one access key
	folder     string
}

// Start runs a server until the test ends. Without Go to build it, or in a short run, the test is skipped; with CI=true
// a want is a failure.
func Start(tb testing.TB) *Server {
	tb.Helper()
	if testing.Short() {
		tb.Skip("skipped in a short run, as this test builds and runs a server of S3")
	}
	program := serverProgram(tb)
	s := &Server{ID: rand.Text(), Secret: rand.Text(), folder: tb.TempDir()}
	var running *process
	var err error
	for range 20 { // another may take the port between our finding it and the server's
		if running, err = launch(program, s); err == nil {
			tb.Cleanup(running.kill)
			return s
		}
	}
	tb.Fatalf("starting the server of S3: %v", err)
	return nil
}

// Bucket makes a bucket and returns its URL as package blob takes it, s3://BUCKET?endpoint=…&region=….
func (s *Server) Bucket(tb testing.TB) string {
	tb.Helper()
	name := "test-" + strings.ToLower(rand.Text())
	if err := os.Mkdir(filepath.Join(s.folder, name), 0o700); err != nil { // what a bucket is to this server
		tb.Fatalf("making a bucket: %v", err)
	}
	return s.URL(name)
}

// URL is that of a bucket, which need not be there.
func (s *Server) URL(bucket string) string {
	return "s3://" + bucket + "?" + url.Values{"endpoint": {s.Endpoint}, "region": {Region}}.Encode()
}
