package teamtime

import (
	_ "embed"
	"strings"
	"time"
)

//go:embed zones.txt
var zones string

// Zones are the time zones to offer, from the public-domain files zone.tab and zone1970.tab of the IANA database. Other
// IANA zones are valid as well.
var Zones = strings.Fields(zones)

// IsZone reports whether a name is that of an IANA time zone.
func IsZone(name string) bool {
	_, err := time.LoadLocation(name)
	return err == nil && name != "" && name != "Local"
}
