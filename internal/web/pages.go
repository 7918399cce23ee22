package web

import (
	"embed"
	"html/template"
	"strings"

	"pressroom/internal/web/plot"
	"pressroom/internal/web/shell"
)

//go:embed templates/*.html
var files embed.FS

// pages holds this package's templates.
var pages = shell.Parse(files, template.FuncMap{
	"spark": plot.Spark, "article": article, "wayhint": wayHint,
	"firstword": func(name string) string { first, _, _ := strings.Cut(name, " "); return first },
})
