package job

import (
	"context"
	"time"
)

// KeepLease keeps a lease alive while work goes on: it renews it three times in the time that it lasts. The context it
// returns ends when the lease could not be kept, so that nothing is done by a holder that is one no more; the function
// ends the holding.
func KeepLease(ctx context.Context, lasts time.Duration, renew func(context.Context) error) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	finished := make(chan struct{})
	go func() {
		defer close(finished)
		tick := time.NewTicker(lasts / 3)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				if err := renew(ctx); err != nil {
					cancel(err)
					return
				}
			}
		}
	}()
	return ctx, func() {
		cancel(nil)
		<-finished
	}
}
