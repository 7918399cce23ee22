//go:build !unix

package profile

import "os"

// tryLock does nothing on this system. The service accepts the same refresh token again within 30 seconds, so processes
// that use a token concurrently rarely end the sign-in.
func tryLock(*os.File) (bool, error) { return true, nil }
