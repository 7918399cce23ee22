package browser

import (
	"path/filepath"
	"testing"

	"pressroom.example/pressroom/internal/testkit/program"
)

func TestPages(t *testing.T) {
	t.Parallel()
	world := greeting{"chromium": requireChromium(t)}
	drive(t, "pages.js", quickstart(t), world)
}

func TestPageFrame(t *testing.T) {
	t.Parallel()
	world := greeting{"chromium": requireChromium(t), "other": "Quayside Bakery"}
	run := quickstart(t)
	for _, command := range [][]string{ // Another team, in which the owner of the first team is a viewer.
		{"people", "add", "--name", "Grace", "--email", "grace@quayside.example"},
		{"teams", "add", "--name", "Quayside Bakery", "--owner", "2"},
		{"teams", "member", "--team", "2", "--person", "1", "--role", "viewer"},
	} {
		program.Admin(t, program.Build(t, program.Pressroom, ""), "",
			append(command, "--database", "sqlite:"+filepath.Join(run["data"].(string), "pressroom.db"))...)
	}
	drive(t, "frame.js", run, world)
}
