package ratelimit

import (
	"encoding/json"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/core/plan"
)

// askLimits calls get_limits and returns its data as JSON.
func (w callDay) askLimits(t *testing.T, c *FreeCalls, name string, freeCalls int64) (map[string]any, error) {
	t.Helper()
	op := operation.NewRegistry(c.Operations(plan.Default())).Tool("get_limits")
	actor := w.berlin(freeCalls)
	actor.Plan = name
	result, err := op.Run(t.Context(),
		operation.Call{Actor: actor, Operation: op.Tool, Now: w.clock.Now().UTC().Truncate(time.Microsecond)}, nil)
	if err != nil {
		return nil, err
	}
	if result.App != "/settings/plan" {
		t.Errorf("the app URL is %q", result.App)
	}
	raw, err := json.Marshal(result.Data)
	if err != nil {
		t.Fatal(err)
	}
	var data map[string]any
	if err := json.Unmarshal(raw, &data); err != nil {
		t.Fatal(err)
	}
	return data, nil
}

func TestGetLimits(t *testing.T) {
	eachCallDay(t, func(t *testing.T, w callDay) {
		c := NewFreeCalls(w.db)
		for range 3 {
			take(t, c, w.berlin(1000))
		}
		for _, want := range []struct {
			plan      string
			freeCalls int64
			data      string
		}{
			{"free", 0,
				`{"plan":{"id":"free","name":"Free"},"api_access":false,"free_calls_left_today":0,
				"limits":{"social_accounts":3,"posts_per_month":20,"seats":1,
				"storage_bytes":1073741824,"analytics_retention_days":30,"profiles_comparable":1,
				"free_calls_per_day":0,"hashtag_lists":3,"tracked_reports":0}}`},
			{"creator", 1000,
				`{"plan":{"id":"creator","name":"Creator"},"api_access":true,"free_calls_left_today":997,
				"limits":{"social_accounts":10,"posts_per_month":200,"seats":1,
				"storage_bytes":10737418240,"analytics_retention_days":90,"profiles_comparable":3,
				"free_calls_per_day":1000,"hashtag_lists":20,"tracked_reports":5}}`},
			{"agency", -1,
				`{"plan":{"id":"agency","name":"Agency"},"api_access":true,"free_calls_left_today":-1,
				"limits":{"social_accounts":-1,"posts_per_month":-1,"seats":50,
				"storage_bytes":1073741824000,"analytics_retention_days":730,"profiles_comparable":25,
				"free_calls_per_day":-1,"hashtag_lists":500,"tracked_reports":100}}`},
		} {
			for range 2 { // reading changes nothing
				data, err := w.askLimits(t, c, want.plan, want.freeCalls)
				if err != nil {
					t.Fatal(err)
				}
				if got, wanted := canonical(t, data), canonical(t, json.RawMessage(want.data)); got != wanted {
					t.Errorf("%s:\ngot  %s\nwant %s", want.plan, got, wanted)
				}
			}
		}
		if _, err := w.askLimits(t, c, "gold", 1000); err == nil {
			t.Error("an unknown plan returned limits")
		}
	})
}

func TestGetLimitsReturnsErrors(t *testing.T) {
	eachCallDay(t, func(t *testing.T, w callDay) {
		c := NewFreeCalls(w.db)
		_ = w.db.Close()
		if _, err := w.askLimits(t, c, "creator", 1000); err == nil {
			t.Error("no error")
		}
	})
}

// canonical returns a value as JSON with sorted members.
func canonical(t *testing.T, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var loose any
	if err := json.Unmarshal(raw, &loose); err != nil {
		t.Fatal(err)
	}
	out, err := json.Marshal(loose)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}
