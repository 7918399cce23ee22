package pipeline

import (
	"strconv"
	"strings"

	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/teamtime"
)

// Envelope is the body of every successful response (spec, Success envelope).
type Envelope struct {
	Data      any                   `json:"data"`
	Meta      Meta                  `json:"meta"`
	Page      *operation.Page       `json:"page,omitempty"`
	Billing   *operation.Billing    `json:"billing,omitempty"`
	Untrusted []operation.Untrusted `json:"untrusted_content,omitempty"`
	Notes     []string              `json:"notes,omitempty"`
}

// Meta describes the response.
type Meta struct {
	AppURL     string          `json:"app_url" jsonschema:"URL of the item in the app." format:"uri"`
	AnsweredAt teamtime.Moment `json:"answered_at"`
	RequestID  string          `json:"request_id" jsonschema:"ID of the request, as in X-Request-Id and in the logs."`
}

// Envelope returns the response body for a successful call. publicURL is the URL of the app.
func (o Outcome) Envelope(publicURL string) Envelope {
	return Envelope{
		Data: o.Data, Page: o.Page, Billing: o.Billing, Untrusted: o.Untrusted, Notes: o.Notes,
		Meta: Meta{AppURL: publicURL + o.appPath(), AnsweredAt: o.Call.Moment(o.At), RequestID: o.Call.RequestID},
	}
}

// TeamParam is the query parameter that selects the team in the app's URLs, because a person may belong to several
// teams.
const TeamParam = "team_id"

// appPath returns the path of the result's item in the app, with the query parameter that selects the team.
func (o Outcome) appPath() string {
	separator := "?"
	if strings.Contains(o.App, separator) {
		separator = "&"
	}
	return o.App + separator + TeamParam + "=" + strconv.FormatInt(o.Call.TeamID, 10)
}
