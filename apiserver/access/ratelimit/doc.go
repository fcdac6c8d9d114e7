// Package ratelimit bounds how often the clients of a node do something, by a key such as a user or
// an address: a rate per second, and a burst after a period of inactivity.
//
// A Meter stores one number for each recently active key. To make room for a new key, it drops keys
// whose full burst is available again and, beyond a fixed number of keys, arbitrary others, so that
// its memory is bounded even if clients invent keys. The package starts no goroutines, and callers
// pass the time.
package ratelimit
