package apicli

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// SGR parameters (ECMA-48) for text styles and for colors from the terminal's theme.
const (
	bold   = "1"
	dim    = "2"
	red    = "31"
	green  = "32"
	yellow = "33"
	cyan   = "36"
)

// paint returns a text formatted with an SGR parameter. If enabled is false, it returns the text unchanged.
func paint(enabled bool, code, text string) string {
	if !enabled || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// ErrorLine returns an error message: the program's name, in red if color is true, and the text.
func ErrorLine(color bool, text string) string { return paint(color, red, "pressroom:") + " " + text }

// statusColors maps the values in the columns STATUS and STATE to their colors.
var statusColors = map[string]string{
	"published": green, "succeeded": green, "ready": green, "connected": green, "stored": green,
	"scheduled": cyan, "processing": cyan, "running": cyan, "sending": cyan, "waiting": cyan,
	"partially_published": yellow, "partially_succeeded": yellow, "unconfirmed": yellow, "expiring": yellow,
	"failed": red, "error": red, "lost": red, "refused": red, "expired": red,
}

// paintList formats an aligned table: it makes the headings bold and colors the values in the columns STATUS and STATE.
func paintList(table string) string {
	var out strings.Builder
	var columns []int // in characters, because byte offsets differ between lines
	for i, line := range slices.Collect(strings.Lines(table)) {
		text := strings.TrimRight(line, " \n")
		if i == 0 {
			columns = statusColumns(text)
			out.WriteString(paint(true, bold, text) + "\n")
			continue
		}
		out.WriteString(paintStatus(text, columns) + "\n")
	}
	return out.String()
}

// statusColumns returns the offsets, in characters, of the columns STATUS and STATE, from right to left.
func statusColumns(headings string) []int {
	var columns []int
	for _, name := range []string{"STATUS", "STATE"} {
		i := strings.Index("  "+headings+"  ", "  "+name+"  ")
		if i >= 0 {
			columns = append(columns, utf8.RuneCountInString(headings[:i]))
		}
	}
	slices.Sort(columns)
	slices.Reverse(columns)
	return columns
}

func paintStatus(line string, columns []int) string {
	runes := []rune(line)
	for _, column := range columns {
		if column >= len(runes) {
			continue
		}
		value, rest, _ := strings.Cut(string(runes[column:]), " ")
		if color := statusColors[value]; color != "" {
			runes = []rune(string(runes[:column]) + paint(true, color, value) + strings.Repeat(" ", min(1, len(rest))) + rest)
		}
	}
	return string(runes)
}

// paintItem formats the labels of an aligned item in bold. A label ends at two spaces.
func paintItem(item string) string {
	var out strings.Builder
	for line := range strings.Lines(item) {
		label, value, ok := strings.Cut(line, "  ")
		if !ok {
			out.WriteString(line)
			continue
		}
		out.WriteString(paint(true, bold, label) + "  " + value)
	}
	return out.String()
}
