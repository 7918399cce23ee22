package operation

import (
	"slices"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/access"
)

// keyErrors contains the errors for a key whose level does not include a capability.
var keyErrors = map[access.Capability]*apierr.Error{
	access.Read: apierr.New(apierr.ReadNotAllowed, "This key cannot read."),
	access.Write: apierr.New(apierr.WriteNotAllowed,
		"This key cannot create or change anything. The team's owner can raise its level in the app."),
	access.Publish: apierr.New(apierr.PublishNotAllowed,
		"Scheduling, publishing, retrying and changing a scheduled post require a key with level Full. The team's "+
			"owner can raise the level in the app."),
	access.Spend: apierr.New(apierr.SpendNotAllowed,
		"Paid operations require a key with level Full. The team's owner can raise the level in the app."),
}

// assistantErrors contains the errors for an assistant's connection. They apply if the capability was not granted, or
// if the role of the person who granted it no longer includes it.
var assistantErrors = map[access.Capability]*apierr.Error{
	access.Read: apierr.New(apierr.ReadNotAllowed,
		"This connection cannot read, because the person who connected the assistant did not allow it. Connect the "+
			"assistant again to allow more."),
	access.Write: apierr.New(apierr.WriteNotAllowed,
		"This connection cannot create or change anything, because the person who connected the assistant did not "+
			"allow it or has no permission. Connect the assistant again to allow more."),
	access.Publish: apierr.New(apierr.PublishNotAllowed,
		"This connection cannot schedule, publish, retry or change a scheduled post, because the person who connected "+
			"the assistant did not allow it or has no permission. Connect the assistant again to allow more."),
	access.Spend: apierr.New(apierr.SpendNotAllowed,
		"This connection cannot spend credits, because the person who connected the assistant did not allow it or has "+
			"no permission. Connect the assistant again to allow more."),
}

// inAppErrors contains the errors for a person whose role does not include a capability.
var inAppErrors = map[access.Capability]*apierr.Error{
	access.Read: apierr.New(apierr.ReadNotAllowed, "Your role in this team cannot read this."),
	access.Write: apierr.New(apierr.WriteNotAllowed,
		"Your role in this team cannot create or change anything. An owner or admin of the team can change your role."),
	access.Publish: apierr.New(apierr.PublishNotAllowed,
		"Your role in this team cannot schedule or publish. An owner or admin of the team can change your role."),
	access.Spend: apierr.New(apierr.SpendNotAllowed,
		"Your role in this team cannot spend credits. An owner or admin of the team can change your role."),
}

var pausedErrors = map[access.Capability]*apierr.Error{
	access.Write: apierr.New(apierr.ConnectionSuspended,
		"Changes are paused. Reading still works; try again once they are resumed.").
		With("paused", string(access.Write)),
	access.Publish: apierr.New(apierr.ConnectionSuspended,
		"Publishing is paused. Reading and drafting still work; try again once it is resumed.").
		With("paused", string(access.Publish)),
	access.Spend: apierr.New(apierr.ConnectionSuspended,
		"Spending credits is paused. Free operations still work; try again once it is resumed.").
		With("paused", string(access.Spend)),
}

// restoreGuardErrors contains the errors while a restored or copied service is on hold.
var restoreGuardErrors = map[access.Capability]*apierr.Error{
	access.Publish: apierr.New(apierr.ConnectionSuspended,
		"Publishing is on hold until the operator has checked what was already published. Reading and drafting still "+
			"work, and scheduled posts wait; try again later.").With("paused", string(access.Publish)),
	access.Spend: apierr.New(apierr.ConnectionSuspended,
		"Spending credits is on hold until the operator has checked what was already done. Free operations still "+
			"work; try again later.").With("paused", string(access.Spend)),
}

// Require returns an error if the caller lacks a capability. If the capability is only paused, the error is
// connection_suspended. If the caller's permissions do not include it, the error depends on the capability.
func (c Call) Require(required access.Capability) error {
	switch {
	case c.Can(required):
		return nil
	case slices.Contains(c.BaseCapabilities(), required):
		if c.Gates.RestoreGuard && (required == access.Publish || required == access.Spend) {
			return restoreGuardErrors[required]
		}
		return pausedErrors[required]
	case c.InApp():
		return inAppErrors[required]
	case c.Assistant:
		return assistantErrors[required]
	}
	return keyErrors[required]
}
