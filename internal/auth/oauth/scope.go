package oauth

import (
	"slices"
	"strings"

	"pressroom/internal/core/access"
)

// Scopes are what programs can ask for: the capabilities, by their own names.
func Scopes() []string { return texts(access.Capabilities()) }

// asked are the capabilities that a scope names. One that is left out asks for all, and lets the person choose. Names of
// other servers, such as offline_access, are passed over, but there has to be one of ours.
func asked(scope string) ([]access.Capability, error) {
	names := strings.Fields(scope)
	if len(names) == 0 {
		return access.Capabilities(), nil
	}
	out := slices.DeleteFunc(access.Capabilities(), func(c access.Capability) bool { return !slices.Contains(names, string(c)) })
	if len(out) == 0 {
		return nil, refused(InvalidScope, "The scopes are "+strings.Join(Scopes(), ", ")+".")
	}
	return out, nil
}

// scopeOf writes capabilities as a scope.
func scopeOf(granted []access.Capability) string { return strings.Join(texts(granted), " ") }

func texts(of []access.Capability) []string {
	out := make([]string, len(of))
	for i, c := range of {
		out[i] = string(c)
	}
	return out
}
