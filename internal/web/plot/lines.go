package plot

import (
	"html/template"
	"math"
	"slices"
	"strconv"
	"strings"

	"pressroom.example/pressroom/internal/locale"
)

const (
	linesWidth, linesHeight   = 840.0, 240.0
	tallWidth, tallHeight     = 660.0, 320.0
	narrowWidth, narrowHeight = 340.0, 220.0
	maxNarrowNames            = 4
)

// MaxSeries is the maximum number of lines in a chart. People can distinguish only a limited number of colors.
const MaxSeries = 6

// Lines is a chart that compares several lines over time.
type Lines struct {
	Label        string // description
	Percent      bool   // the values are percentages
	IncludesZero bool   // the scale includes 0
	Tall         bool   // the chart takes up two thirds of the page's width
	Series       []Series

	narrow bool
}

// Narrow returns the chart in a size for phones.
func (l Lines) Narrow() Lines {
	l.narrow = true
	return l
}

// size returns the chart's width and height, and the number of labels that fit below it.
func (l Lines) size() (float64, float64, int) {
	if l.narrow {
		return narrowWidth, narrowHeight, maxNarrowNames
	}
	if l.Tall {
		return tallWidth, tallHeight, maxNames
	}
	return linesWidth, linesHeight, maxNames
}

// Series is one line of a chart. Its points must be sorted by At, which determines their position.
type Series struct {
	Name   string
	Color  int // number of the color, from 1; 0 selects the color by the series' position in the chart
	Points []Point
	Past   bool // data to compare with, drawn behind the other lines
	Filled bool // the area below the line is filled
}

// class returns the CSS class of the line with index i.
func (s Series) class(i int) string {
	if s.Past {
		return "past"
	}
	if s.Color > 0 {
		i = (s.Color - 1) % MaxSeries
	}
	return "s" + strconv.Itoa(i+1)
}

// Key returns a dot in the color of the line with index i, or "" if a chart does not show that many lines.
func Key(i int) template.HTML {
	if i >= MaxSeries {
		return ""
	}
	return draw("key.svg", seriesView{Class: Series{}.class(i)})
}

type linesView struct {
	lineView

	Kind   string
	Series []seriesView
	Hits   []hit
}

// hit is a column of the chart. Its tooltip shows the values of all lines at one time.
type hit struct {
	X, Width float64
	Text     string
}

type seriesView struct {
	Class, Name, Path, Area string
	Dots                    []dot
}

// Draw returns the first MaxSeries lines as SVG, or "" if no line has two values.
func (l Lines) Draw(lang *locale.Language) template.HTML {
	low, high, first, last, ok := l.bounds()
	if !ok {
		return ""
	}
	low, high, step := scale(low, high)
	width, height, maxLabels := l.size()
	view := linesView{Kind: "wide", lineView: lineView{
		Label: l.Label, Right: width - right, Bottom: height - bottom, Width: width, Height: height,
	}}
	if l.narrow {
		view.Kind = "narrow"
	}
	y := func(v float64) float64 { return top + (high-v)/(high-low)*(height-top-bottom) }
	for v := low; v <= high+step/2; v += step {
		view.Lines = append(view.Lines, tick{y(v), l.formatValue(lang, v)})
	}
	view.Left = labelWidth(view.Lines)
	x := func(at float64) float64 {
		return view.Left + inset + (width-view.Left-right-2*inset)*(at-first)/(last-first)
	}
	view.Names = l.names(x, first, last, maxLabels)
	for i, s := range l.visibleSeries() {
		view.Series = append(view.Series, s.draw(s.class(i), x, y, func(v float64) string { return l.formatValue(lang, v) }))
	}
	view.Hits = l.hits(lang, x, first, last, view.Left, view.Right)
	slices.SortStableFunc(view.Series, func(a, b seriesView) int { // draw "past" before "s1"
		return strings.Compare(a.Class[:1], b.Class[:1])
	})
	return draw("lines.svg", view)
}

// hits returns a column for each time in the longest line. If another line has a time that the longest line does not
// have, it returns nil.
func (l Lines) hits(lang *locale.Language, x func(float64) float64, first, last, left, right float64) []hit {
	times := l.longest(first, last)
	out := make([]hit, len(times))
	for i, at := range times {
		from, to := left, right
		if i > 0 {
			from = (x(times[i-1].At) + x(at.At)) / 2
		}
		if i < len(times)-1 {
			to = (x(at.At) + x(times[i+1].At)) / 2
		}
		out[i] = hit{X: from, Width: to - from, Text: at.Name}
	}
	for _, s := range l.visibleSeries() {
		for _, p := range s.Points {
			if p.Value == nil {
				continue
			}
			i := slices.IndexFunc(times, func(t Point) bool { return t.At == p.At })
			if i < 0 {
				return nil
			}
			out[i].Text += "\n" + s.Name + ": " + l.formatValue(lang, *p.Value)
		}
	}
	return out
}

// draw returns the line's path and dots. x maps times to coordinates, y maps values to coordinates, and text formats a
// value.
func (s Series) draw(class string, x, y func(float64) float64, text func(float64) string) seriesView {
	view := seriesView{Class: class, Name: s.Name}
	var path strings.Builder
	pen := "M"
	for _, p := range s.Points {
		if p.Value == nil {
			pen = "M"
			continue
		}
		path.WriteString(pen + coordinate(x(p.At)) + " " + coordinate(y(*p.Value)))
		pen = "L"
		view.Dots = append(view.Dots, dot{x(p.At), y(*p.Value), s.Name + ", " + p.Name + ": " + text(*p.Value)})
	}
	view.Path = path.String()
	if n := len(view.Dots); s.Filled && n > 1 && strings.Count(view.Path, "M") == 1 {
		view.Area = view.Path + "V" + coordinate(y(0)) + "H" + coordinate(view.Dots[0].X) + "Z"
	}
	return view
}

// formatValue formats a value of the chart.
func (l Lines) formatValue(lang *locale.Language, v float64) string {
	if l.Percent {
		return FormatPercent(lang, v)
	}
	return FormatNumber(lang, v)
}

// Legend returns the legend of the chart.
func (l Lines) Legend() template.HTML {
	var view linesView
	for i, s := range l.visibleSeries() {
		view.Series = append(view.Series, seriesView{Class: s.class(i), Name: s.Name})
	}
	return draw("legend.svg", view)
}

func (l Lines) visibleSeries() []Series { return l.Series[:min(len(l.Series), MaxSeries)] }

// longest returns the points between two times of the line that has the most of them.
func (l Lines) longest(first, last float64) []Point {
	var out []Point
	for _, s := range l.visibleSeries() {
		within := slices.DeleteFunc(slices.Clone(s.Points), func(p Point) bool { return p.At < first || p.At > last })
		if len(within) > len(out) {
			out = within
		}
	}
	return out
}

// names returns up to maxTicks labels for the times below the chart. It takes them from the line that has the most
// points between first and last.
func (l Lines) names(x func(float64) float64, first, last float64, maxTicks int) []tick {
	longest := l.longest(first, last)
	var out []tick
	labelStep := int(math.Ceil(float64(len(longest)) / float64(maxTicks)))
	for i, p := range longest {
		if i%labelStep == 0 {
			out = append(out, tick{x(p.At), p.Name})
		}
	}
	return out
}

// bounds returns the ranges of values and times, and reports whether there is a line to draw.
func (l Lines) bounds() (float64, float64, float64, float64, bool) {
	low, high, first, last := math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)
	ok := false
	for _, s := range l.visibleSeries() {
		values := 0
		for _, p := range s.Points {
			if p.Value == nil {
				continue
			}
			values++
			low, high = min(low, *p.Value), max(high, *p.Value)
			first, last = min(first, p.At), max(last, p.At)
		}
		ok = ok || values > 1
	}
	if l.IncludesZero {
		low, high = min(low, 0), max(high, 0)
	}
	return low, high, first, last, ok && last > first
}
