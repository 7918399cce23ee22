package web

import (
	"embed"
	"html/template"

	"pressroom/internal/web/frame"
)

//go:embed templates/*.html
var files embed.FS

// pages holds this package's templates.
var pages = frame.Parse(files, template.FuncMap{"time": frame.Time})
