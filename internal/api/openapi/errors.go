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

// errorResponse is an error response that operations can return. There is one for each status.
type errorResponse struct {
	name    string // name of the example
	applies func(*operation.Operation) bool
	example error
}

var errorResponses = []errorResponse{
	{name: "Unauthorized", applies: appliesToAll,
		example: apierr.New(apierr.Unauthorized,
			"Send a valid team API key as a bearer token in the Authorization header.")},
	{name: "PaymentRequired", applies: (*operation.Operation).IsPaid,
		example: apierr.New(apierr.InsufficientCredits, "Not enough credits. Nothing was charged.")},
	{name: "Forbidden", applies: appliesToAll,
		example: apierr.New(apierr.WriteNotAllowed, "This key cannot create or change anything.")},
	{name: "NotFound", applies: hasItemID, example: apierr.ItemNotFound()},
	{name: "Conflict", applies: takesIdempotencyKey,
		example: apierr.New(apierr.IdempotencyKeyInProgress,
			"The first request with this Idempotency-Key is still in progress.").
			WithRetryAfter(time.Second)},
	{name: "Unprocessable", applies: appliesToAll,
		example: apierr.Invalid(apierr.UnknownArgument, "colour",
			"Unknown argument. This operation accepts: name, platform.")},
	{name: "TooManyRequests", applies: appliesToAll,
		example: apierr.New(apierr.RateLimited, "Too many requests with this key.").With("scope", "credential").
			WithRetryAfter(2 * time.Second)},
	{name: "Failed", applies: appliesToAll, example: apierr.FromError(nil)},
	{name: "Unavailable", applies: appliesToAll,
		example: apierr.AtCapacity(time.Second)},
	{name: "ProviderUnavailable", applies: reachesProvider,
		example: apierr.New(apierr.ProviderUnavailable,
			"The provider of these metrics is unreachable. Nothing was done or charged. Try again later.")},
}

func appliesToAll(*operation.Operation) bool { return true }

func takesIdempotencyKey(op *operation.Operation) bool { return op.Key != operation.KeyRejected }

// hasItemID reports whether an argument is the ID of an item. In that case, the item may not exist.
func hasItemID(op *operation.Operation) bool {
	return len(op.InPath) > 0 || slices.ContainsFunc(op.Input.PropertyOrder, func(name string) bool {
		return strings.HasSuffix(name, "_id") || strings.HasSuffix(name, "_ids")
	})
}

// providerOperations are the operations for which the document lists provider_unavailable.
var providerOperations = []string{"create_report", "download_profile_media"}

func reachesProvider(op *operation.Operation) bool {
	return slices.Contains(providerOperations, op.Tool)
}

// errorComponent is the name of the component that describes the error responses of all statuses. If each status had
// its own component, code generators would create a type for each one, and ogen would print a warning for each one.
const errorComponent = "Error"

// addErrors adds the error responses that an operation can return.
func addErrors(op *operation.Operation, responses map[string]response) {
	for _, r := range errorResponses {
		if r.applies(op) {
			status := problem.FromError(r.example, exampleURL).Status
			responses[strconv.Itoa(status)] = response{
				Ref: "#/components/responses/" + errorComponent, Description: http.StatusText(status) + ".",
			}
		}
	}
}

// sharedErrorResponse returns the response that all errors share, with the codes and an example for each status.
func sharedErrorResponse() response {
	examples := map[string]example{}
	paragraphs := []string{"An error. Handle its `code` and `status`."}
	for _, r := range errorResponses {
		doc := problem.FromError(r.example, exampleURL)
		examples[r.name] = example{Value: doc}
		paragraphs = append(paragraphs, describeCodes(doc.Status))
	}
	return response{
		Description: strings.Join(paragraphs, "\n\n"),
		Content:     map[string]mediaType{"application/problem+json": {Schema: ref("Problem"), Examples: examples}},
	}
}

// describeCodes returns a CommonMark list of a status's codes with their titles.
func describeCodes(status int) string {
	var out strings.Builder
	fmt.Fprintf(&out, "%d %s. Codes:\n", status, http.StatusText(status))
	for _, e := range problem.Entries() {
		if e.Status == status {
			fmt.Fprintf(&out, "\n- `%s`: %s", e.Code, e.Title)
		}
	}
	return out.String()
}
