package web

import (
	"embed"
	"html/template"

	"pressroom/internal/web/shell"
)

//go:embed templates/*.html
var files embed.FS

// pages holds this package's templates.
var pages = shell.Parse(files, template.FuncMap{"time": shell.Time})
