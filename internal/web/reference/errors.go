package reference

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"pressroom.example/pressroom/internal/api/problem"
	"pressroom.example/pressroom/internal/apierr"
)

// errorCodes holds the error codes that match a query.
type errorCodes struct {
	Query  string // empty to show all codes
	Groups []statusGroup
}

// statusGroup is an HTTP status with its error codes.
type statusGroup struct {
	Status  int
	Name    string // such as Forbidden
	Entries []problem.Entry
}

func (h *Handlers) errors(w http.ResponseWriter, r *http.Request, b *book) {
	query := strings.TrimSpace(r.URL.Query().Get("q"))
	h.Show(w, r, http.StatusOK, pages["errors"], "Error reference",
		newPage(r, b, errorCodes{query, groupByStatus(problem.Entries(), query)}))
}

// groupByStatus returns the codes that match a query, grouped by status.
func groupByStatus(entries []problem.Entry, query string) []statusGroup {
	words := strings.Fields(strings.ToLower(query))
	var out []statusGroup
	for _, e := range entries {
		code := string(e.Code)
		text := strings.ToLower(strings.Join([]string{code, strings.ReplaceAll(code, "_", " "), useCurlyQuotes(e.Title),
			strconv.Itoa(e.Status), http.StatusText(e.Status)}, " "))
		if slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(text, useCurlyQuotes(word)) }) {
			continue
		}
		i := slices.IndexFunc(out, func(g statusGroup) bool { return g.Status == e.Status })
		if i < 0 {
			i, out = len(out), append(out, statusGroup{Status: e.Status, Name: http.StatusText(e.Status)})
		}
		out[i].Entries = append(out[i].Entries, e)
	}
	slices.SortFunc(out, func(a, b statusGroup) int { return cmp.Compare(a.Status, b.Status) })
	return out
}

// remedies maps each error code to what a client can do about it.
var remedies = map[apierr.Code]string{
	apierr.Unauthorized:              "Check the Authorization header, or create a new key.",
	apierr.RestDisabled:              "Wait until the operator turns the API on again.",
	apierr.TeamAccessDisabled:        "Ask the owner to turn access on under Settings, API keys.",
	apierr.PlanLapsed:                "Ask the operator for a plan with API access.",
	apierr.ConnectionSuspended:       "Try again later, or ask the operator for the reason.",
	apierr.TeamClosed:                "Use another team's API key.",
	apierr.OwnerSuspended:            "Ask the operator about the owner's account.",
	apierr.MembershipLost:            "Create a new key as the team's owner.",
	apierr.OwnershipLost:             "Create a new key as the team's new owner.",
	apierr.RoleLost:                  "Ask for a higher role, then connect again.",
	apierr.EndpointNotFound:          "Check the path and the format of the IDs.",
	apierr.MethodNotAllowed:          "Use the method in the reference.",
	apierr.ReadNotAllowed:            "Connect again and allow reading.",
	apierr.WriteNotAllowed:           "Use a key with the permission Drafts or Full.",
	apierr.PublishNotAllowed:         "Use a key with the permission Full.",
	apierr.SpendNotAllowed:           "Use a key with the permission Full.",
	apierr.RateLimited:               "Wait as long as Retry-After says.",
	apierr.DailyCallLimit:            "Wait until midnight in the team's time zone.",
	apierr.DailyCreditLimit:          "Wait until midnight, or raise the limit in the settings.",
	apierr.InsufficientCredits:       "Add credits, then send the request again.",
	apierr.PlanLimitReached:          "Remove something, or ask the operator for a larger plan.",
	apierr.ValidationFailed:          "Correct the argument that context names.",
	apierr.NotFound:                  "Check the ID that context names.",
	apierr.FolderNotFound:            "List the folders and use an existing one.",
	apierr.IdempotencyKeyReused:      "Use a new Idempotency-Key.",
	apierr.IdempotencyKeyInProgress:  "Wait a moment, then repeat the request.",
	apierr.PreflightBlocked:          "Validate the post and correct the problems.",
	apierr.AwaitingApproval:          "Wait for the client's decision.",
	apierr.ProviderUnavailable:       "Try again later.",
	apierr.Internal:                  "Try again. Report the request ID if it persists.",
	apierr.Unavailable:               "Wait as long as Retry-After says.",
	apierr.UploadLinkUsed:            "If the file is in the library, do nothing. Otherwise, request a new link.",
	apierr.UploadLinkClosed:          "Request a new link.",
	apierr.UploadTooLarge:            "Send a smaller file.",
	apierr.MalformedRequest:          "Check the HTTP client or proxy.",
	apierr.HeadersTooLarge:           "Send fewer or shorter header fields.",
	apierr.TransferCodingUnsupported: "Send the body without a transfer coding, or chunked.",
	apierr.HTTPVersionUnsupported:    "Use HTTP/1.1 or HTTP/2.",
}

// remedyOf returns what a client can do about an error code.
func remedyOf(code apierr.Code) string { return useCurlyQuotes(remedies[code]) }
