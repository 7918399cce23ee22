package openapi_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/api/openapi"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/operation"
)

type toyInput struct {
	Names []string `json:"names" maxItems:"3" pattern:"^[a-z]+$"`
	N     int64    `json:"n,omitempty" min:"1" max:"9" default:"3"`
}

// toy returns an operation with properties that real operations may not have.
func toy(method, path string, key operation.KeyRule) operation.Operation {
	var price *operation.Price
	if key == operation.KeyRequired {
		price = operation.PriceRange(0, 10, func(context.Context, operation.Call, toyInput) (int64, error) { return 5, nil }).
			WithRecurring(operation.Recurring{Credits: 2, Repeats: "every day", Stops: "when it is switched off"})
	}
	return operation.Define(operation.Spec{
		Price: price, Tool: "toy", Method: method, Path: path, Summary: "A toy", Description: "A toy.",
		Needs: access.Spend, Key: key, Success: http.StatusOK, Example: operation.Example{Data: toyInput{Names: []string{"a"}}},
	}, func(context.Context, operation.Call, toyInput) (operation.Response[toyInput], error) {
		return operation.Response[toyInput]{}, nil
	})
}

func describeToy(t *testing.T, method string, key operation.KeyRule) (describedOperation, described) {
	t.Helper()
	raw, err := openapi.Build(operation.NewRegistry([]operation.Operation{toy(method, "/me", key)}), openapi.Info{})
	if err != nil {
		t.Fatalf("Build: %v", err)
	}
	doc := parse(t, raw)
	return doc.Paths["/me"][strings.ToLower(method)], doc
}

func TestPaidOperation(t *testing.T) {
	op, doc := describeToy(t, http.MethodPost, operation.KeyRequired)
	answer := op.Responses["200"].Content["application/json"].Schema
	if answer.Properties["billing"] == nil || answer.Properties["page"] != nil || len(answer.AllOf) != 1 {
		t.Errorf("a paid answer has the members %v, want billing among them and no page", answer.PropertyOrder)
	}
	if common := doc.Components.Schemas["Envelope"]; common.Properties["meta"] == nil || common.Properties["data"] != nil {
		t.Errorf("every answer has the members %v, want meta among them and no data", common.PropertyOrder)
	}
	if got := statuses(op); !strings.Contains(got, "402") {
		t.Errorf("statuses %s, want 402 among them", got)
	}
	key := op.Parameters[0]
	if key.Name != "Idempotency-Key" || !key.Required || *key.Schema.MaxLength != 255 {
		t.Errorf("the key's parameter is %+v, want a required one of 255 characters", key)
	}
	if !op.RequestBody.Required {
		t.Error("the body may be left out although an argument is required")
	}
}

func TestListInAQuery(t *testing.T) {
	op, _ := describeToy(t, http.MethodGet, operation.KeyRejected)
	names, n := op.Parameters[0], op.Parameters[1]
	if names.Style != "form" || names.Explode == nil || *names.Explode || !names.Required {
		t.Errorf("the list's parameter is %+v, want a required one, comma-separated", names)
	}
	if n.Required || string(n.Schema.Default) != "3" || *n.Schema.Minimum != 1 || *n.Schema.Maximum != 9 {
		t.Errorf("the number's parameter is %+v, want its default and bounds", n)
	}
	if len(op.Parameters) != 2 || op.RequestBody != nil {
		t.Errorf("a read has %d parameters and body %v, want only its two arguments", len(op.Parameters), op.RequestBody)
	}
}
