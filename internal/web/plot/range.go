package plot

import (
	"html/template"
	"math"
)

// Range is a drawing of a ratio with its confidence interval, on a logarithmic scale centered on 1. It has no text,
// because the table row that contains it shows the numbers.
type Range struct {
	Value, Low, High float64
	Reach            float64 // the scale extends from 1/Reach to Reach
}

const rangeWidth = 120.0

type rangeView struct{ From, To, Value, Middle, Width float64 }

// Draw returns the range as SVG. Values beyond the scale are drawn at its edge.
func (r Range) Draw() template.HTML {
	x := func(v float64) float64 {
		position := math.Log(max(v, 1e-9)) / math.Log(r.Reach)
		return rangeWidth/2 + max(-1, min(1, position))*(rangeWidth/2-4)
	}
	return draw("range.svg", rangeView{x(r.Low), x(r.High), x(r.Value), rangeWidth / 2, rangeWidth})
}

// Reach returns a value for Range.Reach, from 2 to 10, so that the ratios fit on the scale.
func Reach(ratios ...float64) float64 {
	reach := 2.0
	for _, r := range ratios {
		if r > 0 {
			reach = max(reach, r, 1/r)
		}
	}
	return min(reach, 10)
}

// Share is a fraction that is drawn as a bar. It has no text, because the table row that contains it shows the number.
type Share struct {
	Fraction float64 // from 0 to 1
	Second   bool    // use the second color
}

type shareView struct {
	To, Width float64
	Second    bool
}

// Draw returns the bar as SVG.
func (s Share) Draw() template.HTML {
	return draw("share.svg", shareView{max(0, min(1, s.Fraction)) * rangeWidth, rangeWidth, s.Second})
}
