//go:build !unix

package profile

import "os"

// tryLock does nothing on this system. The service accepts a refresh token twice within 30 seconds, so processes that
// use the same token concurrently rarely end a sign-in.
func tryLock(*os.File) (bool, error) { return true, nil }
