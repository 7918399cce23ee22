package plot

import (
	"html/template"
	"strconv"
	"time"

	"pressroom.example/pressroom/internal/locale"
)

// Heat is a heat map of the hours of the week. The week starts on Monday.
type Heat struct {
	Label string
	First int // the first hour that is shown, from 0 to 23
	Cells [7][24]Cell
}

// Cell is one hour. Level ranges from 1, the lowest, to 5. It is 0 if there is not enough data for the hour.
type Cell struct {
	Level int
	Faded bool   // the level is based on little data
	Text  string // tooltip; empty if there is no data for the hour
}

// monday is an arbitrary Monday.
var monday = time.Date(2026, time.November, 2, 0, 0, 0, 0, time.UTC)

const (
	cellWidth, cellHeight = 24.0, 20.0
	heatLeft, heatTop     = 34.0, 18.0
)

type heatView struct {
	Label       string
	Days, Hours []tick
	Cells       []heatCell
}

type heatCell struct {
	X, Y, W, H float64
	Class      string
	Text       string
}

// Draw returns the heat map as SVG.
func (h Heat) Draw(l *locale.Language) template.HTML {
	view := heatView{Label: h.Label}
	width := 24 * cellWidth / float64(24-h.First)
	for day := range h.Cells {
		name := l.Format(monday.AddDate(0, 0, day), locale.ShortWeekday)
		view.Days = append(view.Days, tick{heatTop + (float64(day)+0.68)*cellHeight, name})
		for i, c := range h.Cells[day][h.First:] {
			view.Cells = append(view.Cells,
				heatCell{
					heatLeft + float64(i)*width, heatTop + float64(day)*cellHeight, width - 2,
					cellHeight - 2, c.class(), c.Text,
				})
		}
	}
	for hour := h.First; hour < 24; hour += 3 {
		at := monday.Add(time.Duration(hour) * time.Hour)
		view.Hours = append(view.Hours, tick{heatLeft + float64(hour-h.First)*width, l.FormatHour(at)})
	}
	return draw("heat.svg", view)
}

func (c Cell) class() string {
	class := "h" + strconv.Itoa(c.Level)
	if c.Faded {
		class += " faded"
	}
	return class
}

// Scale returns the color scale of a heat map as SVG, lowest level first.
func Scale() template.HTML {
	var view heatView
	for level := 1; level <= 5; level++ {
		view.Cells = append(view.Cells,
			heatCell{
				X: float64(level-1) * cellWidth, W: cellWidth - 2, H: cellHeight - 2, Class: "h" + strconv.Itoa(level),
			})
	}
	return draw("scale.svg", view)
}
