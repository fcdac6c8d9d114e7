// Package requestlog logs one line for each request that its policy selects, without bodies, tokens
// and queries.
//
// Nobody who sends requests decides how much is logged: each field that comes from the client is
// cut (Cut), and requests that are refused with 4xx are logged at a bounded rate for each code and
// user. Run, the package's only goroutine, says how many lines were left out.
package requestlog
