package browser

import (
	"path/filepath"
	"testing"

	"pressroom/internal/testkit/program"
)

func TestPages(t *testing.T) {
	t.Parallel()
	world := greeting{"chromium": needs(t)}
	drive(t, "pages.js", quickstart(t), world)
}

func TestPageFrame(t *testing.T) {
	t.Parallel()
	world := greeting{"chromium": needs(t), "other": "Quayside Bakery"}
	run := quickstart(t)
	program.Admin(t, program.Build(t, program.Pressroom, ""), "", "teams", "add", "--name", "Quayside Bakery", "--owner", "1",
		"--database", "sqlite:"+filepath.Join(run["data"].(string), "pressroom.db"))
	drive(t, "frame.js", run, world)
}
