// Package summary describes the results of posts for assistants.
package summary

import (
	"fmt"
	"slices"
	"strings"
)

// rejections are the error codes for content that a network rejects. Retrying the same content fails again.
var rejections = []string{"rejected_content", "rejected_media", "duplicate_content", "preflight_blocked"}

// Failure is an account where a post failed or is unconfirmed.
type Failure struct {
	Account     int64
	Code        string
	Unconfirmed bool
}

// Failures explains what to do about each failed or unconfirmed account. Rejected content needs another post, because a
// submitted post cannot be changed.
func Failures(failed []Failure) string {
	retryable, rejected, unconfirmed := []string{}, []string{}, []string{}
	for _, f := range failed {
		account := fmt.Sprintf("account %d (%s)", f.Account, f.Code)
		switch {
		case f.Unconfirmed:
			unconfirmed = append(unconfirmed, account)
		case slices.Contains(rejections, f.Code):
			rejected = append(rejected, account)
		default:
			retryable = append(retryable, account)
		}
	}
	var out strings.Builder
	for _, part := range []struct {
		accounts []string
		advice   string
	}{
		{retryable, "Failed; call retry_post after the cause is fixed"},
		{rejected, "Rejected because of content or media; create another post for these with create_post"},
		{unconfirmed, "Unconfirmed; may already be published, so it is not sent again until that is known"},
	} {
		if len(part.accounts) > 0 {
			out.WriteString(" " + part.advice + ": " + strings.Join(part.accounts, ", ") + ".")
		}
	}
	return out.String()
}

// Problems states how many problems a post has.
func Problems(blocking, other int) string {
	out := ""
	if blocking > 0 {
		out = fmt.Sprintf(" Blocking problems: %d.", blocking)
	}
	if other > 0 {
		out += fmt.Sprintf(" Other problems: %d.", other)
	}
	return out
}

// SkippedAccounts lists the skipped accounts by reason.
func SkippedAccounts(accounts map[string][]string, reasons []string) string {
	if len(reasons) == 0 {
		return ""
	}
	count, lines := 0, make([]string, len(reasons))
	for i, reason := range reasons {
		count += len(accounts[reason])
		lines[i] = fmt.Sprintf("%s: %d (account %s)", reason, len(accounts[reason]), strings.Join(accounts[reason], ", "))
	}
	return fmt.Sprintf("Skipped accounts: %d; %s.", count, strings.Join(lines, "; "))
}

// Inbox returns the note for a post in the inbox of a TikTok account. losesText is set if its text was not sent.
func Inbox(losesText bool) string {
	note := "On TikTok the post is in the account's inbox. It becomes visible once a person completes it in the TikTok app."
	if losesText {
		note += " TikTok takes no caption with a video there, so the caption has to be written in the app."
	}
	return note
}
