// Package client is a client for pressroom's API. It has a method for each operation, with typed inputs and outputs.
//
//	c, err := client.New("https://press.example.com", os.Getenv("PRESSROOM_KEY"))
//	post, err := c.CreatePost(ctx, client.CreatePostInput{Caption: "Open from eight.", AccountIDs: []int64{1}})
//
// # Retries
//
// A call is retried if there is no response, or if the error is temporary. Temporary errors are the statuses 429, 500,
// 502, 503 and 504, and the error that an earlier request with the same Idempotency-Key is still in progress. The error
// [CodeProviderUnavailable] (502) is not retried. It means that a data provider is unreachable or not configured, and
// that nothing was done.
//
// The pauses between attempts increase, or have the length given by Retry-After. A retry never performs a write twice,
// because all attempts of a call send the same Idempotency-Key. To repeat a failed call later or in another process,
// set its idempotency key with [IdempotencyKey] and use the same arguments. The service remembers idempotency keys for
// 24 hours. [Error] and [UnansweredError] contain the idempotency key of the call.
//
// If a pause would last beyond the deadline of the context, the call returns the error immediately.
//
// # Errors
//
// If the service returns an error, the call returns an [*Error]. It contains the error code, the invalid argument, the
// request ID and the time to wait. If there is no response, the call returns an [*UnansweredError], and a write may
// have taken effect. If a job failed completely or partially, the error is a [*JobFailedError].
//
// # Times and numbers
//
// IDs have the type int64. Times in responses have the type [Moment], with microseconds. [FormatTime] formats a
// time.Time as an argument.
//
// Optional arguments are pointers if their zero value has a meaning. For example, new(int64) as FolderID selects media
// items that are not in a folder. A list that is empty but not nil is sent, and replaces the current list.
package client
