package e2e

import (
	"context"
	"errors"
	"net/http"
	"testing"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/server"
	"pressroom.example/pressroom/internal/testkit/must"
)

// IDs of the reports of the paid test operation. All paid operations share their implementation.
const (
	aReport         = "a-report"   // a refresh costs refreshPrice
	newReport       = "new-report" // was refreshed recently: costs nothing
	unchangedReport = "same-one"   // costs refreshPrice and finds nothing new: fully refunded
	brokenReport    = "broken-one" // fails after payment
)

const refreshPrice = 3

type (
	refreshInput struct {
		ID   string `json:"id" pattern:"^(?:[A-Za-z0-9-]{1,64})$"`
		Note string `json:"note,omitempty" maxLength:"100"`
	}
	refreshed struct {
		ID string `json:"id"`
	}
)

// paidTestOperation returns the paid test operation.
func paidTestOperation(p server.ExtensionServices) []operation.Operation {
	price := operation.PriceRange(0, refreshPrice, func(_ context.Context, _ operation.Call, in refreshInput) (int64, error) {
		if in.ID == newReport {
			return 0, nil
		}
		return refreshPrice, nil
	})
	return []operation.Operation{operation.Define(operation.Spec{
		Tool: "refresh_standin", Method: http.MethodPost, Path: "/hashtags/standins/{id}/refresh", Needs: access.Spend,
		Key: operation.KeyRequired, Price: price,
		Success: http.StatusOK, Networks: true, Summary: "Refresh a report", Description: "Fetches today's figures.",
		Example: operation.Example{Arguments: map[string]any{"id": aReport}, Data: refreshed{aReport}},
	}, func(ctx context.Context, call operation.Call, in refreshInput) (operation.Response[refreshed], error) {
		return refresh(ctx, p, call, in)
	})}
}

func refresh(ctx context.Context, p server.ExtensionServices, call operation.Call,
	in refreshInput) (operation.Response[refreshed], error) {
	out := operation.Response[refreshed]{Data: refreshed{in.ID}, App: "/reports/" + in.ID}
	charged := int64(refreshPrice)
	switch in.ID {
	case newReport:
		return out, nil
	case aReport:
	case unchangedReport:
		charged = 0
		out.Billing = &operation.Billing{Charged: refreshPrice, Refunded: refreshPrice}
	case brokenReport:
		return out, errors.New("the metrics are inconsistent")
	default:
		return out, apierr.ItemNotFound()
	}
	return out, call.InTx(ctx, p.DB, "report.refresh", func(ctx context.Context, tx *db.Tx) error {
		_, err := p.Credits.Settle(ctx, tx, call.Reservation, charged)
		return err
	})
}

// grant grants credits to the team.
func (w *env) grant(credits int64) {
	w.t.Helper()
	must.Get(w.Credits.Grant(w.t.Context(), w.team, credits, number(w.people.Add(1)), ""))(w.t)
}

// The test operation exists in REST, in MCP and in the API description.
func TestRefreshOperation(t *testing.T) {
	t.Parallel()
	withEnv(t, options{accounts: 1, extend: paidTestOperation}, func(t *testing.T, w *env) {
		got := w.raw(http.MethodGet, w.base+"/openapi.json", nil, nil)
		described, _ := got.at("paths").(map[string]any)["/hashtags/standins/{id}/refresh"].(map[string]any)
		post := answer{body: described}
		post.mustHave(t,
			map[string]any{
				"post.x-tool": "refresh_standin", "post.x-capability": "spend", "post.x-price.min": 0, "post.x-price.max": refreshPrice,
			})
	})
}
