package operation

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/jsonschema-go/jsonschema"

	"pressroom.example/pressroom/internal/apierr"
)

// maxDepth is the maximum nesting depth of arguments. No operation needs more than three levels.
const maxDepth = 32

// ParseObject parses a JSON object. It rejects duplicate members, invalid UTF-8, trailing data and deep nesting.
func ParseObject(raw []byte) (Arguments, error) {
	dec := jsontext.NewDecoder(bytes.NewReader(raw))
	if dec.PeekKind() != '{' {
		return nil, notAnObjectError(nil)
	}
	if _, err := dec.ReadToken(); err != nil {
		return nil, notAnObjectError(err)
	}
	args, err := parseMembers(dec)
	if err != nil {
		return nil, err
	}
	if _, err := dec.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, notAnObjectError(err)
	}
	return args, nil
}

func notAnObjectError(err error) error {
	if errors.Is(err, jsontext.ErrDuplicateName) {
		return apierr.Invalid(apierr.ArgumentGivenTwice, "", "The JSON object has a duplicate member.")
	}
	return apierr.Invalid(apierr.BodyNotAnObject, "", "The arguments must be one JSON object in UTF-8.").Wrap(err)
}

func parseValue(dec *jsontext.Decoder) (any, error) {
	if dec.StackDepth() > maxDepth {
		return nil, apierr.Invalid(apierr.Malformed, "", fmt.Sprintf("The JSON nests deeper than %d levels.", maxDepth))
	}
	token, err := dec.ReadToken()
	if err != nil {
		return nil, notAnObjectError(err)
	}
	switch token.Kind() {
	case '{':
		return parseMembers(dec)
	case '[':
		return parseItems(dec)
	case '"':
		return token.String(), nil
	case '0':
		return json.Number(token.String()), nil
	case 't', 'f':
		return token.Bool(), nil
	}
	var null any
	return null, nil
}

func parseMembers(dec *jsontext.Decoder) (map[string]any, error) {
	out := map[string]any{}
	for dec.PeekKind() != '}' {
		name, err := dec.ReadToken()
		if err != nil {
			return nil, notAnObjectError(err)
		}
		key := name.String()
		value, err := parseValue(dec)
		if err != nil {
			return nil, err
		}
		out[key] = value
	}
	return out, readEnd(dec)
}

func parseItems(dec *jsontext.Decoder) (any, error) {
	out := []any{}
	for dec.PeekKind() != ']' {
		value, err := parseValue(dec)
		if err != nil {
			return nil, err
		}
		out = append(out, value)
	}
	return out, readEnd(dec)
}

func readEnd(dec *jsontext.Decoder) error {
	if _, err := dec.ReadToken(); err != nil {
		return notAnObjectError(err)
	}
	return nil
}

// ParseQuery parses arguments from a query string. If a name occurs more than once, the last value is used. Lists are
// comma-separated. A value with the wrong type stays a string, which Check rejects.
func (op *Operation) ParseQuery(query string) (Arguments, error) {
	args := Arguments{}
	for pair := range strings.SplitSeq(query, "&") {
		if pair == "" {
			continue
		}
		name, value, _ := strings.Cut(pair, "=")
		name, err := url.QueryUnescape(name)
		if err != nil {
			return nil, errEscaping
		}
		text, err := url.QueryUnescape(value)
		if err != nil {
			return nil, errEscaping
		}
		args[name] = parseQueryValue(text, op.Input.Properties[name])
	}
	return args, nil
}

var errEscaping = apierr.Invalid(apierr.Malformed, "", "The query string has an invalid percent escape.")

// parseQueryValue converts a value in a query string or path to the type of its schema.
func parseQueryValue(text string, s *jsonschema.Schema) any {
	if s == nil {
		return text
	}
	switch s.Type {
	case "integer", "number":
		if isNumber(text) {
			return json.Number(text)
		}
	case "boolean":
		if text == "true" || text == "false" {
			return text == "true"
		}
	case "array":
		items := []any{}
		for item := range strings.SplitSeq(text, ",") {
			items = append(items, parseQueryValue(item, s.Items))
		}
		return items
	}
	return text
}

// isNumber reports whether a text is a JSON number. JSON numbers do not have a plus sign, leading zeros or hexadecimal
// digits.
func isNumber(text string) bool {
	_, err := strconv.ParseFloat(text, 64)
	return (err == nil || errors.Is(err, strconv.ErrRange)) && jsontext.Value(text).IsValid()
}
