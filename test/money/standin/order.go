package standin

import (
	"strconv"
	"strings"

	"pressroom/internal/domain/job"
)

// Order is parsed from the text of a call: "free …", or a price and an outcome, as in "7 part …".
type Order struct {
	Price int64
	End   End
}

// End is how paid work ends.
type End string

// The ends.
const (
	All     End = "all"     // charged wholly
	Part    End = "part"    // charged about half
	Nothing End = "none"    // refunded
	Later   End = "later"   // charged wholly, at the second try
	Refusal End = "refusal" // of Faulty: its dependency is unavailable at first
	Failure End = "error"   // of Faulty: it fails at first
	Panic   End = "panic"   // of Faulty: it falls over at first
)

// maxPrice is the highest price that words can name.
const maxPrice = 10

// Read reads the words of a call, which the operation's schema has checked.
func Read(query string) Order {
	price, rest, _ := strings.Cut(query, " ")
	if price == "free" {
		return Order{End: All}
	}
	n, _ := strconv.ParseInt(price, 10, 64) // the pattern only allows numbers
	end, _, _ := strings.Cut(rest, " ")
	return Order{n, End(end)}
}

// Cost returns the final price of the order.
func (o Order) Cost() int64 {
	switch o.End {
	case Nothing:
		return 0
	case Part:
		return o.Price / 2
	default:
		return o.Price
	}
}

// State returns how its job ends, with the code of the error.
func (o Order) State() (job.State, string) {
	switch {
	case o.Price > 0 && o.Cost() == 0:
		return job.Failed, "nothing_found"
	case o.Cost() < o.Price:
		return job.PartiallySucceeded, "internal_error"
	default:
		return job.Succeeded, ""
	}
}
