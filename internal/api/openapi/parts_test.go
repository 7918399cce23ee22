package openapi_test

import (
	"slices"
	"testing"

	"pressroom.example/pressroom/internal/api/openapi"
)

// An object that is used once and named after its place is not a component. Objects with their own names, items
// of lists and objects that are used more often are.
func TestParts(t *testing.T) {
	t.Parallel()
	schemas := parse(t, build(t, openapi.Version)).Components.Schemas
	credits := schemas["Credits"]
	if part := credits.Properties["used_today"]; part.Ref != "" || part.Properties["team"] == nil || part.Description == "" {
		t.Errorf("used_today of Credits is %v, want an object with a description", part)
	}
	post := schemas["AccountAnalytics"].Properties["best_post"]
	if post.Properties["counts"].Properties["likes"] == nil {
		t.Error("counts of best_post of AccountAnalytics is no object")
	}
	for _, name := range []string{"CreditsUsedToday", "AccountAnalyticsBestPost", "AccountAnalyticsBestPostCounts"} {
		if schemas[name] != nil {
			t.Errorf("%s is a component", name)
		}
	}
	for _, name := range []string{"FindingCadence", "PostEntryAccount", "PostRecurrence", "CreatePostRequest"} {
		if schemas[name] == nil {
			t.Errorf("%s is no component", name)
		}
	}
}

// A schema for one value of an enumeration refers to the enumeration, so that generators create no type for it.
func TestOneValueOfAnEnumeration(t *testing.T) {
	t.Parallel()
	schemas := parse(t, build(t, openapi.Version)).Components.Schemas
	for owner, member := range map[string]string{"SocialPostJob": "type", "AccountAnalyticsReach": "basis", "FindingEngagement": "basis"} {
		s := schemas[owner].Properties[member]
		if len(s.AllOf) != 1 || len(s.Enum) != 1 || !slices.Contains(schemas[s.AllOf[0].Ref[len("#/$defs/"):]].Enum, s.Enum[0]) {
			t.Errorf("%s of %s is %v, want one value of an enumeration", member, owner, s)
		}
	}
}

// Operations whose arguments are all in the path have no body.
func TestBodies(t *testing.T) {
	t.Parallel()
	doc := parse(t, build(t, openapi.Version))
	for _, op := range registry().All() {
		for _, d := range doc.Paths[op.Path] {
			if d.ID == op.Tool && (d.RequestBody != nil) != (!op.Reads() && op.TakesBody()) {
				t.Errorf("%s has a body: %v", op.Tool, d.RequestBody != nil)
			}
		}
	}
}
