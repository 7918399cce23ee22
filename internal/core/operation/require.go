package operation

import (
	"slices"

	"pressroom/internal/apierr"
	"pressroom/internal/core/access"
)

var denied = map[access.Capability]*apierr.Error{
	access.Read: apierr.New(apierr.ReadNotAllowed, "This connection may not read."),
	access.Write: apierr.New(apierr.WriteNotAllowed,
		"This key may not create or change anything. The team's owner can raise its level in the app."),
	access.Publish: apierr.New(apierr.PublishNotAllowed,
		"Scheduling, publishing, retrying and changing a scheduled post need a key of the level Full. The team's "+
			"owner can raise the level in the app."),
	access.Spend: apierr.New(apierr.SpendNotAllowed,
		"Paid operations need a key of the level Full. The team's owner can raise the level in the app."),
}

// deniedAssistant is what an assistant is told whose connection does not allow it: too little was granted, or the role
// of whoever granted it does not have it any more.
var deniedAssistant = map[access.Capability]*apierr.Error{
	access.Read: apierr.New(apierr.ReadNotAllowed,
		"This connection may not read: whoever connected the assistant did not allow it. Connected anew, it can be "+
			"allowed more."),
	access.Write: apierr.New(apierr.WriteNotAllowed,
		"This connection may not create or change anything: whoever connected the assistant did not allow it, or may "+
			"not do so either. Connected anew, it can be allowed more."),
	access.Publish: apierr.New(apierr.PublishNotAllowed,
		"This connection may not schedule, publish, retry or change a scheduled post: whoever connected the assistant "+
			"did not allow it, or may not do so either. Connected anew, it can be allowed more."),
	access.Spend: apierr.New(apierr.SpendNotAllowed,
		"This connection may not spend credits: whoever connected the assistant did not allow it, or may not do so "+
			"either. Connected anew, it can be allowed more."),
}

// deniedInApp is what a person is told whose role does not allow it.
var deniedInApp = map[access.Capability]*apierr.Error{
	access.Read: apierr.New(apierr.ReadNotAllowed, "Your role in this team may not read this."),
	access.Write: apierr.New(apierr.WriteNotAllowed,
		"Your role in this team may not create or change anything. An owner or admin of the team can give you "+
			"another one."),
	access.Publish: apierr.New(apierr.PublishNotAllowed,
		"Your role in this team may not schedule or publish. An owner or admin of the team can give you another one."),
	access.Spend: apierr.New(apierr.SpendNotAllowed,
		"Your role in this team may not spend credits. An owner or admin of the team can give you another one."),
}

var suspended = map[access.Capability]*apierr.Error{
	access.Write: apierr.New(apierr.ConnectionSuspended,
		"Changes are paused. Reading goes on; try again once they are resumed.").With("paused", string(access.Write)),
	access.Publish: apierr.New(apierr.ConnectionSuspended,
		"Publishing is paused. Reading and drafting go on; try again once it is resumed.").
		With("paused", string(access.Publish)),
	access.Spend: apierr.New(apierr.ConnectionSuspended,
		"Spending credits is paused. What costs nothing goes on; try again once it is resumed.").
		With("paused", string(access.Spend)),
}

// held says the same where the service itself was restored or copied.
var held = map[access.Capability]*apierr.Error{
	access.Publish: apierr.New(apierr.ConnectionSuspended,
		"Publishing rests: the operator first looks at what went out already. Reading and drafting go on, and "+
			"scheduled posts wait; try again later.").With("paused", string(access.Publish)),
	access.Spend: apierr.New(apierr.ConnectionSuspended,
		"Spending credits rests until the operator has looked at what was done already. What costs nothing goes on; "+
			"try again later.").With("paused", string(access.Spend)),
}

// Require refuses a caller without a capability: with the capability's own refusal where level and role do not give
// it, whatever else is the case, and with connection_suspended where only a pause takes it away.
func (c Call) Require(needed access.Capability) error {
	switch {
	case c.Can(needed):
		return nil
	case slices.Contains(c.BaseCapabilities(), needed):
		if c.Gates.Held && (needed == access.Publish || needed == access.Spend) {
			return held[needed]
		}
		return suspended[needed]
	case c.InApp():
		return deniedInApp[needed]
	case c.Assistant:
		return deniedAssistant[needed]
	}
	return denied[needed]
}
