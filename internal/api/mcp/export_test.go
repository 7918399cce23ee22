package mcp

import (
	"context"
	"net/http"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/core/pipeline"
)

// NewWithFixtures returns the handler of New with additions to its server. A middleware receives the server's
// handler with and without checks of names.
func NewWithFixtures(
	reg *operation.Registry, pipe *pipeline.Pipeline, opts Options, add func(*sdk.Server),
	serve func(checked, unchecked sdk.MethodHandler) sdk.MethodHandler,
) http.Handler {
	e := New(reg, pipe, opts).(*edge)
	e.handlers = sync.OnceValues(func() (http.Handler, http.Handler) {
		c := newCatalog(reg)
		server := newUncheckedServer(reg, c, opts)
		add(server)
		server.AddReceivingMiddleware(func(unchecked sdk.MethodHandler) sdk.MethodHandler {
			return serve(rejectUnknown(reg, c)(unchecked), unchecked)
		})
		return newHandler(server, true), newHandler(server, false)
	})
	return e
}

// KeepError marks the error of a request as one that the client receives unchanged.
func KeepError(ctx context.Context, err error) error {
	exchangeFrom(ctx).isOwnError = true
	return err
}
