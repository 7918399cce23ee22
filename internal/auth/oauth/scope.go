package oauth

import (
	"slices"
	"strings"

	"pressroom.example/pressroom/internal/core/access"
)

// Scopes returns the supported scopes, which are the names of capabilities.
func Scopes() []string { return capabilityNames(access.Capabilities()) }

// parseScope returns the capabilities that a scope names, or all capabilities if the scope is empty. It ignores unknown
// names, such as offline_access, but at least one name must be known.
func parseScope(scope string) ([]access.Capability, error) {
	names := strings.Fields(scope)
	if len(names) == 0 {
		return access.Capabilities(), nil
	}
	out := slices.DeleteFunc(access.Capabilities(), func(c access.Capability) bool {
		return !slices.Contains(names, string(c))
	})
	if len(out) == 0 {
		return nil, newError(InvalidScope, "None of the requested scopes is supported. The supported scopes are "+
			strings.Join(Scopes(), ", ")+".")
	}
	return out, nil
}

// scopeString returns the scope string for the granted capabilities.
func scopeString(granted []access.Capability) string {
	return strings.Join(capabilityNames(granted), " ")
}

func capabilityNames(capabilities []access.Capability) []string {
	out := make([]string, len(capabilities))
	for i, c := range capabilities {
		out[i] = string(c)
	}
	return out
}
