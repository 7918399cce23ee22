package standin

import (
	"context"
	"errors"
	"net/http"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/domain/job"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/platform/failpoint"
	"pressroom.example/pressroom/internal/teamtime"
)

type (
	// Input encodes a price and an outcome; see Read.
	Input struct {
		Query string `json:"query" pattern:"^(free|(10|[1-9]) (all|part|none|later|rejection|error|panic))( .{0,80})?$"`
	}
	// TrackingInput is an Input for a report.
	TrackingInput struct {
		Type  string `json:"type" enum:"profile|hashtag"`
		ID    string `json:"id" pattern:"^(?:[A-Za-z0-9-]{1,64})$"`
		Query string `json:"query" pattern:"^(free|(10|[1-9]) (all|part|none|later|rejection|error|panic))( .{0,80})?$"`
	}
	// Receipt is the result of an operation without a job.
	Receipt struct {
		Query   string          `json:"query"`
		Charged int64           `json:"charged"`
		At      teamtime.Moment `json:"at"`
	}
)

var example = Receipt{"5 all", 5, teamtime.Moment{Team: "2026-03-29T10:15:00+02:00", UTC: "2026-03-29T08:15:00Z"}}

// Operations returns the test operations.
func (s *Service) Operations() []operation.Operation {
	return []operation.Operation{
		operation.Define(operation.Spec{
			Tool: Search, Method: http.MethodPost, Path: "/hashtags/stand-in-search", Needs: access.Spend,
			Key: operation.KeyRequired, Success: http.StatusAccepted,
			Summary: "A search", Description: "A paid job.", Price: operation.PriceRange(0, maxPrice, price[Input](s)),
			Example: operation.Example{Arguments: map[string]any{"query": "5 all"}, Data: job.Job{
				JobID: "hashtag_search:019d3889-2b11-7d5a-9e0c-0c8f1d3e0002", Type: searchType, State: job.Pending,
				CreatedAt: example.At, Progress: job.JobProgress{Total: jobSteps}}},
		}, s.search),
		operation.Define(operation.Spec{
			Tool: Tracking, Method: http.MethodPut, Path: "/reports/{type}/{id}/stand-in-tracking", Needs: access.Spend,
			Key: operation.KeyRequired, Success: http.StatusOK,
			Summary: "A switch", Description: "A paid switch without a job.",
			Price:   operation.PriceRange(0, maxPrice, price[TrackingInput](s)),
			Example: operation.Example{Arguments: map[string]any{"type": "profile", "id": "1", "query": "5 all"}, Data: example},
		}, s.track),
		operation.Define(operation.Spec{
			Tool: Faulty, Method: http.MethodPost, Path: "/reports/stand-in-faulty", Needs: access.Spend,
			Key: operation.KeyRequired, Success: http.StatusOK,
			Summary: "A fault", Description: "Fails after the reservation, the first time that a node receives the query.",
			Price:   operation.PriceRange(0, maxPrice, price[Input](s)),
			Example: operation.Example{Arguments: map[string]any{"query": "5 error"}, Data: example},
		}, s.faulty),
		operation.Define(operation.Spec{
			Tool: Note, Method: http.MethodPost, Path: "/hashtags/stand-in-note", Needs: access.Write,
			Key: operation.KeyOptional, Success: http.StatusOK,
			Summary: "A note", Description: "A write without a charge.",
			Example: operation.Example{Arguments: map[string]any{"query": "free"}, Data: example},
		}, s.note),
	}
}

func (in Input) scenario() Scenario         { return ParseQuery(in.Query) }
func (in TrackingInput) scenario() Scenario { return ParseQuery(in.Query) }

// price returns an operation's price function, which reads the price from the query.
func price[In interface{ scenario() Scenario }](s *Service) func(context.Context, operation.Call, In) (int64, error) {
	return func(ctx context.Context, call operation.Call, in In) (int64, error) {
		return in.scenario().Price, s.reach(ctx, call.Tx, "stand_in.price")
	}
}

// reach calls the injector at a named point of a transaction, where a test can kill the process or inject an error.
func (s *Service) reach(ctx context.Context, tx *db.Tx, at string) error {
	failpoint.Point("inside " + at)
	return inject(ctx, tx, at)
}

// search starts a job in the call's transaction, like every operation with a paid job.
func (s *Service) search(ctx context.Context, call operation.Call, in Input) (operation.Response[job.Job], error) {
	var started job.Record
	err := call.InTx(ctx, s.parts.DB, "stand_in.start", func(ctx context.Context, tx *db.Tx) error {
		var err error
		started, err = s.parts.Jobs.Start(ctx, tx,
			job.Params{TeamID: call.TeamID, Type: searchType, Subject: in.Query, Total: jobSteps, Reservation: call.Reservation})
		if err != nil {
			return err
		}
		if err := s.reach(ctx, tx, "stand_in.started"); err != nil {
			return err
		}
		wakes := []string{started.ID, started.ID} // duplicates must be harmless
		if in.scenario().End == Later {
			wakes = wakes[:1] // the sweep starts the second try
		}
		return s.parts.Queue.Wake(ctx, tx, queueName, wakes...)
	})
	if err != nil {
		return operation.Response[job.Job]{}, err
	}
	answer, err := s.parts.Jobs.View(ctx, call.Reader(s.parts.DB), call, started, job.GetInput{})
	answer.Location = job.Location(started.ID)
	return answer, err
}

func (s *Service) track(ctx context.Context, call operation.Call, in TrackingInput) (operation.Response[Receipt], error) {
	return s.settleNow(ctx, call, in.Query)
}

// settleNow settles the reservation in the call's transaction.
func (s *Service) settleNow(ctx context.Context, call operation.Call, query string) (operation.Response[Receipt], error) {
	scenario := ParseQuery(query)
	err := call.InTx(ctx, s.parts.DB, "stand_in.at_once", func(ctx context.Context, tx *db.Tx) error {
		if call.Reservation > 0 {
			if _, err := s.parts.Credits.Settle(ctx, tx, call.Reservation, scenario.Cost()); err != nil {
				return err
			}
		}
		return s.reach(ctx, tx, "stand_in.at_once")
	})
	return operation.Response[Receipt]{
		Data:    Receipt{query, scenario.Cost(), call.Moment(call.Now)},
		Billing: &operation.Billing{Charged: scenario.Cost(), Refunded: scenario.Price - scenario.Cost()},
	}, err
}

var errFaulty = errors.New("failure requested by the query")

func (s *Service) faulty(ctx context.Context, call operation.Call, in Input) (operation.Response[Receipt], error) {
	if s.isFirst(in.Query) {
		switch in.scenario().End {
		case Rejection:
			return operation.Response[Receipt]{}, apierr.New(apierr.ProviderUnavailable, "The provider is unavailable.")
		case Panic:
			panic(errFaulty)
		default:
			return operation.Response[Receipt]{}, errFaulty
		}
	}
	return s.settleNow(ctx, call, in.Query)
}

// isFirst reports whether this process receives a query for the first time.
func (s *Service) isFirst(query string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	first := !s.received[query]
	s.received[query] = true
	return first
}

func (s *Service) note(ctx context.Context, call operation.Call, in Input) (operation.Response[Receipt], error) {
	err := call.InTx(ctx, s.parts.DB, "stand_in.note", func(ctx context.Context, tx *db.Tx) error {
		return s.reach(ctx, tx, "stand_in.note")
	})
	return operation.Response[Receipt]{Data: Receipt{Query: in.Query, At: call.Moment(call.Now)}}, err
}
