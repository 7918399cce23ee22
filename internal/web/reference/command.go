package reference

import (
	"bytes"
	"encoding/json"
	"net/url"
	"strings"
)

const jsonType = "application/json"

// curlCommand returns a curl command for an operation's example. It reads the API key from an environment variable, so
// that the key does not appear in the shell history.
func curlCommand(base, method, path string, op operation) string {
	lines := []string{"curl"}
	body := bodyOf(op)
	if method != "GET" && (method != "POST" || body == "") {
		lines[0] += " -X " + method
	}
	lines[0] += ` -H "Authorization: Bearer $PRESSROOM_KEY"`
	if _, ok := keyOf(op); ok {
		lines = append(lines, `-H "Idempotency-Key: my-`+strings.ReplaceAll(op.Tool, "_", "-")+`-1"`)
	}
	if body != "" {
		lines = append(lines, `-H "Content-Type: application/json"`, "-d "+quote(body))
	}
	lines = append(lines, quote(base+examplePath(path, op.Parameters)))
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

// examplePath returns the path and query of an operation's example request.
func examplePath(path string, params []parameter) string {
	var query []string
	for _, p := range params {
		value := formatExample(p.Example)
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

// formatExample formats an example value for a URL. The values of a list are separated by commas.
func formatExample(raw json.RawMessage) string {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) == nil {
		parts := make([]string, len(list))
		for i, value := range list {
			parts[i] = formatExample(value)
		}
		return strings.Join(parts, ",")
	}
	var value string
	if json.Unmarshal(raw, &value) == nil {
		return value
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
