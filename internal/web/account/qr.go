package account

import (
	"fmt"
	"html/template"
	"strings"

	"github.com/boombuler/barcode/qr"
)

// quietZone is the margin in modules that scanners need around a QR code (ISO/IEC 18004).
const quietZone = 4

// moduleSize is the width of a module in CSS pixels. It is an integer, because scanners fail on modules of uneven
// sizes.
const moduleSize = 5

// qrCode returns a QR code of text as an inline SVG, dark on light in any color scheme. It is inline because the page's
// Content-Security-Policy forbids images from data: URLs.
func qrCode(text string) (template.HTML, error) {
	// Low error correction is enough on screens, and codes with fewer modules are easier to scan.
	code, err := qr.Encode(text, qr.L, qr.Auto)
	if err != nil {
		return "", fmt.Errorf("drawing a QR code: %w", err)
	}
	side := code.Bounds().Dx()
	var path strings.Builder
	for y := range side {
		for x := range side {
			if r, _, _, _ := code.At(x, y).RGBA(); r == 0 {
				fmt.Fprintf(&path, "M%d %dh1v1h-1z", x+quietZone, y+quietZone)
			}
		}
	}
	size := side + 2*quietZone
	svg := fmt.Sprintf(
		`<svg class="qr" viewBox="0 0 %[1]d %[1]d" width="%[2]d" height="%[2]d" role="img" aria-label="QR code" `+
			`shape-rendering="crispEdges">`+
			`<path fill="#fff" d="M0 0h%[1]dv%[1]dh-%[1]dz"/><path fill="#000" d="%[3]s"/></svg>`, size, size*moduleSize,
		path.String())
	return template.HTML(svg), nil //nolint:gosec // contains only numbers
}
