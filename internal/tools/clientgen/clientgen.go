// Package clientgen generates parts of the clients from the OpenAPI document: their types, their methods, and the table
// of operations.
package clientgen

import (
	"bytes"
	_ "embed"
	"fmt"
	"go/format"
	"strconv"
	"strings"
	"text/template"

	"pressroom.example/pressroom/internal/api/openapi"
)

var (
	//go:embed go.tmpl
	goText string
	//go:embed typescript.tmpl
	typescriptText string
	//go:embed python.tmpl
	pythonText string
)

var functions = template.FuncMap{
	"exported": openapi.GoName, "lowerCamel": lowerCamel, "wrapped": wrap, "quote": strconv.Quote, "sentence": sentence,
	"goField": goField, "goType": goType, "constant": goConstant, "doc": goComment,
	"tsType": tsType, "tsOptional": tsOptional, "literals": literals, "jsdoc": jsdoc,
	"pyMember": pyMember, "pyParameters": pyParameters, "pyArguments": pyArguments, "pyPlaces": pyPlaces,
	"pyNullable": pyNullable, "pyDoc": pyDoc, "inputOf": inputOf,
}

// Go returns the generated part of the Go client.
func Go(description []byte) ([]byte, error) {
	text, err := render("go.tmpl", goText, description)
	if err != nil {
		return nil, err
	}
	formatted, err := format.Source(text)
	if err != nil {
		return nil, fmt.Errorf("formatting the Go client: %w", err)
	}
	return formatted, nil
}

// TypeScript returns the generated part of the TypeScript client.
func TypeScript(description []byte) ([]byte, error) {
	return render("typescript.tmpl", typescriptText, description)
}

// Python returns the generated part of the Python client.
func Python(description []byte) ([]byte, error) {
	return render("python.tmpl", pythonText, description)
}

func render(name, text string, description []byte) ([]byte, error) {
	d, err := parse(description)
	if err != nil {
		return nil, err
	}
	m, err := build(d)
	if err != nil {
		return nil, err
	}
	t, err := template.New(name).Funcs(functions).Parse(text)
	if err != nil {
		return nil, fmt.Errorf("parsing %s: %w", name, err)
	}
	var out bytes.Buffer
	if err := t.Execute(&out, m); err != nil {
		return nil, fmt.Errorf("executing %s: %w", name, err)
	}
	return out.Bytes(), nil
}

// sentence returns a text with a period at the end.
func sentence(text string) string {
	if text == "" || strings.HasSuffix(text, ".") {
		return text
	}
	return text + "."
}
