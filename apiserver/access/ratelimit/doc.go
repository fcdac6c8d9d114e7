// Package ratelimit bounds how often the clients of a node do something, by a key such as a user or
// an address: a rate per second, and a burst after a period of inactivity.
//
// A Meter keeps one number for each recently active key. When new keys arrive, it drops keys whose
// burst is whole again, and any key beyond a bound, so its memory is bounded even if clients invent
// keys. The package has no goroutines and no clock.
package ratelimit
