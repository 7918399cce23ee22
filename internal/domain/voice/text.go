package voice

import (
	_ "embed"
	"fmt"
	"strings"
	"text/template"
)

//go:embed text.tmpl
var textSource string

var textTemplate = template.Must(template.New("text").Funcs(template.FuncMap{"indent": indent}).Parse(textSource))

// assemble writes the text block of a tidied draft. Lines at the margin are ours, and none that the team wrote stands
// there: headings, fences and lists inside a text cannot be taken for the block's own. What is empty has no heading.
func assemble(d Draft) (string, error) {
	var out strings.Builder
	if err := textTemplate.Execute(&out, d); err != nil {
		return "", fmt.Errorf("assembling the text of a brand voice: %w", err)
	}
	return out.String(), nil
}

// indent sets every line in by so many spaces; empty ones stay empty.
func indent(by int, text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if line != "" {
			lines[i] = strings.Repeat(" ", by) + line
		}
	}
	return strings.Join(lines, "\n")
}
