package blob

import (
	"path"
	"path/filepath"
	"strings"
	"testing"
)

var badKeys = []string{
	"", "/", ".", "..", "/a", "a/", "a//b", "a/./b", "a/../b", "../a", "a/..", "A", "ä", "a b", "a\x00b", `a\b`, "a:b", "a\n", "\xff",
	"incoming", "incoming/a", strings.Repeat("a", 256), strings.Repeat("a/", 256) + "a",
}

func TestKeys(t *testing.T) {
	for _, bad := range badKeys {
		if isKey(bad) {
			t.Errorf("%.30q is a key", bad)
		}
	}
	for _, good := range []string{"a", "12/ab/abcdef.x7k2", "...", "..a", "-/_/.a", "a/incoming", strings.Repeat("a/", 255) + "ab"} {
		if !isKey(good) {
			t.Errorf("%.30q is not a key", good)
		}
	}
}

// A valid key is a local path, and no two keys are the same file.
func FuzzKey(f *testing.F) {
	for _, bad := range badKeys {
		f.Add(bad)
	}
	f.Add(key)
	f.Fuzz(func(t *testing.T, key string) {
		local := filepath.IsLocal(key) && filepath.IsLocal(prefixFolder(key))
		if isKey(key) && (!local || path.Clean(key) != key || len(key) > maxKey || strings.ToLower(key) != key) {
			t.Errorf("%q is a key", key)
		}
	})
}
