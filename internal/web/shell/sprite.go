package shell

import (
	"fmt"
	"html/template"
	"regexp"
	"strings"
	"sync"
)

var (
	symbol = regexp.MustCompile(`(?s)<symbol id="([^"]+)".*?</symbol>`)
	// drawings are the icons as symbols, by name.
	drawings = sync.OnceValue(func() map[string]string {
		out := map[string]string{}
		for _, found := range symbol.FindAllStringSubmatch(string(assets["icons.svg"].data), -1) {
			out[found[1]] = found[0]
		}
		return out
	})
)

// Sprite returns a hidden drawing of icons, and of all networks' logos. With it, a page that shows hundreds of them uses
// the short SpriteIcon and SpriteLogo.
func Sprite(names ...string) (template.HTML, error) {
	for _, name := range networkIcons {
		names = append(names, "net-"+name)
	}
	var out strings.Builder
	for _, name := range names {
		drawing, ok := drawings()[name]
		if !ok {
			return "", fmt.Errorf("there is no icon %s", name)
		}
		out.WriteString(drawing)
	}
	return template.HTML(`<svg hidden>` + out.String() + `</svg>`), nil //nolint:gosec // an asset
}

// SpriteIcon returns an icon of the page's Sprite.
func SpriteIcon(name string) (template.HTML, error) {
	if !symbols[name] {
		return "", fmt.Errorf("there is no icon %s", name)
	}
	return template.HTML(`<svg><use href="#` + name + `"/></svg>`), nil //nolint:gosec // a map key
}

// SpriteLogo returns a network's logo of the page's Sprite, or nothing for an unknown network.
func SpriteLogo(platform string) template.HTML {
	platform = strings.TrimSuffix(platform, "_business")
	name, ok := networkIcons[platform]
	if !ok {
		return ""
	}
	return template.HTML(`<svg class="net ` + platform + `"><use href="#net-` + name + `"/></svg>`) //nolint:gosec // map keys
}
