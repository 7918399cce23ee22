package bluesky

import (
	"strings"

	"golang.org/x/text/language"
)

// genericTLDs are the top-level domains, other than country codes, with which a domain without a scheme becomes a link.
// Everyday words (now, life, world, today) are excluded, because a missing space after a period would create a link.
var genericTLDs = wordSet(`com net org edu gov int mil info biz name mobi asia eu uk
	app dev blog cloud online site website shop store tech xyz page wiki social
	news media design studio agency digital email chat link club art museum travel jobs`)

// fileExtensionTLDs are country codes that are also file extensions.
var fileExtensionTLDs = wordSet(`md py rs sh pl ps cc so`)

func wordSet(words string) map[string]bool {
	members := map[string]bool{}
	for word := range strings.FieldsSeq(words) {
		members[word] = true
	}
	return members
}

// isLikelyDomain reports whether a domain without a scheme is probably meant as a link. A domain followed by a port or
// path (withPath) almost always is.
func isLikelyDomain(domain string, withPath bool) bool {
	labels := strings.Split(domain, ".")
	ending := labels[len(labels)-1]
	// In "Done.So we went", So is not a top-level domain. A capitalized ending only counts if the domain is all caps.
	if ending != strings.ToLower(ending) && domain != strings.ToUpper(domain) {
		return false
	}
	ending = strings.ToLower(ending)
	if !genericTLDs[ending] && !isCountryCode(ending) {
		return false
	}
	if withPath || strings.EqualFold(labels[0], "www") {
		return true
	}
	return !fileExtensionTLDs[ending] && strings.Trim(labels[len(labels)-2], "0123456789") != ""
}

// isCountryCode reports whether code is the ISO 3166 code of a country.
func isCountryCode(code string) bool {
	if len(code) != 2 {
		return false
	}
	region, err := language.ParseRegion(code)
	return err == nil && region.IsCountry()
}
