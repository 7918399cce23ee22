package plot

import (
	"html/template"

	"pressroom.example/pressroom/internal/locale"
)

const columnsWidth, columnsHeight, columnGap = 340.0, 150.0, 14.0

// Columns is a column chart of a few values. Label should also contain the numbers.
type Columns struct {
	Label  string // description
	Values []Point
}

type columnsView struct {
	Label         string
	Width, Height float64
	Columns       []columnView
}

type columnView struct {
	X, Y, Width, Height, Middle float64
	Name, Text                  string
	IsEmpty                     bool
}

// Draw returns the chart as SVG, or "" if no value is above 0.
func (c Columns) Draw(l *locale.Language) template.HTML {
	maxValue := 0.0
	for _, p := range c.Values {
		if p.Value != nil {
			maxValue = max(maxValue, *p.Value)
		}
	}
	if maxValue <= 0 {
		return ""
	}
	view := columnsView{Label: c.Label, Width: columnsWidth, Height: columnsHeight}
	columnWidth, plotHeight := columnsWidth/float64(len(c.Values)), columnsHeight-top-2*bottom
	for i, p := range c.Values {
		value := 0.0
		if p.Value != nil {
			value = max(0, *p.Value)
		}
		height := max(2, plotHeight*value/maxValue)
		view.Columns = append(view.Columns, columnView{
			X: columnWidth*float64(i) + columnGap/2, Y: columnsHeight - bottom - height,
			Width: columnWidth - columnGap, Height: height,
			Middle: columnWidth * (float64(i) + 0.5), Name: p.Name, Text: FormatNumber(l, value), IsEmpty: value == 0,
		})
	}
	return draw("columns.svg", view)
}
