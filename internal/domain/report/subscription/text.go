package subscription

import (
	"embed"
	"html/template"
	"io"
	"strings"
	texttemplate "text/template"
)

//go:embed templates/*
var files embed.FS

// content is the data for the templates of an email.
type content struct {
	Summary

	Lang, Team, Link, Unsubscribe string

	Title, Lead, TextLead, Short, Read, Every, Stop, TextStop string // texts in the language Lang
}

var (
	textMail = texttemplate.Must(texttemplate.ParseFS(files, "templates/mail.txt"))
	htmlMail = template.Must(template.ParseFS(files, "templates/mail.html"))
)

// render renders a template. It panics on an error, because the templates are part of the program.
func render(t interface {
	Execute(w io.Writer, data any) error
}, view content) string {
	var out strings.Builder
	if err := t.Execute(&out, view); err != nil {
		panic(err)
	}
	return out.String()
}
