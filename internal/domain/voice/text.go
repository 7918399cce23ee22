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

// assemble returns the text block of a normalized draft. The team's texts are indented, so that headings, code fences
// and lists in them cannot be mistaken for parts of the block. Empty fields have no heading.
func assemble(d Draft) (string, error) {
	var out strings.Builder
	if err := textTemplate.Execute(&out, d); err != nil {
		return "", fmt.Errorf("assembling the text of a brand voice: %w", err)
	}
	return out.String(), nil
}

// indent indents all lines except empty lines.
func indent(width int, text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if line != "" {
			lines[i] = strings.Repeat(" ", width) + line
		}
	}
	return strings.Join(lines, "\n")
}
