package bluesky

import (
	"strings"

	"golang.org/x/text/language"
)

// genericTLDs are the top-level domains, besides those of countries, that make a bare domain a link. Everyday
// words (now, life, world, today) are left out: a missing space after a period would become a link.
var genericTLDs = wordSet(`com net org edu gov int mil info biz name mobi asia eu uk
	app dev blog cloud online site website shop store tech xyz page wiki social
	news media design studio agency digital email chat link club art museum travel jobs`)

// fileExtensionTLDs are country codes that are file extensions too.
var fileExtensionTLDs = wordSet(`md py rs sh pl ps cc so`)

func wordSet(words string) map[string]bool {
	members := map[string]bool{}
	for word := range strings.FieldsSeq(words) {
		members[word] = true
	}
	return members
}

// isLikelyDomain reports whether a bare domain is meant as a link. A port or a path after it (withPath) leaves
// little doubt.
func isLikelyDomain(domain string, withPath bool) bool {
	labels := strings.Split(domain, ".")
	ending := labels[len(labels)-1]
	// "Done.So we went": a top-level domain has a capital only in a domain all in capitals.
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
