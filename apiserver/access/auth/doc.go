// Package auth authenticates the senders of requests by bearer tokens and client certificates, and
// defines the interface through which requests are authorized (Authorizer).
//
// A bounded cache of verified tokens avoids the verification of a signature for each request. The
// package is safe for concurrent use. Tokens never appear in errors or logs.
package auth
