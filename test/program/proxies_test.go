package program

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/testkit/must"
	"pressroom.example/pressroom/internal/testkit/require"
)

// proxied is a server behind a proxy. It reports what it receives from the proxy, and when.
type proxied struct {
	arrived chan int64    // the number of bytes of an upload so far
	release chan struct{} // ends an event stream
}

func (p *proxied) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/address":
		fmt.Fprintf(w, "%s %s", r.Host, r.Header.Values("X-Forwarded-For"))
	case "/stream":
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, "data: first\n\n")
		_ = http.NewResponseController(w).Flush()
		<-p.release
	case "/upload":
		first := make([]byte, 1024)
		n, _ := io.ReadFull(r.Body, first)
		p.arrived <- int64(n)
		rest, _ := io.Copy(io.Discard, r.Body)
		p.arrived <- int64(n) + rest
	}
}

// The guide's configurations for nginx and Caddy stream responses and uploads of any size, and replace
// X-Forwarded-For.
func TestProxies(t *testing.T) {
	t.Parallel()
	for language, run := range map[string]func(t *testing.T, dir, config string) *exec.Cmd{"nginx": nginx, "caddyfile": caddy} {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			backend := &proxied{make(chan int64, 3), make(chan struct{})}
			server := httptest.NewServer(backend)
			defer server.Close()
			defer close(backend.release)
			dir, addr := t.TempDir(), "127.0.0.1:"+freePort(t)
			roots := writeCertificate(t, filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key"))
			found := regexp.MustCompile("(?ms)^```" + language + "\n(.*?)^```$").FindStringSubmatch(read(t, "docs/deploy.md"))
			base := "https://press.test:" + strings.TrimPrefix(addr, "127.0.0.1:")
			config := strings.NewReplacer("127.0.0.1:8080", strings.TrimPrefix(server.URL, "http://"), "listen 443", "listen "+addr,
				"/etc/ssl/press.example.com.pem", dir+"/tls.crt", "/etc/ssl/private/press.example.com.key", dir+"/tls.key",
				"press.example.com {", base+" {\n\ttls "+dir+"/tls.crt "+dir+"/tls.key",
				"press.example.com", "press.test").Replace(found[1])
			cmd := run(t, dir, config)
			log := must.Get(os.Create(filepath.Join(dir, "log")))(t)
			cmd.Stdout, cmd.Stderr = log, log
			must.NoError(t, cmd.Start())
			t.Cleanup(func() {
				_ = cmd.Process.Signal(os.Interrupt)
				_ = cmd.Wait()
				if t.Failed() {
					t.Log(string(must.Get(os.ReadFile(log.Name()))(t)))
				}
			})
			checkProxied(t, browser(roots, addr), base, backend)
		})
	}
}

func checkProxied(t *testing.T, client *http.Client, base string, backend *proxied) {
	t.Helper()
	get := func(path string) (*http.Response, error) {
		r := must.Get(http.NewRequestWithContext(t.Context(), http.MethodGet, base+path, nil))(t)
		r.Header.Set("X-Forwarded-For", "203.0.113.7")
		return client.Do(r)
	}
	var resp *http.Response
	must.Eventually(t, 20*time.Second, "the proxy answers", func() bool {
		var err error
		resp, err = get("/address")
		return err == nil
	})
	defer resp.Body.Close()
	if text := string(must.Get(io.ReadAll(resp.Body))(t)); !regexp.MustCompile(`^press\.test(:\d+)? \[127\.0\.0\.1\]$`).MatchString(text) {
		t.Errorf("host and X-Forwarded-For: %s", text)
	}
	stream := must.Get(get("/stream"))(t)
	defer stream.Body.Close()
	if line, err := bufio.NewReader(stream.Body).ReadString('\n'); line != "data: first\n" {
		t.Errorf("the stream is buffered: %q, %v", line, err)
	}
	const size = 8 << 20 // nginx's default limit is 1 MiB
	body, upload := io.Pipe()
	go func() {
		if _, err := upload.Write(make([]byte, size/2)); err == nil {
			if n := backend.awaitBytes(); n != 1024 {
				t.Errorf("%d bytes arrived before the upload was complete", n)
			}
			_, _ = upload.Write(make([]byte, size/2)) // an error ends the request, which fails the test
		}
		upload.Close()
	}()
	r := must.Get(http.NewRequestWithContext(t.Context(), http.MethodPut, base+"/upload", body))(t)
	r.ContentLength = size
	answer := must.Get(client.Do(r))(t)
	defer answer.Body.Close()
	if n := backend.awaitBytes(); n != size || answer.StatusCode != http.StatusOK {
		t.Errorf("%d bytes arrived, %s", n, answer.Status)
	}
}

// awaitBytes returns the next number of bytes, or 0 after three seconds.
func (p *proxied) awaitBytes() int64 {
	select {
	case n := <-p.arrived:
		return n
	case <-time.After(3 * time.Second):
		return 0
	}
}

// nginx runs a server block of the guide. Except for paths, only this block differs from nginx's defaults.
func nginx(t *testing.T, dir, config string) *exec.Cmd {
	t.Helper()
	main := fmt.Sprintf("daemon off;\nmaster_process off;\npid %[1]s/pid;\nerror_log stderr;\nevents {}\nhttp {\naccess_log off;\n"+
		"client_body_temp_path %[1]s/body;\nproxy_temp_path %[1]s/proxy;\nfastcgi_temp_path %[1]s/f;\nuwsgi_temp_path %[1]s/u;\n"+
		"scgi_temp_path %[1]s/s;\n%[2]s}\n", dir, config)
	must.NoError(t, os.WriteFile(filepath.Join(dir, "nginx.conf"), []byte(main), 0o600))
	return exec.Command(requireProxy(t, "nginx"), "-p", dir, "-c", filepath.Join(dir, "nginx.conf"))
}

func caddy(t *testing.T, dir, config string) *exec.Cmd {
	t.Helper()
	config = "{\n\tadmin off\n\tauto_https disable_redirects\n}\n" + config
	must.NoError(t, os.WriteFile(filepath.Join(dir, "Caddyfile"), []byte(config), 0o600))
	cmd := exec.Command(requireProxy(t, "caddy"), "run", "--adapter", "caddyfile", "--config", filepath.Join(dir, "Caddyfile"))
	cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_DATA_HOME="+dir, "XDG_CONFIG_HOME="+dir)
	return cmd
}

// requireProxy returns the path of a proxy. If it is missing, it skips the test, or fails it in CI.
func requireProxy(t *testing.T, name string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("external programs are slow")
	}
	return require.Program(t, name, "/usr/sbin/"+name)
}
