package bluesky

import (
	"strings"

	"golang.org/x/text/language"
)

// genericEndings are the top-level domains, besides those of countries, that make a bare domain a link.
// Endings that are everyday words (now, life, world, today) are left out: they would turn a missing space
// after a full stop into a link.
var genericEndings = set(`com net org edu gov int mil info biz name mobi asia eu uk
	app dev blog cloud online site website shop store tech xyz page wiki social
	news media design studio agency digital email chat link club art museum travel jobs`)

// fileEndings are country codes that stand at the end of file names too.
var fileEndings = set(`md py rs sh pl ps cc so`)

func set(words string) map[string]bool {
	members := map[string]bool{}
	for word := range strings.FieldsSeq(words) {
		members[word] = true
	}
	return members
}

// looksReal tells whether a bare domain is meant as one. withPath: a port or a path follows it, which leaves
// little doubt.
func looksReal(domain string, withPath bool) bool {
	labels := strings.Split(domain, ".")
	ending := labels[len(labels)-1]
	// "Done.So we went": nobody writes an ending with a capital, except in a domain all in capitals.
	if ending != strings.ToLower(ending) && domain != strings.ToUpper(domain) {
		return false
	}
	ending = strings.ToLower(ending)
	if !genericEndings[ending] && !country(ending) {
		return false
	}
	if withPath || strings.EqualFold(labels[0], "www") {
		return true
	}
	return !fileEndings[ending] && strings.Trim(labels[len(labels)-2], "0123456789") != ""
}

func country(code string) bool {
	if len(code) != 2 {
		return false
	}
	region, err := language.ParseRegion(code)
	return err == nil && region.IsCountry()
}
