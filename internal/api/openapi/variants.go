package openapi

import (
	"fmt"
	"maps"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"

	"pressroom.example/pressroom/internal/core/operation"
)

// DiscriminatorSuffix is the name suffix of the component that lists all values of a union's discriminator. The suffix
// is not Type, because ogen uses that suffix for its own union types.
const DiscriminatorSuffix = "Kind"

// addVariants replaces the component of an operation's output with a union of its variants. Each variant is a component
// that is named after its discriminator value: the variant social_post of Job is SocialPostJob.
func (b *builder) addVariants(op *operation.Operation) {
	variants, base := op.Variants, b.components.Schemas[op.OutputName]
	// Outputs that embed this type use the component that lists all values.
	b.components.Schemas[op.OutputName+DiscriminatorSuffix] = newEnumeration(op.OutputName+DiscriminatorSuffix,
		base.Properties[variants.Discriminator].Enum)
	union := &jsonschema.Schema{Description: base.Description}
	mapping := map[string]string{}
	for _, value := range slices.Sorted(maps.Keys(variants.Schemas)) {
		name := GoName(value) + op.OutputName
		variant := base.CloneSchemas()
		variant.Properties[variants.Discriminator] = constSchema(op.OutputName+DiscriminatorSuffix, value)
		variant.Properties[variants.Member] = variants.Schemas[value].CloneSchemas()
		variant.Description = fmt.Sprintf("%s with the %s %s.", op.OutputName, variants.Discriminator, value)
		b.components.Schemas[name] = variant
		union.OneOf = append(union.OneOf, ref(name))
		mapping[value] = operation.ComponentsRef + name
	}
	union.Extra = map[string]any{"discriminator": map[string]any{"propertyName": variants.Discriminator, "mapping": mapping}}
	b.components.Schemas[op.OutputName] = union
}
