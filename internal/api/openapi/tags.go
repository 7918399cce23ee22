package openapi

import (
	"fmt"
	"slices"
	"strings"
)

// headings group the operations by where their paths begin.
var headings = []struct {
	name, description string
	begins            []string
}{
	{"Account", "Who the key acts for, what it may use, and the work that runs in the background.", []string{
		"me", "credits", "limits", "jobs",
	}},
	{"Reports", "Analytics of profiles and hashtags.", []string{"reports"}},
	{"Social accounts", "The accounts that the team has connected.", []string{"social-accounts", "connect-link"}},
	{"Posts", "Drafting, scheduling and publishing.", []string{"posts"}},
	{"Media", "The media library, and how files come into it.", []string{
		"media", "uploads", "profile-media-downloads",
	}},
	{"Brand voices", "How the team writes.", []string{"brand-voices"}},
	{"Hashtags", "Hashtag lists and hashtag search.", []string{"hashtag-lists", "hashtags"}},
}

func tagOf(path string) (string, error) {
	first, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	for _, h := range headings {
		if slices.Contains(h.begins, first) {
			return h.name, nil
		}
	}
	return "", fmt.Errorf("no heading takes paths that begin with /%s", first)
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
