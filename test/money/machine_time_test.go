package money

import (
	"slices"
	"time"

	"pgregory.net/rapid"

	"pressroom.example/pressroom/internal/domain/idempotency"
	"pressroom.example/pressroom/internal/teamtime"
)

// advanceClock advances the clock: by a random time, to about a team's midnight, or to about the expiry of a record.
func (m *machine) advanceClock(t *rapid.T) {
	now := m.clock.Now()
	edge := time.Duration(rapid.IntRange(-1, 1).Draw(t, "microseconds")) * time.Microsecond
	switch rapid.IntRange(0, 3).Draw(t, "how") {
	case 0:
		m.clock.Advance(time.Duration(rapid.Int64Range(0, 3*3600).Draw(t, "seconds")) * time.Second)
	case 1:
		_, midnight := teamtime.Day(now, m.anyTeam(t).zone)
		m.clock.Advance(max(0, midnight.Sub(now)+edge))
	case 2:
		if r := m.nextToExpire(now); r != nil {
			m.clock.Advance(max(0, r.at.Add(idempotency.Retention).Sub(now)+edge))
		}
	default:
		m.clock.Advance(time.Duration(rapid.Int64Range(1, 1_500_000).Draw(t, "microseconds")) * time.Microsecond)
	}
}

// repeatNearExpiry repeats a call just before, at, or just after the expiry of its key.
func (m *machine) repeatNearExpiry(t *rapid.T) {
	team := m.anyTeam(t)
	key := rapid.SampledFrom(team.keys).Draw(t, "by")
	var all []*record
	for _, o := range team.calls {
		for _, r := range []*record{key.records[o.order.claim()], key.writes[o.order.key]} {
			if r.isValid(m.clock.Now()) && !slices.Contains(all, r) {
				all = append(all, r)
			}
		}
	}
	if len(all) == 0 {
		t.Skip("no valid record")
	}
	r := rapid.SampledFrom(all).Draw(t, "record")
	edge := time.Duration(rapid.IntRange(-1, 1).Draw(t, "microseconds")) * time.Microsecond
	m.clock.Advance(r.at.Add(idempotency.Retention).Sub(m.clock.Now()) + edge)
	m.callAndCheck(t, team, key, r.order, fault{})
}

// nextToExpire returns the valid record that expires first.
func (m *machine) nextToExpire(now time.Time) *record {
	var out *record
	for _, team := range m.teams {
		for _, key := range team.keys {
			for _, r := range key.records {
				if r.isValid(now) && (out == nil || r.at.Before(out.at)) {
					out = r
				}
			}
		}
	}
	return out
}
