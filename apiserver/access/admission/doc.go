// Package admission calls the admission webhooks of MutatingWebhookConfigurations and
// ValidatingWebhookConfigurations (admissionregistration.k8s.io/v1) about the writes of clients.
//
// A Dispatcher has the configurations of a state as an immutable Index, which package
// controllers/webhooks replaces when they change. Select returns the webhooks whose rules match a
// request, nil for most: without configurations it costs one load of a pointer. Calls.Mutate and
// Calls.Validate then call them as Kubernetes does: mutating webhooks one after the other, in the
// order of the names of their configurations, and again where another changed the object since;
// validating webhooks at the same time, when the object is complete. Selectors and matchConditions
// decide about each object.
//
// A webhook cannot make the server store what a client could not: its patch is decoded like a
// client's body, and the object that it returns has the name, namespace and uid that it had. Calls
// have deadlines; their number, for one webhook and for all, the size of an answer and the
// memory of all answers are bounded.
// A call that fails refuses the write, or is ignored (failurePolicy). Annotations and warnings have
// bounds, too.
//
// Everything but a Write is safe for concurrent use. The package starts no goroutines but those of
// Calls.Validate, which waits for them.
package admission
