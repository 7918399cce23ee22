// Package override represents content that is published to one account instead of the content of the post.
package override

import (
	"errors"
	"slices"

	"pressroom.example/pressroom/internal/apierr"
)

// Override is content that is published to one account instead of the post's text and media.
type Override struct {
	Caption *string // nil means the post's caption
	Title   *string // nil means the post's title
	Media   []int64 // media IDs, in order; nil means the post's media, and an empty slice means no media
}

// PostOverride is an Override with its account, as an argument of operations.
type PostOverride struct {
	AccountID int64   `json:"account_id" jsonschema:"An account of the post."`
	Caption   *string `json:"caption,omitempty" maxLength:"10000" jsonschema:"Text for this account; may be empty."`
	Title     *string `json:"title,omitempty" maxLength:"500" jsonschema:"Title for this account; empty for none."`
	MediaIDs  []int64 `json:"media_ids,omitempty" maxItems:"50" jsonschema:"Media for this account; empty for none."`
}

// ByAccount returns overrides by account. It returns an error for an account that is not one of the post's accounts,
// and for two overrides of one account.
func ByAccount(list []PostOverride, accounts []int64) (map[int64]Override, error) {
	out := make(map[int64]Override, len(list))
	for i, o := range list {
		if !slices.Contains(accounts, o.AccountID) {
			return nil, apierr.ItemNotFound().With("argument", "overrides.account_id").With("item", i)
		}
		if _, exists := out[o.AccountID]; exists {
			return nil, apierr.Invalid(apierr.NotAllowedValue, "overrides.account_id",
				"An account can have only one override.").With("item", i)
		}
		out[o.AccountID] = Override{o.Caption, o.Title, o.MediaIDs}
	}
	return out, nil
}

// NameArgument converts an error about missing media to an error about the media of overrides. It returns other errors
// unchanged.
func NameArgument(err error) error {
	if missing, ok := errors.AsType[*apierr.Error](err); ok && missing.Code == apierr.NotFound {
		return apierr.ItemNotFound().With("argument", "overrides.media_ids")
	}
	return err
}
