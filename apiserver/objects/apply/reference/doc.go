// Package reference compares package apply with the library that Kubernetes uses for managed
// fields, on stock types: k8s.io/apimachinery/pkg/util/managedfields with the types of client-go.
// It contains only tests. It is a separate module so that the server does not depend on these
// libraries.
//
// Random sequences of applies and updates by several managers give the same objects, the same
// managed fields and the same conflicts, except for these intentional differences:
//
//   - An object gets managed fields with its first apply; Kubernetes begins with its creation. The
//     sequences begin with an object that has none, as objects of old versions of Kubernetes have.
//   - A configuration that does not fit the kind is a client's fault (400). Kubernetes reports some
//     of these faults as its own (500).
//   - If the entry of merged updates is as recent as the oldest update of another manager,
//     Kubernetes may drop it. Here it never gets lost.
package reference
