package openapi

import (
	"fmt"
	"slices"
	"strings"
)

// headings group operations by the first segment of their paths.
var headings = []struct {
	name, description string
	segments          []string
}{
	{"Account", "The key's person and team, credits, limits and background jobs.", []string{
		"me", "credits", "limits", "jobs",
	}},
	{"Reports", "Analytics of public profiles and hashtags.", []string{"reports"}},
	{"Social accounts", "Accounts connected to the team.", []string{"social-accounts", "connect-link"}},
	{"Posts", "Draft, schedule and publish posts.", []string{"posts"}},
	{"Media", "The media library, uploads and imports.", []string{
		"media", "uploads", "profile-media-downloads",
	}},
	{"Brand voices", "Instructions for writing in the team's voice.", []string{"brand-voices"}},
	{"Hashtags", "Hashtag lists and hashtag search.", []string{"hashtag-lists", "hashtags"}},
}

func findTag(path string) (string, error) {
	first, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	for _, h := range headings {
		if slices.Contains(h.segments, first) {
			return h.name, nil
		}
	}
	return "", fmt.Errorf("no heading for paths that begin with /%s", first)
}

func tagObjects(used map[string]bool) []tagObject {
	var out []tagObject
	for _, h := range headings {
		if used[h.name] {
			out = append(out, tagObject{Name: h.name, Description: h.description})
		}
	}
	return out
}
