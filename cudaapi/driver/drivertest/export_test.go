package drivertest

import "time"

// Hurry makes cases give up early: drivers that are broken on purpose make many
// wait in vain.
func Hurry() { longest = 2 * time.Second }
