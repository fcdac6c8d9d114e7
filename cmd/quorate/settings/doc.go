// Package settings turns the flags, the environment and the configuration file of `quorate serve`
// into one validated, immutable Settings value. A flag wins over QUORATE_FLAG_NAME, which wins over
// the file, which wins over the default. The flags are declared in flags.go.
package settings
