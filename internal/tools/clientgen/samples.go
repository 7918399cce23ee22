package clientgen

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"pressroom.example/pressroom/internal/api/openapi"
)

// value is an example value for an argument.
type value struct {
	field
	in  string // path, query or body
	raw json.RawMessage
}

// Samples returns code samples for each operation: a call with curl, and one with each client. The values in the
// samples are the examples in the document. The samples become part of the document.
func Samples(description []byte) ([]byte, error) {
	d, err := parse(description)
	if err != nil {
		return nil, err
	}
	m, err := build(d)
	if err != nil {
		return nil, err
	}
	examples := d.examples()
	samples := map[string][]openapi.Sample{}
	for _, c := range m.Operations {
		values := m.values(c, examples[c.Name])
		samples[c.Name] = []openapi.Sample{
			{Lang: "Shell", Label: "curl", Source: curlSample(c, values)},
			{Lang: "Go", Label: "Go", Source: m.goSample(c, values)},
			{Lang: "TypeScript", Label: "TypeScript", Source: tsSample(c, values)},
			{Lang: "Python", Label: "Python", Source: pySample(c, values)},
		}
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	if err := encoder.Encode(samples); err != nil {
		return nil, fmt.Errorf("writing the samples: %w", err)
	}
	return out.Bytes(), nil
}

// examples returns the example of each argument, by operation and argument name.
func (d *document) examples() map[string]map[string]json.RawMessage {
	out := map[string]map[string]json.RawMessage{}
	for _, path := range d.Paths {
		for _, o := range path.Value {
			byName := map[string]json.RawMessage{}
			for _, p := range o.Parameters {
				byName[p.Name] = p.Example
			}
			if o.RequestBody != nil {
				_ = json.Unmarshal(o.RequestBody.Content["application/json"].Example, &byName) // no example if nothing is required
			}
			out[o.ID] = byName
		}
	}
	return out
}

// values returns the examples of a call's arguments, in the order of the method's arguments. It omits arguments without
// an example.
func (m *model) values(c *call, examples map[string]json.RawMessage) []value {
	var out []value
	r := m.lookUp(c.Input)
	for i, a := range c.Arguments {
		if raw := examples[a.Name]; len(raw) > 0 {
			out = append(out, value{r.Fields[i], a.In, onOneLine(raw)})
		}
	}
	return out
}

// onOneLine returns JSON on one line, with spaces between members.
func onOneLine(raw json.RawMessage) json.RawMessage {
	var compact, lines bytes.Buffer
	_ = json.Compact(&compact, raw) // cannot fail for valid JSON
	_ = json.Indent(&lines, compact.Bytes(), "", "")
	return []byte(strings.NewReplacer(",\n", ", ", "\n", "").Replace(lines.String()))
}

func (m *model) lookUp(name string) *record {
	for _, r := range m.Records {
		if r.Name == name {
			return r
		}
	}
	return nil
}

func curlSample(c *call, values []value) string {
	path, query, body := c.Path, url.Values{}, map[string]json.RawMessage{}
	for _, v := range values {
		switch text := plain(v.raw); v.in {
		case "path":
			path = strings.ReplaceAll(path, "{"+v.Wire+"}", url.PathEscape(text))
		case "query":
			query.Set(v.Wire, text)
		default:
			body[v.Wire] = v.raw
		}
	}
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	lines := []string{`curl "$PRESSROOM_URL/api/v1` + path + `"`, `-H "Authorization: Bearer $PRESSROOM_KEY"`}
	if c.Method != http.MethodGet {
		lines = append(lines, `-H "Idempotency-Key: $(uuidgen)"`)
	}
	switch {
	case len(body) > 0:
		text, _ := json.Marshal(body) //nolint:errchkjson // cannot fail for valid JSON
		lines = append(lines, `-H "Content-Type: application/json"`, "-d '"+strings.ReplaceAll(string(text), "'", `'\''`)+"'")
		if c.Method != http.MethodPost {
			lines[0] = strings.Replace(lines[0], "curl", "curl -X "+c.Method, 1)
		}
	case c.Method != http.MethodGet:
		lines[0] = strings.Replace(lines[0], "curl", "curl -X "+c.Method, 1)
	}
	return strings.Join(lines, " \\\n  ")
}

// plain returns the text of a basic value.
func plain(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	return string(raw)
}

func (m *model) goSample(c *call, values []value) string {
	var out, arguments strings.Builder
	for _, v := range values {
		literal := m.goLiteral(v.Shape, v.raw)
		if strings.HasPrefix(goType(m.lookUp(c.Input), v.field), "*") {
			name := lowerCamel(v.Wire)
			if v.Shape.Base == "integer" {
				literal = "int64(" + literal + ")"
			}
			fmt.Fprintf(&out, "%s := %s\n", name, literal)
			literal = "&" + name
		}
		fmt.Fprintf(&arguments, "\t%s: %s,\n", openapi.GoName(v.Wire), literal)
	}
	fmt.Fprintf(&out, "answer, err := c.%s(ctx", openapi.GoName(c.Name))
	switch {
	case len(values) > 0:
		fmt.Fprintf(&out, ", client.%s{\n%s}", c.Input, arguments.String())
	case c.Input != "":
		fmt.Fprintf(&out, ", client.%s{}", c.Input)
	}
	return out.String() + ")"
}

// goLiteral returns a value as a Go expression.
func (m *model) goLiteral(s shape, raw json.RawMessage) string {
	if s.List {
		var elements []json.RawMessage
		_ = json.Unmarshal(raw, &elements) // examples follow their schemas
		s.List = false
		name := goBase(s)
		if s.Named {
			name = "client." + name
		}
		var literals []string
		for _, element := range elements {
			literals = append(literals, strings.TrimPrefix(m.goLiteral(s, element), name))
		}
		return "[]" + name + "{" + strings.Join(literals, ", ") + "}"
	}
	if s.Enum {
		return "client." + goConstant(s.Base, plain(raw))
	}
	r := m.lookUp(s.Base)
	if !s.Named || r == nil {
		return string(raw)
	}
	var members map[string]json.RawMessage
	_ = json.Unmarshal(raw, &members)
	var literals []string
	for _, f := range r.Fields {
		if given, ok := members[f.Wire]; ok {
			literals = append(literals, openapi.GoName(f.Wire)+": "+m.goLiteral(f.Shape, given))
		}
	}
	return "client." + s.Base + "{" + strings.Join(literals, ", ") + "}"
}

func tsSample(c *call, values []value) string {
	var arguments []string
	for _, v := range values {
		arguments = append(arguments, v.Wire+": "+string(v.raw))
	}
	call := "const answer = await pressroom." + lowerCamel(c.Name) + "("
	if len(arguments) == 0 {
		return call + ");"
	}
	return call + "{ " + strings.Join(arguments, ", ") + " });"
}

var pyWords = strings.NewReplacer("true", "True", "false", "False", "null", "None")

func pySample(c *call, values []value) string {
	var arguments []string
	for _, v := range values {
		literal := string(v.raw)
		if v.Shape.Base == "boolean" {
			literal = pyWords.Replace(literal)
		}
		if v.in != "path" {
			literal = v.Wire + "=" + literal
		}
		arguments = append(arguments, literal)
	}
	return "response = pressroom." + c.Name + "(" + strings.Join(arguments, ", ") + ")"
}
