package bridge

import (
	"bytes"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"pressroom/internal/source"
)

var program = regexp.MustCompile("(?s)```go\n(.*?)```")

// The bridge of docs/bridge.md is a whole one.
func TestBridgeOfTheGuide(t *testing.T) {
	t.Parallel()
	guide, err := os.ReadFile("../../../docs/bridge.md")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, content := range map[string][]byte{
		"bridge.go": program.FindSubmatch(guide)[1],
		"media/instagram/natgeo/posts/1 first.jpg": []byte("first"),
		"media/instagram/natgeo/posts/2.mp4":       []byte("second"),
		"media/instagram/natgeo/posts/3.jpg":       []byte("third"),
		"media/instagram/natgeo/posts/notes.txt":   []byte("none"),
		"secret.jpg":                               []byte("outside"),
	} {
		write(t, filepath.Join(dir, name), content)
	}
	client, err := New(Options{URL: "http://" + run(t, dir), Token: token, Public: nowhere})
	if err != nil {
		t.Fatal(err)
	}
	q, got := question, ""
	q.Limit = 2
	for more := true; more; more = q.Cursor != "" {
		page, err := client.ProfileMedia(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		for _, item := range page.Items {
			var file bytes.Buffer
			err := client.Fetch(t.Context(), item.URL, 100, &file)
			got += item.Kind + " " + file.String() + ";"
			if err != nil {
				t.Errorf("%s: %v", item.URL, err)
			}
		}
		q.Cursor = page.Next
	}
	if want := "image third;video second;image first;"; got != want {
		t.Errorf("got %s want %s", got, want)
	}
	for _, name := range []string{"nobody", ".."} {
		q.Username = "../../" + name
		if _, err := client.ProfileMedia(t.Context(), q); !errors.Is(err, source.ErrNotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func write(t *testing.T, name string, content []byte) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, content, 0o600)); err != nil {
		t.Fatal(err)
	}
}

// run builds and starts the bridge in dir, and waits until it listens.
func run(t *testing.T, dir string) string {
	t.Helper()
	binary := filepath.Join(dir, "bridge")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", binary, filepath.Join(dir, "bridge.go")).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	listener.Close()
	cmd := exec.CommandContext(t.Context(), binary, filepath.Join(dir, "media"), address)
	cmd.Env = append(os.Environ(), "BRIDGE_TOKEN="+token)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Wait() })
	for began := time.Now(); time.Since(began) < 30*time.Second; {
		if conn, err := net.Dial("tcp", address); err == nil {
			conn.Close()
			return address
		}
	}
	t.Fatal("the bridge does not listen")
	return ""
}
