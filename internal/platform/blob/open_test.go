package blob

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/testkit/must"
	"pressroom.example/pressroom/internal/testkit/s3"
)

// wantOpenError checks that Open fails with an error that contains want and no secret.
func wantOpenError(t *testing.T, url string, opts Options, want string) {
	t.Helper()
	_, err := Open(t.Context(), url, opts)
	if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("opening %s: %v, want %q", url, err, want)
	}
}

func TestOpenRejectsURLs(t *testing.T) {
	given := Options{Credentials: Credentials{ID: "id", Secret: "hunter2"}}
	for url, want := range map[string]string{
		"": "must be file:FOLDER", "files": "must be file:FOLDER", "http://files": "must be file:FOLDER", "file:": "file:/var/lib",
		"file://host/files": "file:/var/lib", "s3:files": "s3://BUCKET/PREFIX", "s3://": "s3://BUCKET/PREFIX",
		"s3://id:hunter2@files": "without credentials",
		"s3://files:80":         "s3://BUCKET/PREFIX", "s3://files/UP": "the prefix", "s3://files/..": "the prefix",
		"s3://files?acl=public":        "parameters endpoint and region",
		"s3://files?region=a&region=b": "each at most once", "s3://files?%zz": "cannot be parsed",
		"s3://files?endpoint=host":                    "the endpoint must be",
		"s3://files?endpoint=https://host/path":       "the endpoint must be",
		"s3://files?endpoint=https://id:hunter2@host": "the endpoint must be",
		"s3://UP?endpoint=https://127.0.0.1:1":        "bucket",
	} {
		wantOpenError(t, url, given, want)
	}
}

func TestOpenRejectsFolders(t *testing.T) {
	dir := t.TempDir()
	file, closed := filepath.Join(dir, "file"), filepath.Join(dir, "closed")
	must.NoError(t, os.WriteFile(file, nil, 0o600))
	must.NoError(t, os.Mkdir(closed, 0o500))
	wantOpenError(t, "file:"+file, Options{}, "create the folder "+file)
	wantOpenError(t, "file:"+filepath.Join(dir, "no", "such"), Options{}, "create the folder "+dir)
	if os.Geteuid() != 0 { // root can access every folder
		wantOpenError(t, "file:"+closed, Options{}, "create the folder "+closed)
	}
	wantOpenError(t, "s3://files", Options{Scratch: file}, "create the folder "+file)
}

func TestOpenRejectsBuckets(t *testing.T) {
	t.Parallel()
	s := s3.Start(t)
	bucket := s.Bucket(t)
	given := Credentials{ID: s.ID, Secret: s.Secret}
	wantOpenError(t, s.URL("none-such"), Options{Credentials: given}, "create the bucket none-such")
	wantOpenError(t, bucket, Options{Credentials: Credentials{ID: "nobody", Secret: "hunter2"}}, "credentials")
	wantOpenError(t, bucket, Options{Credentials: Credentials{ID: s.ID, Secret: "hunter2"}}, "credentials")
	unreachable := strings.Replace(bucket, strings.TrimPrefix(s.Endpoint, "http://127.0.0.1:"), "1", 1)
	wantOpenError(t, unreachable, Options{Credentials: given}, "can be reached")
}

// The test is not parallel because it changes the environment.
func TestEnvironmentCredentials(t *testing.T) {
	s := s3.Start(t)
	t.Setenv("AWS_ACCESS_KEY_ID", s.ID)
	t.Setenv("AWS_SECRET_ACCESS_KEY", s.Secret)
	open(t, s.Bucket(t), Options{})
}
