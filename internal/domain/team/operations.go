package team

import (
	"context"
	"net/http"
	"strconv"

	"pressroom/internal/core/access"
	"pressroom/internal/core/operation"
)

// Identity is who a key acts for (contract, Records).
type Identity struct {
	Person          IdentityPerson      `json:"person" jsonschema:"The person the key, or the assistant's connection, acts for."`
	Team            IdentityPerson      `json:"team" jsonschema:"The one team the key works in."`
	Role            access.Role         `json:"role" enum:"owner|admin|editor|viewer|client"`
	Key             IdentityKey         `json:"key" jsonschema:"The key that asks, or the connection of an assistant that signed in."`
	Capabilities    []access.Capability `json:"capabilities" enum:"read|write|publish|spend" title:"Capability" jsonschema:"What this key or connection may do now."`
	Timezone        string              `json:"timezone" jsonschema:"The team's time zone, an IANA name."`
	ContentLanguage string              `json:"content_language" jsonschema:"The language the team writes in, BCP 47."`
}

// IdentityPerson is an item with its name.
type IdentityPerson struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
}

// IdentityKey is the key, or the assistant's connection, that a call was made with.
type IdentityKey struct {
	ID    int64        `json:"id"`
	Name  string       `json:"name"`
	Level access.Level `json:"level" enum:"read_only|drafts|full" jsonschema:"Of a connection the highest whose capabilities its person all allowed; capabilities tells exactly what it may do."`
}

// Operations declares what keys can ask of their team.
func Operations() []operation.Operation {
	return []operation.Operation{
		operation.Define(operation.Spec{
			Tool: "get_identity", Method: http.MethodGet, Path: "/me", Needs: access.Read, Success: http.StatusOK,
			Uncounted: true,
			Summary:   "Who the key acts for",
			Description: "The person and the team the key acts for, the person's role, what the key may do now, the " +
				"team's time zone and content language. Ask it first: capabilities tells which other operations will " +
				"work, and timezone what a time without an offset means. Never counts against the daily free-call " +
				"allowance.",
			Next: "A capability that is missing cannot be had by asking again: whoever made the key or let the " +
				"assistant in decides on that in the app.",
			Example: operation.Example{Data: Identity{
				Person: IdentityPerson{1, "Ada Okafor"}, Team: IdentityPerson{1, "Harbour Coffee"}, Role: access.Owner,
				Key:          IdentityKey{3, "calendar script", access.Full},
				Capabilities: access.Effective(access.Full, access.Owner), Timezone: "Europe/Berlin",
				ContentLanguage: "en",
			}},
		}, identity),
	}
}

func identity(_ context.Context, call operation.Call, _ struct{}) (operation.Answer[Identity], error) {
	app, level := "/settings/keys", call.Level
	if call.Assistant { // its page is open to the person that it acts for, with any role
		app, level = "/settings/assistants/"+strconv.FormatInt(call.KeyID, 10), access.LevelWithin(call.Granted)
	}
	return operation.Answer[Identity]{App: app, Data: Identity{
		Person: IdentityPerson{call.PersonID, call.PersonName}, Team: IdentityPerson{call.TeamID, call.TeamName},
		Role: call.Role,
		Key:  IdentityKey{call.KeyID, call.KeyName, level}, Capabilities: call.Capabilities,
		Timezone: call.Zone.String(), ContentLanguage: call.Language,
	}}, nil
}
