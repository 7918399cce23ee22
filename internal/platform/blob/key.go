package blob

import (
	"path"
	"strings"
)

const (
	maxKey        = 512        // bytes
	maxSegment    = 255        // bytes, the limit of most file systems
	incomingDir   = "incoming" // folder of unfinished files; must not be the first segment of a key
	keyCharacters = "abcdefghijklmnopqrstuvwxyz0123456789._-"
)

// isKey reports whether key is valid, and therefore safe to use in paths.
func isKey(key string) bool {
	if len(key) > maxKey {
		return false
	}
	for i, segment := range strings.Split(key, "/") {
		if !isSegment(segment) || i == 0 && segment == incomingDir {
			return false
		}
	}
	return true
}

func isSegment(s string) bool {
	return s != "" && s != "." && s != ".." && len(s) <= maxSegment && strings.Trim(s, keyCharacters) == ""
}

// mayContain reports whether the folder or a folder below it can contain keys with the prefix.
func mayContain(folder, prefix string) bool {
	folder += "/"
	return strings.HasPrefix(folder, prefix) || strings.HasPrefix(prefix, folder)
}

// prefixFolder returns the folder that contains all keys with the prefix.
func prefixFolder(prefix string) string {
	return path.Clean(prefix[:strings.LastIndexByte(prefix, '/')+1])
}
