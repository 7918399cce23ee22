package ratelimit

// NewRatesWithin is NewRates with another timeout, because a busy machine may halt Redis for longer than the default.
var NewRatesWithin = newRates
