package guides

// NewSite returns a site whose pages are not rendered yet.
var NewSite = newSite
