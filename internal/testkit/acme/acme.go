// Package acme runs an ACME server that validates challenges for a test. The server is built from tools/acme and
// resolves all names to this machine.
package acme

import (
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"pressroom.example/pressroom/internal/testkit/must"
	"pressroom.example/pressroom/internal/testkit/program"
	"pressroom.example/pressroom/internal/testkit/require"
)

// Server is a running ACME server.
type Server struct {
	Directory string         // URL of the ACME directory
	RootsFile string         // PEM file with the root certificate of the server's own TLS certificate
	Issued    *x509.CertPool // root certificate of the issued certificates
}

// Start runs a server until the test ends. The server validates HTTP and TLS challenges on the given ports. If the
// server cannot be built, the test is skipped, or fails if CI=true.
func Start(t *testing.T, httpPort, tlsPort int) Server {
	t.Helper()
	server, err := build(t.TempDir())
	if err != nil {
		require.Missing(t, "an ACME server: "+err.Error())
	}
	cmd := exec.Command(server, "-http", strconv.Itoa(httpPort), "-tls", strconv.Itoa(tlsPort))
	cmd.Stderr = t.Output()
	input, output := must.Get(cmd.StdinPipe())(t), must.Get(cmd.StdoutPipe())(t)
	must.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = input.Close() // ends the server
		_ = cmd.Wait()    // the test is over
	})
	var ready struct {
		Directory string
		Own, Root []byte
	}
	must.NoError(t, json.NewDecoder(output).Decode(&ready))
	roots := filepath.Join(t.TempDir(), "acme-roots.pem")
	own := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: ready.Own})
	must.NoError(t, os.WriteFile(roots, own, 0o600))
	issued := x509.NewCertPool()
	issued.AddCert(must.Get(x509.ParseCertificate(ready.Root))(t))
	return Server{Directory: ready.Directory, RootsFile: roots, Issued: issued}
}

// build builds the server into a folder and returns its path.
func build(folder string) (string, error) {
	root, err := program.ModuleRoot()
	if err != nil {
		return "", err
	}
	path := filepath.Join(folder, "acme")
	cmd := exec.Command("go", "build", "-o", path, ".")
	cmd.Dir = filepath.Join(root, "tools", "acme")
	cmd.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w: %s", err, out)
	}
	return path, nil
}
