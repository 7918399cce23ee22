package blob

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pressroom/internal/testkit/s3"
)

// refused opens what cannot be opened; the error has to say what is wrong, and no secret.
func refused(t *testing.T, url string, opts Options, says string) {
	t.Helper()
	_, err := Open(t.Context(), url, opts)
	if err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("opening %s: %v, want %q", url, err, says)
	}
}

func TestOpenRefusesURLs(t *testing.T) {
	given := Options{Credentials: Credentials{ID: "id", Secret: "hunter2"}}
	for url, says := range map[string]string{
		"": "has to be file:FOLDER", "files": "has to be file:FOLDER", "http://files": "has to be file:FOLDER", "file:": "file:/var/lib",
		"file://host/files": "file:/var/lib", "s3:files": "s3://BUCKET/PREFIX", "s3://": "s3://BUCKET/PREFIX",
		"s3://id:hunter2@files": "without credentials",
		"s3://files:80":         "s3://BUCKET/PREFIX", "s3://files/UP": "the prefix", "s3://files/..": "the prefix",
		"s3://files?acl=public":        "parameters endpoint and region",
		"s3://files?region=a&region=b": "once each", "s3://files?%zz": "cannot be read",
		"s3://files?endpoint=host":                    "the endpoint has to be",
		"s3://files?endpoint=https://host/path":       "the endpoint has to be",
		"s3://files?endpoint=https://id:hunter2@host": "the endpoint has to be",
		"s3://UP?endpoint=https://127.0.0.1:1":        "bucket",
	} {
		refused(t, url, given, says)
	}
}

func TestOpenRefusesFolders(t *testing.T) {
	dir := t.TempDir()
	file, closed := filepath.Join(dir, "file"), filepath.Join(dir, "closed")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(closed, 0o500); err != nil {
		t.Fatal(err)
	}
	refused(t, "file:"+file, Options{}, "make the folder "+file)
	refused(t, "file:"+filepath.Join(dir, "no", "such"), Options{}, "make the folder "+dir)
	if os.Geteuid() != 0 { // nothing is closed to root
		refused(t, "file:"+closed, Options{}, "make the folder "+closed)
	}
	refused(t, "s3://files", Options{Scratch: file}, "make the folder "+file)
}

func TestOpenRefusesBuckets(t *testing.T) {
	t.Parallel()
	s := s3.Start(t)
	bucket := s.Bucket(t)
	given := Credentials{ID: s.ID, Secret: s.Secret}
	refused(t, s.URL("none-such"), Options{Credentials: given}, "make the bucket none-such")
	refused(t, bucket, Options{Credentials: Credentials{ID: "nobody", Secret: "hunter2"}}, "credentials")
	refused(t, bucket, Options{Credentials: Credentials{ID: s.ID, Secret: "hunter2"}}, "credentials")
	away := strings.Replace(bucket, strings.TrimPrefix(s.Endpoint, "http://127.0.0.1:"), "1", 1)
	refused(t, away, Options{Credentials: given}, "can be reached")
}

// TestCredentialsOfTheEnvironment is not parallel, as the environment is everybody's.
func TestCredentialsOfTheEnvironment(t *testing.T) {
	s := s3.Start(t)
	t.Setenv("AWS_ACCESS_KEY_ID", s.ID)
	t.Setenv("AWS_SECRET_ACCESS_KEY", s.Secret)
	open(t, s.Bucket(t), Options{})
}
