package account

import (
	"fmt"
	"html/template"
	"strings"

	"github.com/boombuler/barcode/qr"
)

// quiet is the margin of a QR code that scanners need, in modules (ISO/IEC 18004).
const quiet = 4

// module is the size of a module in CSS pixels: an integer, because scanners fail on uneven modules.
const module = 5

// qrCode returns a text as an inline SVG, dark on light in any color scheme. It is inline because the page's policy
// forbids images from data: URLs.
func qrCode(text string) (template.HTML, error) {
	// low error correction suffices on screens, and fewer modules are easier to scan
	code, err := qr.Encode(text, qr.L, qr.Auto)
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
		`<svg class="qr" viewBox="0 0 %[1]d %[1]d" width="%[2]d" height="%[2]d" role="img" aria-label="QR code" `+
			`shape-rendering="crispEdges">`+
			`<path fill="#fff" d="M0 0h%[1]dv%[1]dh-%[1]dz"/><path fill="#000" d="%[3]s"/></svg>`, all, all*module,
		path.String())
	return template.HTML(drawing), nil //nolint:gosec // contains only numbers
}
