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
	// symbolsByName returns the SVG symbols of the icons, by name.
	symbolsByName = sync.OnceValue(func() map[string]string {
		out := map[string]string{}
		for _, found := range symbol.FindAllStringSubmatch(string(assets["icons.svg"].data), -1) {
			out[found[1]] = found[0]
		}
		return out
	})
)

// Sprite returns a hidden SVG element with the named icons and the logos of all networks. A page that contains it can
// show hundreds of icons with the short elements that SpriteIcon and SpriteLogo return.
func Sprite(names ...string) (template.HTML, error) {
	for _, name := range networkIcons {
		names = append(names, "net-"+name)
	}
	var out strings.Builder
	for _, name := range names {
		svg, ok := symbolsByName()[name]
		if !ok {
			return "", fmt.Errorf("unknown icon %s", name)
		}
		out.WriteString(svg)
	}
	return template.HTML(`<svg hidden>` + out.String() + `</svg>`), nil //nolint:gosec // an asset
}

// SpriteIcon returns an icon by reference to the page's Sprite.
func SpriteIcon(name string) (template.HTML, error) {
	if !iconNames[name] {
		return "", fmt.Errorf("unknown icon %s", name)
	}
	return template.HTML(`<svg><use href="#` + name + `"/></svg>`), nil //nolint:gosec // a map key
}

// SpriteLogo returns a network's logo by reference to the page's Sprite. It returns "" for an unknown network.
func SpriteLogo(platform string) template.HTML {
	platform = strings.TrimSuffix(platform, "_business")
	name, ok := networkIcons[platform]
	if !ok {
		return ""
	}
	return template.HTML(`<svg class="net ` + platform + `"><use href="#net-` + name + `"/></svg>`) //nolint:gosec // map keys
}
