package compose

import (
	"testing"
	"time"

	"pressroom.example/pressroom/internal/domain/account/appcheck"
	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/network"
)

// The limits of a TikTok account are sentences in the person's language. Whole minutes are given in
// minutes, from two minutes on.
func TestLimits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		is       network.Creator
		en, want string
	}{
		{network.Creator{MaxVideoDuration: 10 * time.Minute}, "Videos up to 10 minutes.", "Videos bis zu 10 Minuten."},
		{network.Creator{MaxVideoDuration: 90 * time.Second}, "Videos up to 90 seconds.", "Videos bis zu 90 Sekunden."},
		{network.Creator{NoComment: true, NoStitch: true}, "Turned off: comments, stitches.", "Ausgeschaltet: Kommentare, Stitches."},
		{network.Creator{MaxVideoDuration: time.Minute, NoDuet: true}, "Videos up to 60 seconds. Turned off: duets.",
			"Videos bis zu 60 Sekunden. Ausgeschaltet: Duette."},
		{network.Creator{}, "", ""},
	} {
		one := creator{Creator: appcheck.Creator{Creator: c.is}}
		if en, de := limits(locale.English, one), limits(locale.German, one); en != c.en || de != c.want {
			t.Errorf("%+v: %q and %q, want %q and %q", c.is, en, de, c.en, c.want)
		}
	}
}
