package delivery

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"pressroom/internal/network"
)

// A network that never lists what stands there is told apart from one that does not answer now.
func TestUnable(t *testing.T) {
	t.Parallel()
	for want, err := range map[string]error{
		"never tells":            fmt.Errorf("listing: %w", &network.Error{Class: network.Unapproved, Code: "r_member_social"}),
		"does not let this app":  errNoPostList,
		"connection is lost":     errGrantLost,
		"could not be asked":     &network.Error{Class: network.Transient},
		"network could not be a": errors.New("cut off"),
	} {
		if got := describeFailure(err); !strings.Contains(got, want) {
			t.Errorf("%v: %q lacks %q", err, got, want)
		}
	}
}

// The start of a text goes to a terminal as one line that commands it nothing.
func TestOneLine(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Fresh beans\n\ntoday\t!": "Fresh beans today !",
		"\x1b[31mred\u202e":       "[31mred",
		"":                        "",
		strings.Repeat("ü", 61):   strings.Repeat("ü", 60) + "…",
		strings.Repeat("ü", 60):   strings.Repeat("ü", 60),
	} {
		if got := excerpt(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
