package oidc

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/access"
)

// DefaultGroupsClaim is the ID token claim in which most directories send a person's groups.
const DefaultGroupsClaim = "groups"

// GroupRole gives the members of a directory group a role in a team.
type GroupRole struct {
	Group string
	Team  int64
	Role  access.Role
}

// ParseGroupRoles parses strings such as press-editors=1:editor. A group's name may contain equals signs.
func ParseGroupRoles(texts []string) ([]GroupRole, error) {
	var groupRoles []GroupRole
	for _, text := range texts {
		index := strings.LastIndex(text, "=")
		id, role, ok := strings.Cut(text[index+1:], ":")
		team, err := strconv.ParseInt(id, 10, 64)
		g := GroupRole{strings.TrimSpace(text[:max(index, 0)]), team, access.Role(role)}
		switch {
		case !ok || err != nil || team < 1 || g.Group == "":
			return nil, fmt.Errorf("%q is not a group with a team and a role, such as press-editors=1:editor", text)
		case !g.Role.IsValid() || g.Role == access.Owner:
			return nil, fmt.Errorf("%q must have one of the roles admin, editor, viewer and client; owners are chosen in the app", text)
		}
		groupRoles = append(groupRoles, g)
	}
	return groupRoles, nil
}

var (
	errTooManyGroups = apierr.New(apierr.Unauthorized,
		"You are in more groups than the directory can send. Ask its administrator to send only the groups of this app.")
	errNoGroups = apierr.New(apierr.Unauthorized,
		"The directory did not send your groups. Ask its administrator to add you to a group of this app and to send its groups.")
)

// roles returns a person's highest role in each team in GroupRoles, based on the groups in the ID token's claims. The
// role is "" if the person is in none of the team's groups. It returns an error if the token does not contain a list of
// groups, because a misconfigured directory must not remove people from teams.
func (d *Directory) roles(claims map[string]json.RawMessage) (map[int64]access.Role, error) {
	if len(d.GroupRoles) == 0 {
		return nil, nil //nolint:nilnil // no team uses groups
	}
	var claimNames map[string]string // claims that the token only refers to (OpenID Connect Core 1.0, section 5.6.2)
	if err := json.Unmarshal(claims["_claim_names"], &claimNames); err == nil && claimNames[d.GroupsClaim] != "" {
		return nil, errTooManyGroups
	}
	var groups []string // nil if the claim is missing or null
	if err := json.Unmarshal(claims[d.GroupsClaim], &groups); err != nil || groups == nil {
		var group string // some directories send a single group as a string
		if err := json.Unmarshal(claims[d.GroupsClaim], &group); err != nil || group == "" {
			return nil, errNoGroups
		}
		groups = []string{group}
	}
	out := map[int64]access.Role{}
	rank := func(r access.Role) int { return slices.Index(access.Roles(), r) } // 0 for the highest role, -1 for ""
	for _, g := range d.GroupRoles {
		if highest := out[g.Team]; slices.Contains(groups, g.Group) && (highest == "" || rank(g.Role) < rank(highest)) {
			out[g.Team] = g.Role
		} else {
			out[g.Team] = highest
		}
	}
	return out, nil
}
