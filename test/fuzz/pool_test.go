package fuzz

import (
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
)

// pool collects values from responses, so that requests refer to existing items.
type pool struct {
	random *rand.Rand
	values map[string][]any // by object and member, such as posts.id
	texts  []string         // all texts that may be identifiers
}

// maxValues is the maximum number of values per key.
const maxValues = 60

var identifier = regexp.MustCompile(`^[A-Za-z0-9_:.-]{8,100}$`)

// add stores the value of an object's member. At the maximum, it replaces a random value.
func (p *pool) add(object, member string, value any) {
	key := object + "." + member
	if text, ok := value.(string); ok && identifier.MatchString(text) {
		p.addText(text)
	}
	if values := p.values[key]; len(values) < maxValues {
		p.values[key] = append(values, value)
	} else {
		values[p.random.IntN(maxValues)] = value
	}
}

func (p *pool) addText(text string) {
	if len(p.texts) < 4*maxValues {
		p.texts = append(p.texts, text)
	} else {
		p.texts[p.random.IntN(len(p.texts))] = text
	}
}

// addResponse stores the values of a response with an object, or of a part of it.
func (p *pool) addResponse(object string, response any) {
	switch v := response.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) { // in a fixed order, so that a seed determines the requests
			switch inner := v[name].(type) {
			case map[string]any, []any:
				innerObject := name
				if name == "data" || name == "page" {
					innerObject = object
				}
				p.addResponse(innerObject, inner)
			case string, float64:
				p.add(object, name, inner)
			}
		}
	case []any:
		for _, item := range v {
			p.addResponse(object, item)
		}
	}
}

// pick returns a random value for an argument by its name, such as the ID of a folder for folder_id. It reports
// whether the pool has a value. subject is the object of the operation.
func (p *pool) pick(name, subject string) (any, bool) {
	singular := strings.TrimSuffix(name, "s")
	referenced, isID := strings.CutSuffix(singular, "_id")
	var found []any
	for _, key := range slices.Sorted(maps.Keys(p.values)) {
		values := p.values[key]
		object, member, _ := strings.Cut(key, ".")
		switch {
		case member == singular || member == name:
			if name != "id" && name != "cursor" || object == subject {
				found = append(found, values...)
			}
		case isID && member == "id" && strings.Contains(object, referenced):
			found = append(found, values...)
		}
	}
	if len(found) == 0 {
		return nil, false
	}
	return found[p.random.IntN(len(found))], true
}

// pickText returns a random text that matches a pattern, and reports whether it found one.
func (p *pool) pickText(pattern *regexp.Regexp) (string, bool) {
	for range 20 {
		if len(p.texts) == 0 {
			break
		}
		if text := p.texts[p.random.IntN(len(p.texts))]; pattern.MatchString(text) {
			return text, true
		}
	}
	return "", false
}
