package reference

import (
	"reflect"
	"strings"
)

// describingOperation is an operation that describes the fields of an argument.
type describingOperation struct{ Tool, Summary string }

// shareArguments removes the fields of an argument if an earlier operation has the same argument with the same fields.
// It sets the argument's SameAs to that operation.
func shareArguments(entries []entry) {
	for i := range entries {
		var own []field
		for _, f := range entries[i].Arguments {
			root := rootOf(f.Name)
			if nested := nestedIn(entries[i].Arguments, f.Name); root == f.Name && len(nested) >= minSharedFields {
				f.SameAs = findEarlier(entries[:i], f.Name, nested)
			}
			if root == f.Name || !isShared(own, root) {
				own = append(own, f)
			}
		}
		entries[i].Arguments = own
	}
}

// minSharedFields is the minimum number of fields that an argument must have for shareArguments to remove them.
const minSharedFields = 5

// rootOf returns the name of the top-level argument that contains a field.
func rootOf(name string) string {
	if end := strings.IndexAny(name, ".["); end >= 0 {
		return name[:end]
	}
	return name
}

// isShared reports whether SameAs is set for an argument.
func isShared(arguments []field, name string) bool {
	for _, f := range arguments {
		if f.Name == name {
			return f.SameAs != nil
		}
	}
	return false
}

// nestedIn returns the fields within a top-level argument.
func nestedIn(arguments []field, name string) []field {
	var out []field
	for _, f := range arguments {
		if strings.HasPrefix(f.Name, name+".") || strings.HasPrefix(f.Name, name+"[].") {
			out = append(out, f)
		}
	}
	return out
}

// findEarlier returns the first operation whose argument name has the same fields, or nil if there is none.
func findEarlier(entries []entry, name string, nested []field) *describingOperation {
	for _, e := range entries {
		if reflect.DeepEqual(nestedIn(e.Arguments, name), nested) {
			return &describingOperation{e.Tool, e.Summary}
		}
	}
	return nil
}
