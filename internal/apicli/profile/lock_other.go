//go:build !unix

package profile

import "os"

// tryLock does nothing on this system. The service tolerates two exchanges of a refresh token within 30 seconds, so that
// processes that run at the same time rarely end a sign-in.
func tryLock(*os.File) (bool, error) { return true, nil }
