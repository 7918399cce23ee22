package posts

import (
	"testing"

	"pressroom.example/pressroom/internal/locale"
)

func TestAgainst(t *testing.T) {
	t.Parallel()
	v, usual, none := view{lang: locale.English}, int64(200), int64(0)
	for has, want := range map[int64]comparison{
		358:   {"Usual: 200", "+79%", true},
		200:   {"Usual: 200", "+0%", false},
		100:   {"Usual: 200", "−50%", false},
		4_200: {"Usual: 200", "+2,000%", true},
	} {
		if got := v.compare(&has, &usual); *got != want {
			t.Errorf("%d: %+v, want %+v", has, *got, want)
		}
	}
	if got := v.compare(&usual, &none); got.Change != "" || got.Usual != "Usual: 0" {
		t.Errorf("nothing is usual: %+v", *got)
	}
	if got := v.compare(nil, &usual); got != nil {
		t.Errorf("an unknown metric: %+v", *got)
	}
}
