package main

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"pressroom.example/pressroom/internal/testkit/must"
	"pressroom.example/pressroom/internal/testkit/require"
)

// Each command and resource has a page that groff reads without a warning.
func TestManPages(t *testing.T) {
	t.Parallel()
	var p program
	model := must.Get(kong.New(&p, kong.Name("pressroom")))(t).Model.Node
	pages := manPages(model)
	for name, want := range map[string]string{
		"pressroom":       "pressroom\\-login(1)",
		"pressroom-serve": "\\fB\\-\\-oidc\\-issuer\\fR\\fI=OIDC_ISSUER\\fR\n",
		"pressroom-admin": ".SS \"pressroom admin people list [FLAGS]\"\n",
		"pressroom-posts": ".SS \"pressroom posts get ID\"\n",
		"pressroom-call":  "The key is wrong or not allowed to do this\n",
		"pressroom-login": "\\fB\\-\\-with\\-key\\fR",
	} {
		if page := pages[name]; page == nil || !strings.Contains(page.String(), want) {
			t.Errorf("%s has no %q", name, want)
		}
	}
	var all strings.Builder
	for _, page := range pages {
		all.WriteString(page.String())
	}
	for _, c := range model.Children {
		if !c.Hidden && pages["pressroom-"+c.Name] == nil {
			t.Errorf("%s has no page", c.Name)
		}
	}
	cmd := exec.CommandContext(t.Context(), require.Program(t, "groff"), "-man", "-Tascii", "-ww", "-Wbreak", "-z")
	cmd.Stdin = strings.NewReader(all.String())
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("groff: %v %.2000s", err, out)
	}
}
