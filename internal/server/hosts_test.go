package server

import (
	"slices"
	"testing"
)

// Posts stand at whatever addresses an operator names for a network, as the settings for the sandbox do for every one.
func TestTheHostsThatSettingsName(t *testing.T) {
	t.Parallel()
	named := SandboxNetworks("http://127.0.0.1:8099").namedHosts()
	for platform := range makers {
		if !slices.Contains(named[platform], "127.0.0.1:8099") {
			t.Errorf("of %s the settings name %v", platform, named[platform])
		}
	}
	if slices.ContainsFunc(named["x"], func(host string) bool { return host != "127.0.0.1:8099" }) {
		t.Errorf("more is taken as a host than addresses: %v", named["x"])
	}
}
