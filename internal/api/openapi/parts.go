package openapi

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"pressroom.example/pressroom/internal/core/operation"
)

// partInliner moves components that are used only once into the objects that use them.
type partInliner struct {
	schemas map[string]*jsonschema.Schema // the document's components
	uses    map[string]int                // number of references to each component
}

// inlineParts moves each object that is used only once, and is named after the member that uses it, into the enclosing
// object. For example, CreditsUsedToday becomes the member used_today of Credits. Objects with other names and items of
// lists remain components.
func inlineParts(schemas map[string]*jsonschema.Schema, paths map[string]map[string]operationObject) error {
	raw, err := json.Marshal([]any{schemas, paths})
	if err != nil {
		return fmt.Errorf("encoding the components: %w", err)
	}
	inliner := partInliner{schemas: schemas, uses: map[string]int{}}
	for _, match := range references.FindAllSubmatch(raw, -1) {
		inliner.uses[string(match[1])]++
	}
	for _, name := range slices.Sorted(maps.Keys(schemas)) {
		if s := schemas[name]; s != nil { // nil if it was moved into another object
			inliner.inline(name, s)
		}
	}
	return nil
}

var references = regexp.MustCompile(`"` + operation.ComponentsRef + `(\w+)"`)

func (in partInliner) inline(owner string, s *jsonschema.Schema) {
	for member, p := range s.Properties {
		name := owner + GoName(member)
		part := in.schemas[name]
		if part == nil || strings.TrimPrefix(p.Ref, operation.ComponentsRef) != name || in.uses[name] > 1 || len(part.Properties) == 0 {
			continue
		}
		part.Description = cmp.Or(p.Description, part.Description)
		s.Properties[member] = part
		delete(in.schemas, name)
		in.inline(name, part)
	}
}
