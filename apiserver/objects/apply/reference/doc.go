// Package reference compares package apply with the library that Kubernetes uses for managed
// fields, on stock types: k8s.io/apimachinery/pkg/util/managedfields with the types of client-go.
// It contains only tests. It is a separate module so that the server does not depend on these
// libraries.
//
// Random sequences of applies and updates by several managers give the same objects, the same
// managed fields and the same conflicts, except for these intentional differences:
//
//   - An object gets managed fields with its first apply; in Kubernetes it gets them when it is
//     created. The sequences therefore begin with an object without managed fields, such as old
//     versions of Kubernetes created.
//   - A configuration that does not fit the kind is the client's error (400). Kubernetes reports
//     some of these errors as internal ones (500).
//   - If the entry of merged updates is as recent as the oldest update of another manager,
//     Kubernetes may drop it. Package apply never drops it.
package reference
