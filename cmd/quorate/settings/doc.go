// Package settings turns the flags, the environment and the configuration file of `quorate serve` into one validated,
// immutable Settings value. A flag given wins over QUORATE_FLAG_NAME, which wins over the file, which wins over the default.
package settings
