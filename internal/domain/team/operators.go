package team

import (
	"context"
	"slices"

	"pressroom.example/pressroom/internal/domain/team/lastoperator"
	"pressroom.example/pressroom/internal/platform/db"
)

// ChangeOption is an option of SetHold, SetOperator and RemoveMember.
type ChangeOption int

// KeepOperator makes a change return an error if it would leave no operator who can sign in.
const KeepOperator ChangeOption = 1

// withOptions returns a function that makes a change in accordance with the options.
func withOptions(opts []ChangeOption, change func(context.Context, *db.Tx) error) func(context.Context, *db.Tx) error {
	if !slices.Contains(opts, KeepOperator) {
		return change
	}
	return lastoperator.Keep(change)
}
