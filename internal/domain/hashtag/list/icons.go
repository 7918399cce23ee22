package list

import (
	_ "embed" // icons.txt
	"strings"
	"sync"
)

//go:generate sh icons.sh 4.9.1

//go:embed icons.txt
var iconText string

// icons returns the set of all Remix Icon names, without the prefix ri-.
var icons = sync.OnceValue(func() map[string]bool {
	iconNames := map[string]bool{}
	for line := range strings.Lines(iconText) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		for word := range strings.FieldsSeq(line) {
			if name, noStyle := strings.CutSuffix(word, "="); noStyle {
				iconNames[name] = true
				continue
			}
			iconNames[word+"-line"], iconNames[word+"-fill"] = true, true
		}
	}
	return iconNames
})

// IsIcon reports whether a token is the name of a Remix Icon, with the prefix ri-.
func IsIcon(token string) bool {
	name, found := strings.CutPrefix(token, "ri-")
	return found && icons()[name]
}
