package delivery

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/network"
)

// describeFailure distinguishes networks that cannot list posts from networks that did not answer.
func TestDescribeFailure(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err  error
		want string
	}{
		{fmt.Errorf("listing: %w", &network.Error{Class: network.AppNotApproved, Code: "r_member_social"}),
			"does not let this app"},
		{errNoPostList, "does not let this app"},
		{errGrantLost, "is disconnected"},
		{&network.Error{Class: network.Transient}, "lookup on the network failed"},
		{errors.New("cut off"), "lookup on the network failed"},
	} {
		if got := describeFailure(c.err); !strings.Contains(got, c.want) {
			t.Errorf("%v: %q lacks %q", c.err, got, c.want)
		}
	}
}

// An excerpt fits on one line and contains no terminal control characters.
func TestExcerpt(t *testing.T) {
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
