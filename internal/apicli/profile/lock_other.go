//go:build !unix

package profile

import "os"

// tryLock does nothing on this system. The service accepts a refresh token twice within 30 seconds, so
// concurrent processes rarely end a sign-in.
func tryLock(*os.File) (bool, error) { return true, nil }
