package account

import (
	"strings"
	"testing"

	"pressroom/internal/network"
)

// A sign-in that lacks a permission says which one and what it is for.
func TestMissingPermissionIsNamed(t *testing.T) {
	t.Parallel()
	err := userError(network.PermissionMissing("business_management", "No Page was found."), "refused")
	for _, want := range []string{"business_management", "No Page was found.", "Connect again"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v lacks %q", err, want)
		}
	}
}
