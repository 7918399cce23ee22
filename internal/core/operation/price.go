package operation

import "context"

// Price is what a paid operation costs, in credits. What one call costs follows from its arguments and the team's
// own data, and is known before anything is done.
type Price struct {
	Min, Max  int64
	Recurring *Recurring
	of        func(context.Context, Call, []byte) (int64, error)
}

// Recurring is a charge that a call may commit the team to, over and over.
type Recurring struct {
	Credits int64
	Repeats string // when, in words
	Stops   string // how it ends, in words
}

// Costs makes a price between two amounts. The function tells what a call with these arguments costs; it runs in
// the transaction of the call, and what it read has to hold until the work is done.
func Costs[In any](least, most int64, of func(context.Context, Call, In) (int64, error)) *Price {
	return &Price{Min: least, Max: most, of: func(ctx context.Context, call Call, args []byte) (int64, error) {
		in, err := decode[In](args)
		if err != nil {
			return 0, err
		}
		return of(ctx, call, in)
	}}
}

// Fixed makes a price that is always the same.
func Fixed(credits int64) *Price {
	return &Price{Min: credits, Max: credits, of: func(context.Context, Call, []byte) (int64, error) {
		return credits, nil
	}}
}

// Repeating adds a recurring charge.
func (p *Price) Repeating(r Recurring) *Price {
	out := *p
	out.Recurring = &r
	return &out
}

// Paid tells whether a call can cost credits.
func (op *Operation) Paid() bool { return op.Price != nil }

// Cost is what a call with checked arguments costs; 0 where the operation is not paid.
func (op *Operation) Cost(ctx context.Context, call Call, args []byte) (int64, error) {
	if op.Price == nil {
		return 0, nil
	}
	return op.Price.of(ctx, call, args)
}
