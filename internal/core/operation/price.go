package operation

import "context"

// Price is the price of a paid operation in credits. The cost of a call depends on its arguments and the team's data.
// It is known before the operation runs.
type Price struct {
	Min, Max  int64
	Recurring *Recurring
	compute   func(context.Context, Call, []byte) (int64, error)
}

// Recurring is a recurring charge that a call may start.
type Recurring struct {
	Credits int64
	Repeats string // when it is charged, in words
	Stops   string // how to end it, in words
}

// PriceRange returns a price between two amounts. compute runs in the call's transaction and returns the cost of the
// call. The data that it reads must not change until the operation has run.
func PriceRange[In any](minimum, maximum int64, compute func(context.Context, Call, In) (int64, error)) *Price {
	return &Price{Min: minimum, Max: maximum, compute: func(ctx context.Context, call Call, args []byte) (int64, error) {
		in, err := decode[In](args)
		if err != nil {
			return 0, err
		}
		return compute(ctx, call, in)
	}}
}

// FixedPrice returns a price that is the same for all calls.
func FixedPrice(credits int64) *Price {
	return &Price{Min: credits, Max: credits, compute: func(context.Context, Call, []byte) (int64, error) {
		return credits, nil
	}}
}

// WithRecurring returns a copy of the price that includes a recurring charge.
func (p *Price) WithRecurring(r Recurring) *Price {
	out := *p
	out.Recurring = &r
	return &out
}

// IsPaid reports whether a call can cost credits.
func (op *Operation) IsPaid() bool { return op.Price != nil }

// Cost returns the cost of a call with checked arguments. The cost is 0 if the operation is not paid.
func (op *Operation) Cost(ctx context.Context, call Call, args []byte) (int64, error) {
	if op.Price == nil {
		return 0, nil
	}
	return op.Price.compute(ctx, call, args)
}
