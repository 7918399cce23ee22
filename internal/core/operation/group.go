package operation

import (
	"slices"
	"strings"
)

// Group is a part of the API. It is a tag in the OpenAPI document and a toolset for assistants.
type Group struct {
	Name        string
	Toolset     string
	Description string
	segments    []string // first path segments of its operations
}

// ToolsetAccount is part of every selection of toolsets, because writes return jobs and every caller needs to read the
// limits.
const ToolsetAccount = "account"

// Groups returns all groups in the order of the OpenAPI document.
func Groups() []Group { return slices.Clone(groups) }

var groups = []Group{
	{"Account", ToolsetAccount, "The key's person and team, credits, limits and background jobs.", []string{
		"me", "credits", "limits", "jobs",
	}},
	{"Reports", "reports", "Analytics of public profiles and hashtags.", []string{"reports"}},
	{"Social accounts", "social_accounts", "Accounts connected to the team.", []string{"social-accounts", "connect-link"}},
	{"Posts", "posts", "Draft, schedule and publish posts.", []string{"posts"}},
	{"Media", "media", "The media library, uploads and imports.", []string{"media", "uploads", "profile-media-downloads"}},
	{"Brand voices", "brand_voices", "Instructions for writing in the team's voice.", []string{"brand-voices"}},
	{"Hashtags", "hashtags", "Hashtag lists and hashtag search.", []string{"hashtag-lists", "hashtags"}},
}

// GroupOf returns the group that a path belongs to. It returns false if no group contains the path's first segment.
func GroupOf(path string) (Group, bool) {
	segment, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	i := slices.IndexFunc(groups, func(g Group) bool { return slices.Contains(g.segments, segment) })
	if i < 0 {
		return Group{}, false
	}
	return groups[i], true
}
