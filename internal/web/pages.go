package web

import (
	"embed"

	"pressroom/internal/web/frame"
)

//go:embed templates/*.html
var files embed.FS

// pages holds this package's templates.
var pages = frame.Parse(files, nil)
