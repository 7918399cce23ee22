package teamtime

import (
	"cmp"
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"time"
)

//go:embed zones.txt
var zonesFile string

// Zones are the time zones to offer, from the public-domain files zone.tab and zone1970.tab of the IANA database. Other
// IANA zones are valid as well.
var Zones = strings.Fields(zonesFile)

// ZoneOption is a time zone that a form offers.
type ZoneOption struct {
	Name  string // such as "Europe/Berlin"
	Label string // such as "Berlin (UTC+1)"
}

// ZoneOptions returns the offered time zones by name, with their places and their offsets at now.
func ZoneOptions(now time.Time) []ZoneOption {
	out := make([]ZoneOption, 0, len(Zones)+1)
	for _, name := range append([]string{"UTC"}, Zones...) {
		zone, err := time.LoadLocation(name)
		if err != nil {
			continue
		}
		place := strings.ReplaceAll(name[strings.LastIndex(name, "/")+1:], "_", " ")
		label := place
		if utcOffset := offset(now.In(zone)); utcOffset != place {
			label += " (" + utcOffset + ")"
		}
		out = append(out, ZoneOption{name, label})
	}
	slices.SortFunc(out, func(a, b ZoneOption) int { return cmp.Compare(a.Name, b.Name) })
	return slices.CompactFunc(out, func(a, b ZoneOption) bool { return a.Name == b.Name })
}

// offset returns the offset of a time from UTC, such as "UTC+5:30".
func offset(at time.Time) string {
	_, seconds := at.Zone()
	sign := "+"
	if seconds < 0 {
		sign, seconds = "-", -seconds
	}
	switch hours, minutes := seconds/3600, seconds%3600/60; {
	case seconds == 0:
		return "UTC"
	case minutes > 0:
		return fmt.Sprintf("UTC%s%d:%02d", sign, hours, minutes)
	default:
		return fmt.Sprintf("UTC%s%d", sign, hours)
	}
}

// IsZone reports whether name is an IANA time zone.
func IsZone(name string) bool {
	_, err := time.LoadLocation(name)
	return err == nil && name != "" && name != "Local"
}
