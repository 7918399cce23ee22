package openapi

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/api/problem"
	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/operation"
)

// errorResponse is the error response of a status.
type errorResponse struct {
	component string
	applies   func(*operation.Operation) bool
	example   error
}

var errorResponses = []errorResponse{
	{component: "Unauthorized", applies: always,
		example: apierr.New(apierr.Unauthorized,
			"Send a valid team API key as a bearer token in the Authorization header.")},
	{component: "PaymentRequired", applies: (*operation.Operation).IsPaid,
		example: apierr.New(apierr.InsufficientCredits, "The team has too few credits. Nothing was charged.")},
	{component: "Forbidden", applies: always,
		example: apierr.New(apierr.WriteNotAllowed, "This key cannot create or change anything.")},
	{component: "NotFound", applies: hasItemID, example: apierr.Missing()},
	{component: "Conflict", applies: takesKey,
		example: apierr.New(apierr.KeyInProgress, "The first request with this Idempotency-Key is still in progress.").
			After(time.Second)},
	{component: "Unprocessable", applies: always,
		example: apierr.Invalid(apierr.UnknownArgument, "colour",
			"Unknown argument. This operation accepts: name, platform.")},
	{component: "TooManyRequests", applies: always,
		example: apierr.New(apierr.RateLimited, "Too many requests with this key.").With("scope", "credential").
			After(2 * time.Second)},
	{component: "Failed", applies: always, example: apierr.FromError(nil)},
	{component: "Unavailable", applies: always,
		example: apierr.AtCapacity(time.Second)},
	{component: "NotConfirmed", applies: reachesProvider,
		example: apierr.New(apierr.ProviderUnavailable,
			"The network did not confirm. Check the post before you publish it again.")},
}

func always(*operation.Operation) bool { return true }

func takesKey(op *operation.Operation) bool { return op.Key != operation.KeyRefused }

// hasItemID reports whether an argument is the ID of an item, which may not exist.
func hasItemID(op *operation.Operation) bool {
	return len(op.InPath) > 0 || slices.ContainsFunc(op.Input.PropertyOrder, func(name string) bool {
		return strings.HasSuffix(name, "_id") || strings.HasSuffix(name, "_ids")
	})
}

// providerOperations depend on the response of a social network or a data provider.
var providerOperations = []string{
	"cancel_post", "create_report", "download_profile_media", "publish_post", "retry_post",
}

func reachesProvider(op *operation.Operation) bool {
	return slices.Contains(providerOperations, op.Tool)
}

// addErrors adds the errors that an operation can return.
func (b *builder) addErrors(op *operation.Operation, out map[string]response) {
	for _, r := range errorResponses {
		if !r.applies(op) {
			continue
		}
		shown := problem.FromError(r.example, exampleURL)
		out[strconv.Itoa(shown.Status)] = response{Ref: "#/components/responses/" + r.component}
		if _, ok := b.components.Responses[r.component]; !ok {
			b.components.Responses[r.component] = r.response(shown)
		}
	}
}

func (r errorResponse) response(shown problem.Document) response {
	return response{Description: describeCodes(shown.Status),
		Content: map[string]mediaType{"application/problem+json": {Schema: ref("Problem"), Example: shown}}}
}

// describeCodes returns the codes of a status with their titles, as CommonMark.
func describeCodes(status int) string {
	var out strings.Builder
	out.WriteString(http.StatusText(status) + ". Codes:\n")
	for _, e := range problem.Entries() {
		if e.Status == status {
			fmt.Fprintf(&out, "\n- `%s`: %s", e.Code, e.Title)
		}
	}
	return out.String()
}
