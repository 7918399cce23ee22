package main

import (
	"runtime/debug"
	"testing"

	"pressroom.example/pressroom/internal/api/openapi"
)

func TestVersion(t *testing.T) {
	commit := debug.BuildSetting{Key: "vcs.revision", Value: "1a2b3c4d5e6f708192a3b4c5d6e7f80910111213"}
	clean := &debug.BuildInfo{Settings: []debug.BuildSetting{commit, {Key: "vcs.modified", Value: "false"}}}
	modified := &debug.BuildInfo{Settings: []debug.BuildSetting{commit, {Key: "vcs.modified", Value: "true"}}}
	for _, tt := range []struct {
		name, tag string
		info      *debug.BuildInfo
		want      string
	}{
		{"release", "v1.2.3", clean, "1.2.3"},
		{"commit", "", clean, openapi.Version + "-dev+1a2b3c4d5e6f"},
		{"modified commit", "", modified, openapi.Version + "-dev+1a2b3c4d5e6f.modified"},
		{"no commit", "", nil, openapi.Version + "-dev+unknown"},
	} {
		if got := versionOf(tt.tag, tt.info); got != tt.want {
			t.Errorf("%s: version %s, want %s", tt.name, got, tt.want)
		}
	}
}
