package plot

import (
	"html/template"
	"math"
	"strings"
	"unicode/utf8"

	"pressroom.example/pressroom/internal/locale"
)

// Line is a line chart.
type Line struct {
	Label        string // description
	Points       []Point
	Proportional bool // place points by their At instead of at equal intervals
	IncludesZero bool // the scale includes 0

	narrow bool
}

// Narrow returns the chart in a size for phones.
func (l Line) Narrow() Line {
	l.narrow = true
	return l
}

// size returns the chart's CSS class, its width, and the number of labels that fit below it.
func (l Line) size() (string, float64, int) {
	if l.narrow {
		return "narrow", narrowWidth, maxNarrowNames
	}
	return "", lineWidth, maxNames
}

// Point is one value. A nil Value is a gap.
type Point struct {
	Name      string // label, shown if there is space
	At        float64
	Value     *float64
	Low, High *float64 // ends of the confidence interval; nil if there is none
}

const (
	lineWidth, lineHeight = 640.0, 220.0
	left, wideLeft, right = 48.0, 62.0, 12.0
	maxShortLabel         = 8 // labels with more characters need wideLeft
	top, bottom           = 10.0, 26.0
	maxNames              = 7
)

type lineView struct {
	Size          string // CSS class
	Label, Path   string
	Bars          []bar // confidence intervals
	Dots          []dot
	Lines         []tick
	Names         []tick
	Left, Right   float64
	Bottom        float64
	Width, Height float64
}

type dot struct {
	X, Y float64
	Text string
}

type bar struct{ X, From, To float64 }

// labelWidth returns the width that the labels of a scale need.
func labelWidth(labels []tick) float64 {
	for _, label := range labels {
		if utf8.RuneCountInString(label.Text) > maxShortLabel {
			return wideLeft
		}
	}
	return left
}

// Draw returns the chart as SVG, or "" if there are no values.
func (l Line) Draw(lang *locale.Language) template.HTML {
	low, high, ok := l.bounds()
	if !ok {
		return ""
	}
	low, high, step := scale(low, high)
	size, width, maxLabels := l.size()
	view := lineView{
		Size: size, Label: l.Label, Right: width - right, Bottom: lineHeight - bottom, Width: width, Height: lineHeight,
	}
	y := func(v float64) float64 { return top + (high-v)/(high-low)*(lineHeight-top-bottom) }
	for v := low; v <= high+step/2; v += step {
		view.Lines = append(view.Lines, tick{y(v), FormatNumber(lang, v)})
	}
	view.Left = labelWidth(view.Lines)
	x := func(i int) float64 { return l.x(i, view.Left) }
	labelStep := int(math.Ceil(float64(len(l.Points)) / float64(maxLabels)))
	for i, p := range l.Points {
		if i%labelStep == 0 {
			view.Names = append(view.Names, tick{x(i), p.Name})
		}
		if p.Value != nil {
			view.Dots = append(view.Dots,
				dot{x(i), y(*p.Value), p.Name + ": " + formatWithRange(lang, *p.Value, p.Low, p.High)})
		}
		if p.Low != nil && p.High != nil {
			view.Bars = append(view.Bars, bar{x(i), y(*p.High), y(*p.Low)})
		}
	}
	view.Path = l.path(x, y)
	return draw("line.svg", view)
}

// formatWithRange formats a number with its confidence interval, if there is one.
func formatWithRange(l *locale.Language, value float64, low, high *float64) string {
	text := FormatNumber(l, value)
	if low == nil || high == nil {
		return text
	}
	return l.T("%s (%s to %s)", text, FormatNumber(l, *low), FormatNumber(l, *high))
}

// bounds returns the minimum and maximum of the values and confidence intervals, and reports whether there are any.
func (l Line) bounds() (float64, float64, bool) {
	low, high := math.Inf(1), math.Inf(-1)
	for _, p := range l.Points {
		for _, v := range []*float64{p.Value, p.Low, p.High} {
			if v != nil {
				low, high = min(low, *v), max(high, *v)
			}
		}
	}
	if l.IncludesZero {
		low = min(low, 0)
	}
	return low, high, !math.IsInf(high, -1)
}

func (l Line) x(i int, left float64) float64 {
	_, width, _ := l.size()
	plotWidth := width - left - right - 2*inset
	if !l.Proportional {
		return left + inset + plotWidth*(float64(i)+0.5)/float64(len(l.Points))
	}
	first, last := l.Points[0].At, l.Points[len(l.Points)-1].At
	if last <= first {
		return left + inset + plotWidth/2
	}
	return left + inset + plotWidth*(l.Points[i].At-first)/(last-first)
}

const inset = 14.0 // space for the labels at both ends

// path returns the SVG path through the points, with gaps where values are missing.
func (l Line) path(x func(int) float64, y func(float64) float64) string {
	var out strings.Builder
	pen := "M"
	for i, p := range l.Points {
		if p.Value == nil {
			pen = "M"
			continue
		}
		out.WriteString(pen + coordinate(x(i)) + " " + coordinate(y(*p.Value)))
		pen = "L"
	}
	return out.String()
}
