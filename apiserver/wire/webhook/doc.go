// Package webhook calls webhooks over HTTPS, as conversion webhooks and admission webhooks are
// called: with a bound on concurrent calls and one on the size of an answer, without following
// redirects, and with errors that say what to do about a name that does not resolve.
//
// A Client is safe for concurrent use. The package starts no goroutines but those of net/http.
package webhook
