package threads_test

import (
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/network/networktest"
	"pressroom.example/pressroom/internal/testkit/must"
)

// CheckAccount reports the permissions that the person granted, not the permissions that the app requests now.
func TestAppCheckReportsGrantedPermissions(t *testing.T) {
	t.Parallel()
	f := networktest.New(t, adapter, 0)
	f.Scopes("threads_basic", "threads_content_publish")
	g := f.Grant()
	if strings.Join(g.Scopes, ",") != "threads_basic,threads_content_publish" {
		t.Errorf("scopes %q", g.Scopes)
	}
	g.Scopes = []string{"threads_basic", "threads_content_publish", "threads_manage_insights"}
	found := f.CheckAccount(g)
	networktest.WantFinding(t, found, network.CheckPassed, "permission threads_content_publish")
	networktest.WantFinding(t, found, network.CheckFailed, "permission threads_manage_insights", "metrics are missing")
}

// Threads reports permissions only to testers of the app. The permissions of other people are unclear.
func TestAppCheckWithoutTester(t *testing.T) {
	t.Parallel()
	f := networktest.New(t, adapter, 0)
	g := f.Connect("", "studio.north")
	if len(g.Scopes) > 0 {
		t.Errorf("scopes %q", g.Scopes)
	}
	found := f.CheckAccount(g)
	networktest.WantFinding(t, found, network.CheckUnclear, "permissions", "only to testers of the app")
	networktest.WantFinding(t, found, network.CheckPassed, "posts in 24 hours")
}

// A consent without the permission to publish connects no account.
func TestMissingPermission(t *testing.T) {
	t.Parallel()
	f := networktest.New(t, adapter, 0)
	f.Scopes("threads_basic")
	_, err := f.Exchange("", networktest.Account)
	networktest.WantClass(t, err, network.ReconnectRequired, "threads_content_publish")
	f.Scopes("threads_basic", "threads_content_publish")
	_, err = f.Exchange("", networktest.Account)
	must.NoError(t, err)
}
