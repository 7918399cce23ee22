package ratelimit

// NewRatesWithin is NewRates with a patience of the test's own: a busy machine may halt Redis, or us, for longer
// than a call would wait.
var NewRatesWithin = newRates
