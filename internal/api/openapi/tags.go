package openapi

import (
	"fmt"

	"pressroom.example/pressroom/internal/core/operation"
)

func findTag(path string) (string, error) {
	group, ok := operation.GroupOf(path)
	if !ok {
		return "", fmt.Errorf("no group of operations contains the path %s", path)
	}
	return group.Name, nil
}

func tagObjects(usedNames map[string]bool) []tagObject {
	var out []tagObject
	for _, g := range operation.Groups() {
		if usedNames[g.Name] {
			out = append(out, tagObject{Name: g.Name, Description: g.Description})
		}
	}
	return out
}
