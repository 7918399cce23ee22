package operation

import (
	"maps"
	"reflect"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"
)

// Variants declares that the type of one member of an output depends on the value of another member. If Data is empty,
// the output has no variants.
type Variants struct {
	Discriminator string                        // the member whose value determines the type
	Member        string                        // the member whose type varies
	Data          map[string][]any              // one value of each type that Member may have, by discriminator value
	Schemas       map[string]*jsonschema.Schema // schema of Member, by discriminator value; set by Define
}

// addVariants sets the schemas of the variants and adds their types to the components.
func (op *Operation) addVariants() {
	v := op.Variants
	if v == nil || len(v.Data) == 0 {
		op.Variants = nil
		return
	}
	v.Schemas = map[string]*jsonschema.Schema{}
	for _, value := range slices.Sorted(maps.Keys(v.Data)) {
		var refs []*jsonschema.Schema
		for _, data := range v.Data[value] {
			t := reflect.TypeOf(data)
			schema, parts := outputSchemas(t)
			maps.Copy(op.Components, parts)
			op.Components[t.Name()] = schema
			refs = append(refs, &jsonschema.Schema{Ref: ComponentsRef + t.Name()})
		}
		v.Schemas[value] = refs[0]
		if len(refs) > 1 {
			v.Schemas[value] = &jsonschema.Schema{OneOf: refs}
		}
	}
}
