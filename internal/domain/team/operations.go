package team

import (
	"context"
	"net/http"
	"strconv"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/operation"
)

// Identity is the person and team that a key acts for.
type Identity struct {
	Person          IdentityPerson      `json:"person" jsonschema:"The person that the key or connection acts for."`
	Team            IdentityPerson      `json:"team" jsonschema:"The team that the key works in."`
	Role            access.Role         `json:"role" enum:"owner|admin|editor|viewer|client"`
	Key             IdentityKey         `json:"key" jsonschema:"The key or connection of this call."`
	Capabilities    []access.Capability `json:"capabilities" enum:"read|write|publish|spend" title:"Capability"`
	Timezone        string              `json:"timezone" jsonschema:"IANA time zone of the team."`
	ContentLanguage string              `json:"content_language" jsonschema:"Language of the team's content, a BCP 47 tag."`
}

// Descriptions returns descriptions of the fields for the JSON schema.
func (Identity) Descriptions() map[string]string {
	return map[string]string{"capabilities": "What this key or connection is currently allowed to do."}
}

// IdentityPerson is the ID and name of a person or team.
type IdentityPerson struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
}

// IdentityKey is the key or connection of a call.
type IdentityKey struct {
	ID    int64        `json:"id"`
	Name  string       `json:"name"`
	Level access.Level `json:"level" enum:"read_only|drafts|full"`
}

// Descriptions returns descriptions of the fields for the JSON schema.
func (IdentityKey) Descriptions() map[string]string {
	return map[string]string{
		"level": "For a connection, the highest level whose capabilities were all granted; see capabilities for what it " +
			"may do.",
	}
}

// Operations returns the operation get_identity.
func Operations() []operation.Operation {
	return []operation.Operation{
		operation.Define(operation.Spec{
			Tool: "get_identity", Method: http.MethodGet, Path: "/me", Needs: access.Read, Success: http.StatusOK,
			Unmetered: true,
			Summary:   "Get the current key",
			Description: "Returns the person and team that the key acts for, the person's role, the key's capabilities, " +
				"and the team's time zone and content language. Call it first: capabilities shows which operations " +
				"work, and times without an offset are in timezone. The call never counts against the daily free-call " +
				"allowance.",
			Next: "Only the person who created the key or connected the assistant can grant a missing capability, in " +
				"the app.",
			Example: operation.Example{Data: Identity{
				Person: IdentityPerson{1, "Ada Okafor"}, Team: IdentityPerson{1, "Harbour Coffee"}, Role: access.Owner,
				Key:          IdentityKey{3, "calendar script", access.Full},
				Capabilities: access.EffectiveCapabilities(access.Full, access.Owner), Timezone: "Europe/Berlin",
				ContentLanguage: "en",
			}},
		}, getIdentity),
	}
}

func getIdentity(_ context.Context, call operation.Call, _ struct{}) (operation.Response[Identity], error) {
	app, level := "/settings/keys", call.Level
	if call.Assistant { // People with any role can open the page of their own connection.
		app, level = "/settings/assistants/"+strconv.FormatInt(call.KeyID, 10), access.LevelWithin(call.Granted)
	}
	return operation.Response[Identity]{App: app, Data: Identity{
		Person: IdentityPerson{call.PersonID, call.PersonName}, Team: IdentityPerson{call.TeamID, call.TeamName},
		Role: call.Role,
		Key:  IdentityKey{call.KeyID, call.KeyName, level}, Capabilities: call.Capabilities,
		Timezone: call.Zone.String(), ContentLanguage: call.Language,
	}}, nil
}
