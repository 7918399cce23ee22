package job

import (
	"context"
	"time"
)

// KeepLease renews a lease in the background, three times per lease duration. It cancels the returned context if the
// lease cannot be renewed, so that the work stops. The returned function stops the renewals and cancels the context.
func KeepLease(ctx context.Context, lease time.Duration, renew func(context.Context) error) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(lease / 3)
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
		<-done
	}
}
