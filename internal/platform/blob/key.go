package blob

import (
	"path"
	"strings"
)

const (
	maxKey     = 512 // bytes
	maxSegment = 255 // bytes, as file systems take no more
	incoming   = "incoming"
	letters    = "abcdefghijklmnopqrstuvwxyz0123456789._-"
)

// isKey keeps everything away from paths that is not plainly the name of a blob.
func isKey(key string) bool {
	if len(key) > maxKey {
		return false
	}
	for i, segment := range strings.Split(key, "/") {
		if !isSegment(segment) || i == 0 && segment == incoming {
			return false
		}
	}
	return true
}

func isSegment(s string) bool {
	return s != "" && s != "." && s != ".." && len(s) <= maxSegment && strings.Trim(s, letters) == ""
}

// meets tells whether keys that begin with the prefix can be in the folder or below it.
func meets(folder, prefix string) bool {
	folder += "/"
	return strings.HasPrefix(folder, prefix) || strings.HasPrefix(prefix, folder)
}

// folderOf is the folder that all keys of a prefix are in.
func folderOf(prefix string) string {
	return path.Clean(prefix[:strings.LastIndexByte(prefix, '/')+1])
}
