package disk_test

import (
	"errors"
	"runtime"
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/platform/disk"
)

func TestReserve(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
		t.Skip("the free space cannot be read here")
	}
	here := disk.Volume{Name: "media files", Dir: t.TempDir()}
	free, err := here.Free()
	if err != nil || free <= 0 {
		t.Fatalf("%d bytes are free (%v)", free, err)
	}
	gone := disk.Volume{Name: "database", Dir: here.Dir + "/gone"}
	for name, c := range map[string]struct {
		reserve *disk.Reserve
		more    int64
		low     bool
	}{
		"none":                      {nil, 1 << 60, false},
		"turned off":                {disk.NewReserve(0, here), 1 << 60, false},
		"more than there is":        {disk.NewReserve(1<<60, here), 0, true},
		"on the second volume":      {disk.NewReserve(1<<60, gone, here), 0, true},
		"a volume that is gone":     {disk.NewReserve(1<<60, gone), 0, false},
		"a byte":                    {disk.NewReserve(1, here), 0, false},
		"a byte, after a large one": {disk.NewReserve(1, here), 1 << 60, true},
		"auto, after a large one":   {disk.NewReserve(disk.AutoReserve, here), 1 << 60, true},
	} {
		err := c.reserve.Check(c.more)
		if errors.Is(err, disk.ErrLow) != c.low || !c.low && err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if c.low && !strings.Contains(err.Error(), "media files") {
			t.Errorf("%s: %v names no volume", name, err)
		}
	}
}

func TestParseSize(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{
		"auto": disk.AutoReserve, "0": 0, "1GiB": 1 << 30, "512 MiB": 512 << 20, "1KiB": 1 << 10, "2TiB": 2 << 40,
	} {
		if got, err := disk.ParseSize(text); err != nil || got != want {
			t.Errorf("%q is %d (%v), want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "x", "-1", "-1GiB", "1", "1GB", "1.5GiB", "5%", "9999999999TiB", "GiB"} {
		if got, err := disk.ParseSize(text); !errors.Is(err, disk.ErrSize) {
			t.Errorf("%q is %d (%v)", text, got, err)
		}
	}
}
