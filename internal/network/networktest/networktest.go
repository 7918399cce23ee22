// Package networktest tests the adapters of networks. Run is the conformance suite that every adapter passes. The
// tests of an adapter's own behavior use the same Fixture and Stub.
package networktest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/sandbox"
	"pressroom.example/pressroom/internal/testkit"
)

// Password is the password of the sandbox's accounts on Bluesky.
const Password = "app-pass-word"

// Start is the time at which a test's clock starts.
var Start = time.Date(2026, 11, 21, 9, 30, 0, 0, time.UTC)

// Sandbox opens a sandbox and returns its address. The sandbox takes processingTime to process uploaded media. The
// accounts are created on the sandbox's Bluesky server with the password Password.
func Sandbox(t *testing.T, clock *testkit.Clock, processingTime time.Duration, accounts ...string) string {
	t.Helper()
	files, err := newSandbox()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, files); err != nil {
		t.Fatal(err)
	}
	server, err := sandbox.Open(dir, sandbox.Options{Now: clock.Now, ProcessingTime: processingTime})
	if err != nil {
		t.Fatal(err)
	}
	for _, handle := range accounts {
		if err := server.EnsureBlueskyAccount(handle, handle, Password); err != nil {
			t.Fatal(err)
		}
	}
	front := httptest.NewServer(server.Handler())
	t.Cleanup(func() {
		front.Close()
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	return front.URL
}

// newSandbox returns the files of a new sandbox. Copying the files takes less CPU time than creating them.
var newSandbox = sync.OnceValues(func() (fs.FS, error) {
	dir, err := os.MkdirTemp("", "sandbox")
	if err != nil {
		return nil, fmt.Errorf("creating a sandbox: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	server, err := sandbox.Open(dir, sandbox.Options{})
	if err == nil {
		err = server.Close()
	}
	files := fstest.MapFS{}
	walk := func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(filepath.Join(dir, path)) //nolint:gosec // of the sandbox
		files[path] = &fstest.MapFile{Data: content, Mode: 0o600}
		return err //nolint:wrapcheck // wrapped below
	}
	if err = errors.Join(err, fs.WalkDir(os.DirFS(dir), ".", walk)); err != nil {
		return nil, fmt.Errorf("creating a sandbox: %w", err)
	}
	return files, nil
})

// Consent submits a consent page with a decision for an account. It returns the URL to which the browser is redirected.
func Consent(t *testing.T, page, account, decision string) *url.URL {
	t.Helper()
	response := get(t, page+"&account="+account+"&decision="+decision, false)
	defer response.Body.Close()
	back, err := response.Location()
	if err != nil || response.StatusCode != http.StatusSeeOther {
		t.Fatalf("the consent: HTTP %d, %v", response.StatusCode, err)
	}
	return back
}

func get(t *testing.T, address string, follow bool) *http.Response {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{}
	if !follow {
		client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	}
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	return response
}

// Get returns the content at an address and its media type.
func Get(t *testing.T, address string) ([]byte, string) {
	t.Helper()
	response := get(t, address, true)
	defer response.Body.Close()
	var body bytes.Buffer
	body.Grow(int(max(response.ContentLength, 0)) + bytes.MinRead) // avoids repeated growth for videos
	_, err := body.ReadFrom(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Errorf("%s: HTTP %d, %v", address, response.StatusCode, err)
	}
	return body.Bytes(), response.Header.Get("Content-Type")
}

// Post is a post in the sandbox.
type Post struct {
	ID      string   `json:"id"`
	Account string   `json:"account"`
	Text    string   `json:"text"`
	Media   []string `json:"media"`
	ReplyTo string   `json:"reply_to"` // ID of the post that this one replies to
	Format  string   `json:"format"`   // empty for a post in the feed

	Options map[string]string `json:"options"` // parameters of Instagram's API
}

func (p Post) isStory() bool { return p.Format == network.FormatStory }

// SandboxPosts returns a platform's posts in the sandbox at an address.
func SandboxPosts(t *testing.T, address, platform string) []Post {
	t.Helper()
	response := get(t, address+"/held?platform="+platform, false)
	defer response.Body.Close()
	var body struct {
		Posts []Post `json:"posts"`
	}
	if err := json.NewDecoder(response.Body).Decode(&body); err != nil {
		t.Fatal(err)
	}
	return body.Posts
}

// WantClass fails the test unless err has the class, and the code if that is not empty. It returns the error.
func WantClass(t *testing.T, err error, class network.ErrorClass, code string) *network.Error {
	t.Helper()
	netErr, ok := errors.AsType[*network.Error](err)
	if !ok {
		t.Fatalf("error %v, want a network.Error of class %s", err, class)
	}
	if netErr.Class != class || code != "" && netErr.Code != code {
		t.Fatalf("class %s, code %q (%v, %q), want %s, %q", netErr.Class, netErr.Code, err, netErr.Message, class, code)
	}
	return netErr
}

// Class returns the class of a *network.Error, or "" for any other error and for nil.
func Class(err error) network.ErrorClass {
	if netErr, ok := errors.AsType[*network.Error](err); ok {
		return netErr.Class
	}
	return ""
}
