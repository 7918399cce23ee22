// Package docs embeds the guides, which the program serves at /docs/guides.
package docs

import "embed"

// Files are the guides.
//
//go:embed *.md adr/*.md networks/*.md
var Files embed.FS
