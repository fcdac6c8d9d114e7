// Package requestlog logs one line for each request that its policy selects, without bodies, tokens
// and queries.
//
// Clients cannot make a line arbitrarily long, because the package truncates the texts that come
// from them (Cut). They cannot flood the log with refused requests either: lines about 4xx are
// logged at a bounded rate for each code and user, and the users beyond maxRefused such pairs share
// one rate for each code. Lines about other requests are not limited; package logsink bounds the
// files. Run, the package's only goroutine, reports how many lines were left out.
package requestlog
