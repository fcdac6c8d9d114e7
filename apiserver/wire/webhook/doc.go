// Package webhook calls webhooks over HTTPS, as conversion webhooks and admission webhooks are
// called: with bounds on concurrent calls, on the size of an answer and on the memory of all
// answers, without following redirects, and with errors that say what to do about a name that does
// not resolve.
//
// A Client and Answers are safe for concurrent use. The package starts no goroutines but those of
// net/http.
package webhook
