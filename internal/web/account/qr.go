package account

import (
	"fmt"
	"html/template"
	"strings"

	"github.com/boombuler/barcode/qr"
)

// quiet is the margin that scanners need around a QR code, in modules (ISO/IEC 18004).
const quiet = 4

// module is the size of a module in CSS pixels: a whole number, as scanners fail on modules of uneven sizes.
const module = 5

// qrCode draws a text as an SVG, dark on light whatever the page's colors are. It is part of the page, whose policy
// takes no image from a data: address.
func qrCode(text string) (template.HTML, error) {
	code, err := qr.Encode(text, qr.L, qr.Auto) // a screen shows it without damage, and fewer modules scan better
	if err != nil {
		return "", fmt.Errorf("drawing a QR code: %w", err)
	}
	side := code.Bounds().Dx()
	var path strings.Builder
	for y := range side {
		for x := range side {
			if r, _, _, _ := code.At(x, y).RGBA(); r == 0 {
				fmt.Fprintf(&path, "M%d %dh1v1h-1z", x+quiet, y+quiet)
			}
		}
	}
	all := side + 2*quiet
	drawing := fmt.Sprintf(
		`<svg class="qr" viewBox="0 0 %[1]d %[1]d" width="%[2]d" height="%[2]d" role="img" aria-label="QR code" shape-rendering="crispEdges">`+
			`<path fill="#fff" d="M0 0h%[1]dv%[1]dh-%[1]dz"/><path fill="#000" d="%[3]s"/></svg>`, all, all*module,
		path.String())
	return template.HTML(drawing), nil //nolint:gosec // numbers alone
}
