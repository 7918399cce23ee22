package report

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"pressroom/internal/source"
)

// slowly is a source that takes a minute, and tells of what it was asked.
type slowly struct {
	Source

	asked chan string
}

func (s slowly) Hashtag(_ context.Context, q source.HashtagQuery) (source.HashtagFigures, error) {
	s.asked <- q.Hashtag
	<-time.After(time.Minute)
	return source.HashtagFigures{}, nil
}

// Who waits for a slow source holds nobody else up, and gives its turn back once.
func TestSlowSourcesHoldNobodyUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		asked := make(chan string, 10)
		s := &Service{Options: Options{Source: slowly{asked: asked}}, asking: make(chan struct{}, 2)}
		ask := func(name string) {
			go func() {
				if _, err := s.askInTurn(t.Context(), task{record: record{kind: Hashtag, platform: source.Instagram, subject: name}}); err != nil {
					t.Error(err)
				}
			}()
			synctest.Wait()
		}
		ask("a")
		ask("b")
		ask("c")
		if len(asked) != 2 {
			t.Fatalf("%d ask at once, want 2", len(asked))
		}
		<-time.After(patience)
		synctest.Wait()
		if len(asked) != 3 || len(s.asking) != 1 {
			t.Errorf("%d asked and %d hold their turn, want 3 and 1", len(asked), len(s.asking))
		}
		<-time.After(2 * time.Minute)
		synctest.Wait()
		if len(s.asking) != 0 {
			t.Errorf("%d turns were not given back", len(s.asking))
		}
	})
}
