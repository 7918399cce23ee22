package operation

import (
	"maps"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pressroom.example/pressroom/internal/teamtime"
)

type (
	leaf struct {
		N int `json:"n"`
	}
	base struct {
		Leaf leaf `json:"leaf"`
	}
	inner struct {
		base

		At     teamtime.Moment `json:"at"`
		Leaves []leaf          `json:"leaves" jsonschema:"Many."`
	}
	outer struct {
		base

		Inner *inner `json:"inner,omitempty"`
		Name  string `json:"name" maxLength:"3"`
	}
)

// Every struct in an output is a component, except embedded structs, whose members are inlined.
func TestOutputSchemas(t *testing.T) {
	t.Parallel()
	root, parts := outputSchemas(reflect.TypeFor[outer]())
	if diff := cmp.Diff([]string{"inner", "leaf"}, slices.Sorted(maps.Keys(parts))); diff != "" {
		t.Error(diff)
	}
	within := parts["inner"]
	for what, pair := range map[string][2]string{
		"a struct":             {root.Properties["inner"].Ref, ComponentsRef + "inner"},
		"in an embedded one":   {root.Properties["leaf"].Ref, ComponentsRef + "leaf"},
		"a time":               {within.Properties["at"].Ref, MomentRef},
		"items of a list":      {within.Properties["leaves"].Items.Ref, ComponentsRef + "leaf"},
		"a list's description": {within.Properties["leaves"].Description, "Many."},
		"embedded in a part":   {within.Properties["leaf"].Ref, ComponentsRef + "leaf"},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%s: %q, want %q", what, pair[0], pair[1])
		}
	}
	if root.Properties["name"].MaxLength == nil || slices.Contains(root.Required, "inner") {
		t.Errorf("the tags are lost: %+v", root)
	}
	if within.Properties["leaves"].Type != "array" {
		t.Errorf("a list is %+v", within.Properties["leaves"])
	}
}
