package apicli

import (
	"slices"
	"strings"

	"pressroom.example/pressroom/client"
)

// Resource is a group of operations whose paths have the same first segment, such as posts.
type Resource struct {
	Name  string
	Verbs []Verb
}

// Verb is an operation on a resource. For example, create_post is the verb create of the resource posts.
type Verb struct {
	Name      string
	Operation client.Operation
}

// Resources returns all resources. Their names are the first path segments of their operations.
func Resources() []Resource {
	var resources []Resource
	for _, o := range append(client.Operations(), uploadOperation) {
		resource, verb := resourceVerb(o)
		i := slices.IndexFunc(resources, func(r Resource) bool { return r.Name == resource })
		if i < 0 {
			i = len(resources)
			resources = append(resources, Resource{Name: resource})
		}
		resources[i].Verbs = append(resources[i].Verbs, Verb{verb, o})
	}
	slices.SortFunc(resources, func(a, b Resource) int { return strings.Compare(a.Name, b.Name) })
	return resources
}

// resourceVerb returns the names of an operation's resource and verb. The verb consists of the first word of the
// operation's name and the other words that the resource's name does not contain. For example, the verb of
// set_report_tracking on the resource reports is set-tracking.
func resourceVerb(o client.Operation) (string, string) {
	if o.Name == uploadOperation.Name {
		return "media", "upload"
	}
	segments := strings.Split(strings.Trim(o.Path, "/"), "/")
	words := strings.Split(o.Name, "_")
	verb := words[0]
	if len(segments) == 1 && verb == "get" { // get_identity, on the resource me
		return segments[0], verb
	}
	resourceWords := strings.Split(segments[0], "-")
	for _, word := range words[1:] {
		if !slices.ContainsFunc(resourceWords, func(k string) bool { return singular(k) == singular(word) }) {
			verb += "-" + word
		}
	}
	return segments[0], verb
}

func singular(word string) string { return strings.TrimSuffix(word, "s") }

func findResource(name string) (Resource, bool) {
	resources := Resources()
	i := slices.IndexFunc(resources, func(r Resource) bool { return r.Name == name })
	if i < 0 {
		return Resource{}, false
	}
	return resources[i], true
}

// findOperation returns the operation that args begin with, such as "create_post" or "posts" and "create", and the
// remaining arguments.
func findOperation(args []string) (client.Operation, []string, error) {
	for _, r := range Resources() {
		for _, v := range r.Verbs {
			if args[0] == v.Operation.Name {
				return v.Operation, args[1:], nil
			}
			if args[0] == r.Name && len(args) > 1 && args[1] == v.Name {
				return v.Operation, args[2:], nil
			}
		}
		if args[0] != r.Name {
			continue
		}
		var verbs []string
		for _, v := range r.Verbs {
			verbs = append(verbs, v.Name)
		}
		if len(args) == 1 {
			return client.Operation{}, nil, usagef("%s requires a verb: %s", r.Name, strings.Join(verbs, ", "))
		}
		return client.Operation{}, nil, usagef("%s has no verb %q%s The verbs are %s", r.Name, args[1],
			Suggestion(args[1], verbs), strings.Join(verbs, ", "))
	}
	var names []string
	for _, r := range Resources() {
		names = append(names, r.Name)
		for _, v := range r.Verbs {
			names = append(names, v.Operation.Name)
		}
	}
	return client.Operation{}, nil, usagef("unknown operation %q%s To list all operations, run: pressroom call", args[0],
		Suggestion(args[0], names))
}

// Suggestion returns the end of a sentence about an unknown name. If a known name is similar, the sentence ends with a
// question that suggests it. Otherwise, it ends with a period.
func Suggestion(name string, known []string) string {
	best, leastDistance := "", 1+len(name)/3
	for _, k := range known {
		if d := levenshtein(name, k); d <= leastDistance && (best == "" || d < leastDistance) {
			best, leastDistance = k, d
		}
	}
	if best == "" {
		return "."
	}
	return "; did you mean " + best + "?"
}

// levenshtein returns the Levenshtein distance between two names.
func levenshtein(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range a {
		diagonal := row[0]
		row[0] = i + 1
		for j := range b {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
