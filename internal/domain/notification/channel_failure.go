package notification

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"pressroom.example/pressroom/internal/locale"
)

// ChannelFailure is a code for the reason why sending to a channel failed. Some codes end with the HTTP status of the
// response, such as status:500.
type ChannelFailure string

const (
	failureDamaged     ChannelFailure = "damaged"
	failureUnsealed    ChannelFailure = "unsealed"
	failurePrivateHost ChannelFailure = "private_host"
	failurePrivateName ChannelFailure = "private_name"
	failureUnreachable ChannelFailure = "unreachable"
)

// newStatusFailure returns the failure for a response with an HTTP status.
func newStatusFailure(status int) ChannelFailure {
	if slices.Contains([]int{401, 403, 404, 410}, status) {
		return ChannelFailure(fmt.Sprintf("refused:%d", status))
	}
	return ChannelFailure(fmt.Sprintf("status:%d", status))
}

var failureTexts = map[string]locale.Key{
	"damaged":      "The notification is damaged.",
	"unsealed":     "The address cannot be decrypted. Check the sealing key.",
	"private_host": "The address is on a private host that --notification-allow does not include.",
	"private_name": "The host name resolves to a private address. Add the name to --notification-allow.",
	"unreachable":  "The service could not be reached.",
	"refused":      "The service responded with status %d: it does not accept the address. Enter a new one.",
	"status":       "The service responded with status %d.",
}

// Text returns the failure as a sentence in a language.
func (f ChannelFailure) Text(l *locale.Language) string {
	text, args := f.textKey()
	return l.T(text, args...)
}

// textKey returns the format of the sentence and its arguments.
func (f ChannelFailure) textKey() (locale.Key, []any) {
	code, status, _ := strings.Cut(string(f), ":")
	if n, err := strconv.Atoi(status); err == nil {
		return failureTexts[code], []any{n}
	}
	return failureTexts[code], nil
}

// MarshalText returns the English sentence, for the output of commands.
func (f ChannelFailure) MarshalText() ([]byte, error) { return []byte(f.Text(locale.English)), nil }
