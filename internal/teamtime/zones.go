package teamtime

import (
	_ "embed"
	"strings"
)

//go:embed zones.txt
var zones string

// Zones are the time zones to offer, from the public-domain files zone.tab and zone1970.tab of the IANA database. Other
// IANA zones are valid as well.
var Zones = strings.Fields(zones)
