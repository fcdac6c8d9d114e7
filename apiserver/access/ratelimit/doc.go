// Package ratelimit bounds how often the clients of a node do something, by a key such as a user or an
// address: so many times a second, and more in a burst after a time without.
//
// A Meter keeps one number for each key that was active lately. It drops keys whose burst is whole
// again as new ones come, and any key beyond a bound, so its memory is bounded whatever keys
// clients make up. The package has no goroutines and no clock.
package ratelimit
