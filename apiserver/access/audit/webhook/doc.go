// Package webhook posts audit events to a server, as audit.k8s.io/v1 EventLists over HTTPS. Bounds
// on what waits, and batches, are the caller's: it calls Deliver from one goroutine.
package webhook
