package fuzz

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"time"
)

// marker is part of every generated value. An error that contains it echoes the input.
const marker = "zqfuzz81"

// unknownName is the name of unknown arguments, which an error may contain.
const unknownName = "zqname81"

// verbatim is text, possibly invalid JSON, that is sent unchanged.
type verbatim string

// generator generates random requests.
type generator struct {
	*rand.Rand
	pool   *pool
	others []any // IDs of the other team
}

// in returns true with a probability of 1/times.
func (c *generator) in(times int) bool { return c.IntN(times) == 0 }

func pick[T any](c *generator, of []T) T { return of[c.IntN(len(of))] }

// value generates a value for an argument. Waiting times are short.
func (c *generator) value(a argument, subject string) any {
	if strings.HasSuffix(a.name, "_seconds") {
		return a.schema.number("minimum", 0) + c.IntN(2)
	}
	if a.schema.moment(a.name) {
		return c.words(a.schema, a.name)
	}
	if a.schema.text("type") != "array" && len(a.schema.list("enum")) == 0 {
		if known, ok := c.pool.pick(a.name, subject); ok && !c.in(5) {
			return known
		}
	}
	if a.example != nil && !c.in(3) {
		return a.example
	}
	return c.of(a.schema, a.name, subject)
}

func (c *generator) of(s schema, name, subject string) any {
	if enum := s.list("enum"); len(enum) > 0 {
		return pick(c, enum)
	}
	switch s.text("type") {
	case "integer", "number":
		low := s.number("minimum", 1)
		return low + c.IntN(max(1, min(s.number("maximum", 50), 50)-low+1))
	case "boolean":
		return c.in(2)
	case "array":
		return c.list(s, name, subject)
	case "object":
		return c.object(s, subject)
	}
	return c.words(s, name)
}

func (c *generator) list(s schema, name, subject string) any {
	items := []any{}
	low := s.number("minItems", 0)
	for range low + c.IntN(min(s.number("maxItems", 4), 4)-low+1) {
		items = append(items, c.value(argument{name: name, schema: s.below("items")}, subject))
	}
	return items
}

func (c *generator) object(s schema, subject string) any {
	out := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(s.below("properties"))) {
		if slices.Contains(s.list("required"), any(name)) || c.in(2) {
			of, _ := s.below("properties")[name].(map[string]any)
			out[name] = c.value(argument{name: name, schema: of}, subject)
		}
	}
	return out
}

// moment reports whether a text is a time. Times in examples have passed, so value generates new times.
func (s schema) moment(name string) bool {
	return strings.Contains(s.text("description"), "ISO 8601") || slices.Contains([]string{"from", "to"}, name)
}

// words generates a text, which matches the schema if possible.
func (c *generator) words(s schema, name string) any {
	if pattern := s.text("pattern"); pattern != "" {
		form := regexp.MustCompile(pattern)
		if text, ok := c.pool.pickText(form); ok {
			return text
		}
		for _, text := range []string{hex.EncodeToString(fmt.Appendf(nil, "%032d", c.IntN(1000))), marker + "-1", "en"} {
			if form.MatchString(text) {
				return text
			}
		}
	}
	if s.moment(name) {
		return time.Now().Add(time.Duration(c.IntN(2000)-200) * time.Hour).
			Format(pick(c, []string{time.RFC3339, "2006-01-02T15:04", "2006-01-02T15:04:05"}))
	}
	text := pick(c,
		[]string{
			"harbour " + marker, "quay #harbour " + marker, marker, "漁港 " + marker,
			marker + " https://files.harbour.example/a", "harbour_cafe", "coffee",
		})
	if most := s.number("maxLength", 0); most > 0 && len(text) > most {
		return text[:most]
	}
	return text
}

// hostile returns a value that most arguments reject.
func (c *generator) hostile() any {
	deep := 1 << c.IntN(16)
	return pick(c, []any{
		nil, true, "", marker, " " + marker + " ", "0", -1, 0, 1.5, 9223372036854775807,
		verbatim("9223372036854775808"), verbatim("1e400"), verbatim("-0"), verbatim("1e-400"), verbatim("00"),
		verbatim("1" + strings.Repeat("0", 5000)), strings.Repeat(marker, 4000), marker + "\x00",
		"\u202e" + marker + "\u2066", "\ufeff" + marker, marker + "\n\r\t", "e\u0301" + strings.Repeat("\u0301", 500) + marker,
		verbatim(`"\ud800` + marker + `"`), verbatim(`"\udc00\ud800` + marker + `"`),
		verbatim("\"" + marker + "\xff\xfe\""), verbatim("\"" + marker + "\xc0\xaf\""),
		verbatim("\"" + marker + "\x00\""), verbatim(`"\u0000` + marker + `"`),
		"../../etc/" + marker, "' OR 1=1 --" + marker, "%00" + marker, "${" + marker + "}", "{{" + marker + "}}",
		"<script>" + marker, "javascript:" + marker, "https://127.0.0.1/" + marker, "http://[::1]:1/" + marker, "file:///" + marker,
		"2026-03-29T02:30", "2026-13-45T99:99" + marker, "0000-00-00T00:00Z", "9999-12-31T23:59:59.999999999Z",
		"+292278994-08-17T07:12:55Z", "2026-06-30T23:59:60Z",
		[]any{}, []any{marker}, []any{nil}, []any{1, 1}, map[string]any{}, map[string]any{marker: marker},
		map[string]any{"__proto__": marker}, slices.Repeat([]any{1}, 200), slices.Repeat([]any{marker}, 1000),
		verbatim(strings.Repeat("[", deep) + strings.Repeat("]", deep)),
		verbatim(strings.Repeat(`{"a":`, deep) + "1" + strings.Repeat("}", deep)),
		verbatim(`{"a":1,"a":` + `"` + marker + `"}`), verbatim("NaN"), verbatim("'" + marker + "'"), verbatim(""),
		"00000000-0000-0000-0000-000000000000", "social_post:00000000-0000-0000-0000-000000000000",
		"prk_" + strings.Repeat("a", 38), marker + "!#/?&=%",
	})
}

// call is a call of an operation over REST or MCP.
type call struct {
	op   *described
	args map[string]any
	key  *string // Idempotency-Key
}

// call generates a call that the description allows.
func (c *generator) call(op *described) call {
	out := call{op: op, args: map[string]any{}}
	for _, a := range op.arguments {
		if a.required || c.in(2) {
			out.args[a.name] = c.value(a, op.subject())
		}
	}
	if op.keyed && (op.keyRequired || c.in(3)) {
		key := fmt.Sprint(marker, c.IntN(400)) // sometimes reuses a key
		out.key = &key
	}
	return out
}

// corruptArgument makes one change to the arguments.
func (c *generator) corruptArgument(k *call) {
	names := slices.Sorted(maps.Keys(k.args))
	for _, a := range k.op.arguments {
		if !slices.Contains(names, a.name) {
			names = append(names, a.name)
		}
	}
	switch chosen := c.IntN(10); {
	case len(names) == 0 || chosen == 0:
		k.args[pick(c,
			[]string{
				unknownName, marker + "[]", "idempotency_key", "api_key", "__proto__", "\u202e" + marker, strings.Repeat(marker, 500),
			})] = c.hostile()
	case chosen == 1:
		delete(k.args, pick(c, names))
	case chosen == 2:
		key := pick(c, []string{"", " ", strings.Repeat(marker, 40), `"` + marker + `"`, marker + "\t", marker + "é", "\"", marker})
		k.key = &key
	case chosen == 3:
		k.key = nil
	case chosen == 4 && len(c.others) > 0: // IDs only: stored text would look like the team's own text
		if name := pick(c, names); strings.HasSuffix(name, "id") || strings.HasSuffix(name, "ids") {
			k.args[name] = pick(c, c.others)
		}
	case chosen == 5: // change a nested value
		name := pick(c, names)
		k.args[name] = c.corruptPart(k.args[name])
	default:
		k.args[pick(c, names)] = c.hostile()
	}
}

// corruptPart changes a part of a value.
func (c *generator) corruptPart(value any) any {
	switch v := value.(type) {
	case []any:
		if len(v) > 0 {
			v = slices.Clone(v)
			v[c.IntN(len(v))] = c.hostile()
			return v
		}
	case map[string]any:
		v = maps.Clone(v)
		if names := slices.Sorted(maps.Keys(v)); len(names) > 0 && !c.in(3) {
			name := pick(c, names)
			v[name] = c.corruptPart(v[name])
		} else {
			v[unknownName] = c.hostile()
		}
		return v
	}
	return c.hostile()
}

// jsonOf returns a value as JSON. Verbatim values are unchanged.
func jsonOf(value any) string {
	switch v := value.(type) {
	case verbatim:
		return string(v)
	case []any:
		parts := make([]string, len(v))
		for i := range v {
			parts[i] = jsonOf(v[i])
		}
		return "[" + strings.Join(parts, ",") + "]"
	case map[string]any:
		parts := make([]string, 0, len(v))
		for _, name := range slices.Sorted(maps.Keys(v)) {
			parts = append(parts, jsonOf(name)+":"+jsonOf(v[name]))
		}
		return "{" + strings.Join(parts, ",") + "}"
	}
	raw, err := json.Marshal(value)
	if err != nil {
		panic(err) // all values can be encoded
	}
	return string(raw)
}
