package reference

import (
	"bytes"
	"encoding/json"
	"net/url"
	"strings"
)

const jsonType = "application/json"

// command is a call of an operation as a shell takes it, with the example's arguments. The key stays in the
// environment, so that no page and no history of a shell has it.
func command(base, method, path string, op operation) string {
	lines := []string{"curl"}
	body := bodyOf(op)
	if method != "GET" && (method != "POST" || body == "") {
		lines[0] += " -X " + method
	}
	lines[0] += ` -H "Authorization: Bearer $PRESSROOM_KEY"`
	if _, keyed := keyOf(op); keyed {
		lines = append(lines, `-H "Idempotency-Key: my-`+strings.ReplaceAll(op.Tool, "_", "-")+`-1"`)
	}
	if body != "" {
		lines = append(lines, `-H "Content-Type: application/json"`, "-d "+quoted(body))
	}
	lines = append(lines, quoted(base+address(path, op.Parameters)))
	return strings.Join(lines, " \\\n  ")
}

// keyOf is the parameter for an Idempotency-Key; false where the operation takes none.
func keyOf(op operation) (parameter, bool) {
	for _, p := range op.Parameters {
		if p.In == "header" && p.Name == "Idempotency-Key" {
			return p, true
		}
	}
	return parameter{}, false
}

// address is a path with the example's arguments in it and behind it.
func address(path string, params []parameter) string {
	var query []string
	for _, p := range params {
		value := text(p.Example)
		switch {
		case value == "":
		case p.In == "path":
			path = strings.ReplaceAll(path, "{"+p.Name+"}", url.PathEscape(value))
		case p.In == "query":
			query = append(query, url.QueryEscape(p.Name)+"="+url.QueryEscape(value))
		}
	}
	if len(query) > 0 {
		path += "?" + strings.Join(query, "&")
	}
	return path
}

// text is a value of an example as it stands in an address: lists by commas.
func text(raw json.RawMessage) string {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) == nil {
		parts := make([]string, len(list))
		for i, one := range list {
			parts[i] = text(one)
		}
		return strings.Join(parts, ",")
	}
	var one string
	if json.Unmarshal(raw, &one) == nil {
		return one
	}
	return string(raw)
}

// quoted keeps a shell from reading anything into a text.
func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// bodyOf is the example of a body on one line; empty where a call needs none.
func bodyOf(op operation) string {
	var out bytes.Buffer
	if op.Body == nil || json.Compact(&out, op.Body.Content[jsonType].Example) != nil {
		return ""
	}
	return out.String()
}

func indented(raw json.RawMessage) string {
	var out bytes.Buffer
	if json.Indent(&out, raw, "", "  ") != nil {
		return ""
	}
	return out.String()
}
