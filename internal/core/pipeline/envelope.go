package pipeline

import (
	"strconv"
	"strings"

	"pressroom/internal/core/operation"
	"pressroom/internal/teamtime"
)

// Envelope is the form of every success (spec, Success envelope). A member with nothing in it is left out.
type Envelope struct {
	Data      any                   `json:"data"`
	Meta      Meta                  `json:"meta"`
	Page      *operation.Page       `json:"page,omitempty"`
	Billing   *operation.Billing    `json:"billing,omitempty"`
	Untrusted []operation.Untrusted `json:"untrusted_content,omitempty"`
	Notes     []string              `json:"notes,omitempty"`
}

// Meta tells where the same item is in the app and when the answer was made.
type Meta struct {
	AppURL     string          `json:"app_url" jsonschema:"The same item in the app." format:"uri"`
	AnsweredAt teamtime.Moment `json:"answered_at"`
	RequestID  string          `json:"request_id" jsonschema:"Also sent as X-Request-Id, and written to the logs."`
}

// Envelope wraps a success; the public address is where the app is.
func (o Outcome) Envelope(publicURL string) Envelope {
	return Envelope{
		Data: o.Data, Page: o.Page, Billing: o.Billing, Untrusted: o.Untrusted, Notes: o.Notes,
		Meta: Meta{AppURL: publicURL + o.appPath(), AnsweredAt: o.Call.Moment(o.At), RequestID: o.Call.RequestID},
	}
}

// OfTeam is the argument of an address in the app that names the team whose page it is: a person may be in several.
const OfTeam = "team_id"

// appPath is where the answer stands in the app, for whoever of the team opens it.
func (o Outcome) appPath() string {
	joint := "?"
	if strings.Contains(o.App, joint) {
		joint = "&"
	}
	return o.App + joint + OfTeam + "=" + strconv.FormatInt(o.Call.TeamID, 10)
}
