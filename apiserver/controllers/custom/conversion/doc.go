// Package conversion converts custom resources between the versions of their definition by the
// webhook that the definition names (spec.conversion of apiextensions.k8s.io/v1).
//
// A Webhook sends a ConversionReview in v1 or v1beta1, whichever the definition names first, over
// HTTPS, and checks the answer as Kubernetes does: the uid (not in v1beta1), the number of objects,
// their kind, version and names, and that of the metadata only labels and annotations changed. Each
// call has a deadline, and each definition a bound on concurrent calls, so that a webhook that hangs
// delays requests for its own kind alone.
//
// A Webhook is safe for concurrent use. The package starts no goroutines but those of net/http.
package conversion
