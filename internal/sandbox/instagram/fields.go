package instagram

import (
	"slices"
	"strings"

	"pressroom.example/pressroom/internal/sandbox/graph"
)

// field is a requested field, as in media.limit(5){id,caption}.
type field struct {
	name   string
	args   map[string]string // arguments of the modifiers by name
	fields []field           // requested fields of the objects in the field
}

const (
	maxFieldsText  = 4096 // bytes
	maxFieldsDepth = 5
)

// parseFields parses the parameter "fields", and reports whether it is well-formed.
func parseFields(text string) ([]field, bool) {
	p := fieldParser{rest: text}
	fields, ok := p.list(0)
	return fields, ok && p.rest == "" && len(text) <= maxFieldsText
}

// fieldParser parses lists of fields: names with modifiers in parentheses, and nested lists in braces.
type fieldParser struct{ rest string }

func (p *fieldParser) skip(token string) bool {
	rest, found := strings.CutPrefix(p.rest, token)
	p.rest = rest
	return found
}

func (p *fieldParser) word() (string, bool) {
	end := strings.IndexFunc(p.rest, func(r rune) bool {
		return r != '_' && (r < 'a' || r > 'z') && (r < '0' || r > '9')
	})
	if end < 0 {
		end = len(p.rest)
	}
	word := p.rest[:end]
	p.rest = p.rest[end:]
	return word, word != ""
}

func (p *fieldParser) list(depth int) ([]field, bool) {
	var fields []field
	for depth <= maxFieldsDepth {
		field, ok := p.field(depth)
		if !ok {
			return nil, false
		}
		fields = append(fields, field)
		if !p.skip(",") {
			return fields, true
		}
	}
	return nil, false
}

func (p *fieldParser) field(depth int) (field, bool) {
	name, ok := p.word()
	field := field{name: name, args: map[string]string{}}
	for ok && p.skip(".") {
		ok = p.modifier(field.args)
	}
	if ok && p.skip("{") {
		field.fields, ok = p.list(depth + 1)
		ok = ok && p.skip("}")
	}
	return field, ok
}

// modifier parses a modifier such as limit(5). Its argument must not contain parentheses.
func (p *fieldParser) modifier(args map[string]string) bool {
	name, ok := p.word()
	if !ok || !p.skip("(") {
		return false
	}
	argument, rest, closed := strings.Cut(p.rest, ")")
	p.rest = rest
	args[name] = argument
	return closed && !strings.Contains(argument, "(")
}

// selectFields returns the requested fields and the ID. It returns an error for an unknown field. It omits fields whose
// value is nil.
func selectFields(fields []field, values map[string]any) (map[string]any, error) {
	out := map[string]any{}
	if id, ok := values["id"]; ok {
		out["id"] = id
	}
	for _, field := range fields {
		value, ok := values[field.name]
		if !ok {
			return nil, graph.InvalidParameter("(#100) Tried accessing nonexisting field (" + field.name + ")")
		}
		if edge, isEdge := value.(edge); isEdge {
			var err error
			if value, err = edge(field); err != nil {
				return nil, err
			}
		}
		if value != nil {
			out[field.name] = value
		}
	}
	return out, nil
}

// edge returns the value of a field that contains other objects.
type edge func(field) (any, error)

// checkModifiers returns an error if the field has a modifier that is not in names.
func (f field) checkModifiers(names ...string) error {
	for name := range f.args {
		if !slices.Contains(names, name) {
			return graph.InvalidParameter("(#100) Unknown modifier " + name)
		}
	}
	return nil
}
