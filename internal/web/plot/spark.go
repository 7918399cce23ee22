package plot

import (
	"html/template"
	"slices"
	"strings"
)

const sparkWidth, sparkHeight = 84.0, 24.0

type sparkView struct {
	Width, Height float64
	Path          string
}

// Spark returns a sparkline: a small line chart without a scale. It has no text, because it is shown next to the
// numbers. Spark returns "" if there are fewer than two values.
func Spark(values []int64) template.HTML {
	if len(values) < 2 {
		return ""
	}
	low, high := slices.Min(values), slices.Max(values)
	var path strings.Builder
	for i, value := range values {
		y := sparkHeight / 2
		if high > low {
			y = sparkHeight * (1 - float64(value-low)/float64(high-low))
		}
		command := "L"
		if i == 0 {
			command = "M"
		}
		path.WriteString(command + coordinate(sparkWidth*float64(i)/float64(len(values)-1)) + " " + coordinate(y))
	}
	return draw("spark.svg", sparkView{sparkWidth, sparkHeight, path.String()})
}
