// Package auth says who sends a request (bearer tokens) and whether they may (Authorizer).
//
// Verified tokens are kept in a bounded cache, so that a request costs one map lookup. It has no
// goroutines and is safe for concurrent use. Tokens never appear in errors or logs.
package auth
