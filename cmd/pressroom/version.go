package main

import (
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/alecthomas/kong"

	"pressroom.example/pressroom/internal/api/openapi"
)

// tag is the Git tag of a release, such as v0.1.0. The linker sets it.
var tag string

// version is the version of this program (SemVer).
var version = func() string {
	info, _ := debug.ReadBuildInfo()
	return versionOf(tag, info)
}()

type versionCmd struct{}

// Run prints the version.
func (versionCmd) Run() error {
	_, err := fmt.Println("pressroom", version)
	return err
}

// versionFlag is the flag --version.
type versionFlag bool

// BeforeReset prints the version and exits.
func (versionFlag) BeforeReset(app *kong.Kong) error {
	err := versionCmd{}.Run()
	app.Exit(0)
	return err
}

// versionOf returns the version of a release. If tag is empty, it returns a pre-release of the next version with the
// commit, such as 0.2.0-dev+1a2b3c4d5e6f.
func versionOf(tag string, info *debug.BuildInfo) string {
	if strings.HasPrefix(tag, "v") {
		return tag[1:]
	}
	commit, modified := "unknown", ""
	if info != nil {
		for _, s := range info.Settings {
			switch {
			case s.Key == "vcs.revision" && len(s.Value) > 12:
				commit = s.Value[:12]
			case s.Key == "vcs.modified" && s.Value == "true":
				modified = ".modified"
			}
		}
	}
	return openapi.Version + "-dev+" + commit + modified
}
