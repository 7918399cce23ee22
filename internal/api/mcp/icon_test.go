package mcp

import (
	"bytes"
	"os"
	"testing"

	"pressroom.example/pressroom/internal/testkit/must"
)

// The icon is small, because the current protocol version repeats it in every response.
func TestIcon(t *testing.T) {
	t.Parallel()
	app := must.Get(os.ReadFile("../../web/shell/assets/icon.svg"))(t)
	if !bytes.Equal(icon, app) || len(icons()[0].Source) > 400 {
		t.Errorf("%d bytes: %s", len(icons()[0].Source), icon)
	}
}
