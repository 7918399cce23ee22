package plot

import (
	"html/template"
	"math"
	"strconv"
	"strings"

	"pressroom.example/pressroom/internal/locale"
)

const linesWidth, linesHeight = 840.0, 240.0

// MaxSeries is the maximum number of distinguishable lines in a chart.
const MaxSeries = 6

// Lines is a chart that compares several lines over time.
type Lines struct {
	Label   string // description
	Percent bool   // the numbers are percent
	Series  []Series
}

// Series is one line of a chart. Its points are at their At, which increases.
type Series struct {
	Name   string
	Points []Point
}

type linesView struct {
	lineView

	Series []seriesView
}

type seriesView struct {
	Class, Name, Path string
	Dots              []dot
}

// Draw returns the first MaxSeries lines as SVG, or nothing if no line has two values.
func (l Lines) Draw(in *locale.Language) template.HTML {
	low, high, first, last, some := l.ends()
	if !some {
		return ""
	}
	low, high, step := scale(low, high)
	view := linesView{lineView: lineView{
		Label: l.Label, Right: linesWidth - right, Bottom: linesHeight - bottom, Width: linesWidth,
		Height: linesHeight,
	}}
	y := func(v float64) float64 { return top + (high-v)/(high-low)*(linesHeight-top-bottom) }
	for v := low; v <= high+step/2; v += step {
		view.Lines = append(view.Lines, tick{y(v), l.text(in, v)})
	}
	view.Left = leftOf(view.Lines)
	x := func(at float64) float64 {
		return view.Left + inset + (linesWidth-view.Left-right-2*inset)*(at-first)/(last-first)
	}
	view.Names = l.names(x)
	for i, s := range l.shown() {
		drawn := seriesView{Class: "s" + strconv.Itoa(i+1), Name: s.Name}
		var path strings.Builder
		pen := "M"
		for _, p := range s.Points {
			if p.Value == nil {
				pen = "M"
				continue
			}
			path.WriteString(pen + coordinate(x(p.At)) + " " + coordinate(y(*p.Value)))
			pen = "L"
			drawn.Dots = append(drawn.Dots,
				dot{x(p.At), y(*p.Value), s.Name + ", " + p.Name + ": " + l.text(in, *p.Value)})
		}
		drawn.Path = path.String()
		view.Series = append(view.Series, drawn)
	}
	return draw("lines.svg", view)
}

// text returns one of the chart's numbers.
func (l Lines) text(in *locale.Language, v float64) string {
	if l.Percent {
		return FormatPercent(in, v)
	}
	return FormatNumber(in, v)
}

// Legend returns the legend of the chart.
func (l Lines) Legend() template.HTML {
	var view linesView
	for i, s := range l.shown() {
		view.Series = append(view.Series, seriesView{Class: "s" + strconv.Itoa(i+1), Name: s.Name})
	}
	return draw("legend.svg", view)
}

func (l Lines) shown() []Series { return l.Series[:min(len(l.Series), MaxSeries)] }

// names returns the labels below the chart, taken from the longest line.
func (l Lines) names(x func(float64) float64) []tick {
	var longest Series
	for _, s := range l.shown() {
		if len(s.Points) > len(longest.Points) {
			longest = s
		}
	}
	var out []tick
	every := int(math.Ceil(float64(len(longest.Points)) / mostNames))
	for i, p := range longest.Points {
		if i%every == 0 {
			out = append(out, tick{x(p.At), p.Name})
		}
	}
	return out
}

// ends returns the ranges of values and times, and reports whether there is a line to draw.
func (l Lines) ends() (float64, float64, float64, float64, bool) {
	low, high, first, last := math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)
	some := false
	for _, s := range l.shown() {
		values := 0
		for _, p := range s.Points {
			if p.Value == nil {
				continue
			}
			values++
			low, high = min(low, *p.Value), max(high, *p.Value)
			first, last = min(first, p.At), max(last, p.At)
		}
		some = some || values > 1
	}
	return low, high, first, last, some && last > first
}
