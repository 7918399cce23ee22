package reference

import (
	"bytes"
	"encoding/json"
	"net/url"
	"strings"
)

const jsonType = "application/json"

// command returns a curl command for an operation's example. It reads the API key from an environment variable, so that
// the key does not appear in the shell history.
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
		lines = append(lines, `-H "Content-Type: application/json"`, "-d "+quote(body))
	}
	lines = append(lines, quote(base+address(path, op.Parameters)))
	return strings.Join(lines, " \\\n  ")
}

// keyOf returns the Idempotency-Key parameter of an operation, if any.
func keyOf(op operation) (parameter, bool) {
	for _, p := range op.Parameters {
		if p.In == "header" && p.Name == "Idempotency-Key" {
			return p, true
		}
	}
	return parameter{}, false
}

// address returns the path and query of an operation's example request.
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

// text formats an example value for a URL. The values of a list are separated by commas.
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

// quote quotes a string for the shell.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// bodyOf returns the example request body as one line, or "" if there is none.
func bodyOf(op operation) string {
	var out bytes.Buffer
	if op.Body == nil || json.Compact(&out, op.Body.Content[jsonType].Example) != nil {
		return ""
	}
	return out.String()
}

func indent(raw json.RawMessage) string {
	var out bytes.Buffer
	if json.Indent(&out, raw, "", "  ") != nil {
		return ""
	}
	return out.String()
}
