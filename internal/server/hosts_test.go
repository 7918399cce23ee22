package server

import (
	"slices"
	"testing"
)

// Links to posts may have any host from the settings of a network.
func TestNamedHosts(t *testing.T) {
	t.Parallel()
	named := SandboxNetworks("http://127.0.0.1:8099").namedHosts()
	for platform := range constructors {
		if !slices.Contains(named[platform], "127.0.0.1:8099") {
			t.Errorf("hosts of %s: %v", platform, named[platform])
		}
	}
	if slices.ContainsFunc(named["x"], func(host string) bool { return host != "127.0.0.1:8099" }) {
		t.Errorf("not only URLs are hosts: %v", named["x"])
	}
}
