package account

import (
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/network"
)

// The error includes the missing permission and its effect.
func TestMissingPermissionNamed(t *testing.T) {
	t.Parallel()
	err := newUserError(network.PermissionMissing("business_management", "No Page was found."), "refused")
	for _, want := range []string{"business_management", "No Page was found.", "Connect again"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v lacks %q", err, want)
		}
	}
}

// A missing permission that reconnecting cannot grant has its own advice.
func TestMissingPermissionWithCure(t *testing.T) {
	t.Parallel()
	err := newUserError(&network.Error{Class: network.ReconnectRequired, Err: &network.MissingPermissionError{
		Permission: "CREATE_CONTENT", Effect: "You may not publish.", NextStep: "Ask an admin.",
	}}, "refused")
	if text := err.Error(); !strings.Contains(text, "You may not publish. Ask an admin.") ||
		strings.Contains(text, "Connect again") {
		t.Error(text)
	}
}

// If the operator's app may not request a scope, the error refers to the operator.
func TestRejectedScopeReportsOperator(t *testing.T) {
	t.Parallel()
	for _, code := range []string{"invalid_scope", "unauthorized_scope_error"} {
		if err := consentError(code); !strings.Contains(err.Error(), "operator") {
			t.Errorf("%s: %v", code, err)
		}
	}
}
