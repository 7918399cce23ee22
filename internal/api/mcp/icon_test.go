package mcp

import (
	"bytes"
	"os"
	"testing"

	"pressroom.example/pressroom/internal/testkit/must"
)

// The icon is the app's. It is small, because the current version of the protocol repeats it in every response.
func TestIcon(t *testing.T) {
	t.Parallel()
	app := must.Get(os.ReadFile("../../web/shell/assets/icon.svg"))(t)
	if !bytes.Equal(icon, app) || len(icons()[0].Source) > 400 {
		t.Errorf("%d bytes: %s", len(icons()[0].Source), icon)
	}
}
