package standin

import (
	"strconv"
	"strings"

	"pressroom.example/pressroom/internal/domain/job"
)

// Scenario is the price and outcome that a query encodes: "free …", or a price and an outcome such as "7 part …".
type Scenario struct {
	Price int64
	End   Outcome
}

// Outcome is the outcome of a paid operation.
type Outcome string

// Outcomes.
const (
	All       Outcome = "all"       // fully charged
	Part      Outcome = "part"      // half charged, rounded down
	Nothing   Outcome = "none"      // fully refunded
	Later     Outcome = "later"     // the job fails at the first try and is fully charged at the second
	Rejection Outcome = "rejection" // only Faulty: the first call fails with provider_unavailable
	Failure   Outcome = "error"     // only Faulty: the first call returns an error
	Panic     Outcome = "panic"     // only Faulty: the first call panics
)

// maxPrice is the highest price that a query can state.
const maxPrice = 10

// ParseQuery parses a query, which the operation's schema has validated.
func ParseQuery(query string) Scenario {
	price, rest, _ := strings.Cut(query, " ")
	if price == "free" {
		return Scenario{End: All}
	}
	n, _ := strconv.ParseInt(price, 10, 64) // the pattern only allows numbers
	end, _, _ := strings.Cut(rest, " ")
	return Scenario{n, Outcome(end)}
}

// Cost returns the credits that are finally charged.
func (o Scenario) Cost() int64 {
	switch o.End {
	case Nothing:
		return 0
	case Part:
		return o.Price / 2
	default:
		return o.Price
	}
}

// State returns the final state of the job and its error code.
func (o Scenario) State() (job.State, string) {
	switch {
	case o.Price > 0 && o.Cost() == 0:
		return job.Failed, "nothing_found"
	case o.Cost() < o.Price:
		return job.PartiallySucceeded, "internal_error"
	default:
		return job.Succeeded, ""
	}
}
