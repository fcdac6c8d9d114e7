// Command operator is an operator laid out as kubebuilder lays them out: API types with markers,
// from which controller-gen makes the folder config; a reconciler; admission and conversion
// webhooks; leader election; and roles that allow it what it does and no more. chaos/software runs
// it on a cluster.
//
// A Site becomes a ConfigMap with its page and a Deployment that serves it. Sites have two
// versions: v1, which is stored, and v1alpha1.
//
//	controller-gen object paths=./... && controller-gen crd rbac:roleName=site-operator webhook paths=./...
package main
