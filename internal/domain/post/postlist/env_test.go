package postlist_test

import (
	"testing"

	"pressroom.example/pressroom/internal/domain/post/posttest"
)

type env struct{ *posttest.Env }

func eachDatabase(t *testing.T, run func(t *testing.T, w *env)) {
	t.Helper()
	posttest.EachDatabase(t, func(t *testing.T, w *posttest.Env) { run(t, &env{w}) })
}
