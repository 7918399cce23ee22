package accounts

import (
	"testing"

	"pressroom.example/pressroom/internal/domain/analytics"
	"pressroom.example/pressroom/internal/locale"
)

// The heat map needs posts in as many hours as it has colors.
func TestHeatMapNeedsHours(t *testing.T) {
	t.Parallel()
	var times analytics.PostingTimes
	for hour := range heatLevels {
		if got := drawHeat(locale.English, times); got != "" {
			t.Errorf("heat map of %d hours: %s", hour, got)
		}
		times.Hours[0][9+hour] = analytics.PostingHour{Posts: minPostsInHour, Median: float64(hour + 1)}
	}
	if drawHeat(locale.English, times) == "" {
		t.Errorf("no heat map for %d hours", heatLevels)
	}
}
