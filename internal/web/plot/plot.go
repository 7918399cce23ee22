// Package plot draws charts as SVG, without scripts or style attributes. The page's stylesheet styles them by class, so
// they adapt to dark mode and printing. Every chart has a text description, and pages also show the numbers as text.
// The same data always results in the same SVG.
package plot

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"math"
	"reflect"
	"strconv"
	"strings"

	"pressroom.example/pressroom/internal/locale"
)

//go:embed templates/*.svg
var files embed.FS

var templates = parse()

func parse() *template.Template {
	return template.Must(template.New("").Funcs(template.FuncMap{"at": coordinate}).ParseFS(files, "templates/*.svg"))
}

// views maps each template to a value of its data's type.
var views = map[string]any{
	"columns.svg": columnsView{}, "heat.svg": heatView{}, "key.svg": seriesView{}, "legend.svg": linesView{},
	"line.svg": lineView{}, "lines.svg": linesView{}, "range.svg": rangeView{}, "scale.svg": heatView{},
	"share.svg": shareView{}, "spark.svg": sparkView{},
}

// draw renders a template. It panics if that fails, because the templates are part of the program.
func draw(name string, data any) template.HTML {
	if want := reflect.TypeOf(views[name]); reflect.TypeOf(data) != want {
		panic(fmt.Sprintf("%s takes %v, not %T", name, want, data))
	}
	var out bytes.Buffer
	if err := templates.ExecuteTemplate(&out, name, data); err != nil {
		panic(err)
	}
	// Remove the line breaks between elements, but keep the line breaks in tooltips.
	return template.HTML(strings.ReplaceAll(out.String(), ">\n", ">")) //nolint:gosec // made by html/template
}

// coordinate formats a coordinate or length with at most one decimal.
func coordinate(v float64) string {
	text := strconv.FormatFloat(v, 'f', 1, 64)
	if text = strings.TrimSuffix(text, ".0"); text == "-0" {
		return "0"
	}
	return text
}

// tick is a labeled mark on a scale.
type tick struct {
	At   float64
	Text string
}

// FormatNumber formats a number with at most three significant digits, such as 12.3K or 4.56M.
func FormatNumber(l *locale.Language, v float64) string { return formatNumber(l, v, 3) }

func formatNumber(l *locale.Language, v float64, significant int) string {
	for _, unit := range []struct {
		size float64
		text locale.Key
	}{{1e9, "%sB"}, {1e6, "%sM"}, {1e3, "%sK"}} {
		if math.Abs(v) >= 0.9995*unit.size {
			return l.T(unit.text, l.LocalizeDecimal(formatDigits(v/unit.size, significant)))
		}
	}
	return l.LocalizeDecimal(formatDigits(v, significant))
}

// FormatPercent formats a percentage with at most three significant digits. It formats 1.71 as 1.71%.
func FormatPercent(l *locale.Language, v float64) string { return l.T("%s%%", FormatNumber(l, v)) }

// FormatRange formats an interval with at most two significant digits, such as "1.2 to 3.4".
func FormatRange(l *locale.Language, low, high float64) string {
	return l.T("%s to %s", formatNumber(l, low, 2), formatNumber(l, high, 2))
}

// FormatPercentRange is like FormatRange, but for percentages.
func FormatPercentRange(l *locale.Language, low, high float64) string {
	return l.T("%s to %s", l.T("%s%%", formatNumber(l, low, 2)), l.T("%s%%", formatNumber(l, high, 2)))
}

// formatDigits formats a number with at most the given number of significant digits. It keeps all digits of the integer
// part.
func formatDigits(v float64, significant int) string {
	decimals := significant - 1
	if size := math.Abs(v); size > 1e-6 {
		decimals = max(0, decimals-int(math.Floor(math.Log10(size/0.9995))))
	}
	text := strconv.FormatFloat(v, 'f', decimals, 64)
	if strings.Contains(text, ".") {
		text = strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
	}
	if text == "-0" {
		return "0"
	}
	return strings.Replace(text, "-", "−", 1)
}

// scale returns the low end, the high end and the step of a scale for a range of values. All three numbers are round.
func scale(low, high float64) (float64, float64, float64) {
	if high <= low {
		low, high = low-math.Max(1, math.Abs(low)*0.01), high+math.Max(1, math.Abs(high)*0.01)
	}
	const lines = 4
	rawStep := (high - low) / lines
	power := math.Pow(10, math.Floor(math.Log10(rawStep)))
	step := 10 * power
	for _, factor := range []float64{1, 2, 2.5, 5} {
		if rawStep <= factor*power*(1+1e-9) {
			step = factor * power
			break
		}
	}
	return math.Floor(low/step+1e-9) * step, math.Ceil(high/step-1e-9) * step, step
}
