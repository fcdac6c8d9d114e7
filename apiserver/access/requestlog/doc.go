// Package requestlog logs one line for each request that its policy selects, without bodies, tokens
// and queries.
//
// Clients cannot make the log arbitrarily large: it truncates each field that comes from the client
// (Cut), and logs requests that are refused with 4xx at a bounded rate for each code and user. Run,
// the package's only goroutine, reports how many lines were left out.
package requestlog
