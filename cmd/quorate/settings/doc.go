// Package settings turns the flags, the environment and the configuration file of `quorate serve`
// into one validated, immutable Settings value. A flag overrides its variable QUORATE_FLAG_NAME,
// which overrides the file, which overrides the default. The flags are declared in flags.go.
package settings
