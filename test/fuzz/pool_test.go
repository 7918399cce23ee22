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

// kept is the maximum number of values per key.
const kept = 60

var identifier = regexp.MustCompile(`^[A-Za-z0-9_:.-]{8,100}$`)

func (p *pool) keep(of, name string, value any) {
	key := of + "." + name
	if text, ok := value.(string); ok && identifier.MatchString(text) {
		p.texts = p.put(p.texts, text)
	}
	if held := p.values[key]; len(held) < kept {
		p.values[key] = append(held, value)
	} else {
		held[p.random.IntN(kept)] = value
	}
}

func (p *pool) put(texts []string, text string) []string {
	if len(texts) < 4*kept {
		return append(texts, text)
	}
	texts[p.random.IntN(len(texts))] = text
	return texts
}

// learn stores the values of an answer, by object.
func (p *pool) learn(of string, answer any) {
	switch v := answer.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) { // in a fixed order, so that a seed determines the requests
			switch inner := v[name].(type) {
			case map[string]any, []any:
				below := name
				if name == "data" || name == "page" {
					below = of
				}
				p.learn(below, inner)
			case string, float64:
				p.keep(of, name, inner)
			}
		}
	case []any:
		for _, item := range v {
			p.learn(of, item)
		}
	}
}

// like returns a value for an argument by its name. For example, the value of folder_id is the ID of a folder.
func (p *pool) like(name, subject string) (any, bool) {
	wanted := strings.TrimSuffix(name, "s")
	of, isID := strings.CutSuffix(wanted, "_id")
	var found []any
	for _, key := range slices.Sorted(maps.Keys(p.values)) {
		values := p.values[key]
		where, member, _ := strings.Cut(key, ".")
		switch {
		case member == wanted || member == name:
			if name != "id" && name != "cursor" || where == subject {
				found = append(found, values...)
			}
		case isID && member == "id" && strings.Contains(where, of):
			found = append(found, values...)
		}
	}
	if len(found) == 0 {
		return nil, false
	}
	return found[p.random.IntN(len(found))], true
}

// matching returns a collected text that matches a pattern.
func (p *pool) matching(pattern *regexp.Regexp) (string, bool) {
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
