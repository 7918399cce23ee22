package store

import (
	"strings"
	"testing"
)

func TestMediaType(t *testing.T) {
	t.Parallel()
	for head, want := range map[string]string{
		"\x89PNG\r\n\x1a\n":        "image/png",
		"\xff\xd8\xff":             "image/jpeg",
		"GIF89a":                   "image/gif",
		"....ftypisom....":         "video/mp4",
		"....ftypqt  ....":         "video/quicktime",
		"....ftypavif....":         "image/avif",
		"....ftypheic....":         "image/heic",
		"<html>":                   "as/given",
		"":                         "as/given",
		strings.Repeat("\x00", 99): "as/given",
	} {
		if got := MediaType([]byte(head), "as/given"); got != want {
			t.Errorf("MediaType(%q) = %s, want %s", head, got, want)
		}
	}
}
