package openapi

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"pressroom/internal/api/problem"
	"pressroom/internal/apierr"
	"pressroom/internal/core/operation"
)

// refusal is a kind of refusal by its status: which operations can meet it, and one that is shown.
type refusal struct {
	component string
	meets     func(*operation.Operation) bool
	header    string // sent with every refusal of this kind beside those of every answer
	as        string // the component of that header
	example   error
}

var refusals = []refusal{
	{component: "Unauthorized", meets: every, header: "WWW-Authenticate", as: "Challenge",
		example: apierr.New(apierr.Unauthorized, "Send a team API key as a bearer token in the Authorization header.")},
	{component: "PaymentRequired", meets: paid,
		example: apierr.New(apierr.InsufficientCredits, "The team has too few credits for this. Nothing was charged.")},
	{component: "Forbidden", meets: every,
		example: apierr.New(apierr.WriteNotAllowed, "This key cannot create or change anything.")},
	{component: "NotFound", meets: namesAnItem, example: apierr.Missing()},
	{component: "Conflict", meets: takesKey, header: "Retry-After", as: "RetryAfter",
		example: apierr.New(apierr.KeyInProgress, "The first call with this Idempotency-Key is still running.").
			After(time.Second)},
	{component: "Unprocessable", meets: every,
		example: apierr.Invalid(apierr.UnknownArgument, "colour",
			"Unknown argument. This operation accepts: name, platform.")},
	{component: "TooManyRequests", meets: every, header: "Retry-After", as: "RetryAfter",
		example: apierr.New(apierr.RateLimited, "Too many requests with this key.").With("scope", "credential").
			After(2 * time.Second)},
	{component: "Failed", meets: every, example: apierr.Of(nil)},
	{component: "Unavailable", meets: every, header: "Retry-After", as: "RetryAfter", example: apierr.Full(
		time.Second)},
	{component: "NotConfirmed", meets: reachesProvider,
		example: apierr.New(apierr.ProviderUnavailable,
			"The network did not confirm. Look at the post before publishing it again.")},
}

func every(*operation.Operation) bool { return true }

func takesKey(op *operation.Operation) bool { return op.Key != operation.KeyRefused }

// namesAnItem tells whether an argument names something that may not be there.
func namesAnItem(op *operation.Operation) bool {
	return len(op.InPath) > 0 || slices.ContainsFunc(op.Input.PropertyOrder, func(name string) bool {
		return strings.HasSuffix(name, "_id") || strings.HasSuffix(name, "_ids")
	})
}

// toProvider are the operations whose success hangs on the delivery's answer, or on that of a source of public figures.
var toProvider = []string{"cancel_post", "create_report", "download_profile_media", "publish_post", "retry_post"}

func reachesProvider(op *operation.Operation) bool { return slices.Contains(toProvider, op.Tool) }

// addRefusals adds the refusals that an operation can meet.
func (b *builder) addRefusals(op *operation.Operation, out map[string]response) {
	for _, r := range refusals {
		if !r.meets(op) {
			continue
		}
		shown := problem.Of(r.example, exampleURL)
		out[strconv.Itoa(shown.Status)] = response{Ref: "#/components/responses/" + r.component}
		if _, ok := b.components.Responses[r.component]; !ok {
			b.components.Responses[r.component] = r.response(shown)
		}
	}
}

func (r refusal) response(shown problem.Document) response {
	headers := everyAnswer()
	if r.header != "" {
		headers[r.header] = headerRef(r.as)
	}
	return response{Description: codesOf(shown.Status), Headers: headers,
		Content: map[string]mediaType{"application/problem+json": {Schema: ref("Problem"), Example: shown}}}
}

// codesOf lists the codes of a status with their titles, as CommonMark.
func codesOf(status int) string {
	var out strings.Builder
	out.WriteString(http.StatusText(status) + ". The code is one of:\n")
	for _, e := range problem.Entries() {
		if e.Status == status {
			fmt.Fprintf(&out, "\n- `%s`: %s", e.Code, e.Title)
		}
	}
	return out.String()
}
