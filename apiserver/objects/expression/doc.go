// Package expression compiles and evaluates CEL expressions with the libraries and the cost limits
// of Kubernetes.
//
// Environment is what all expressions share: the rules of schemas (package structural) and the
// matchConditions of admission webhooks (Conditions). Programs keeps compiled expressions within
// one bound on their memory.
//
// Everything is safe for concurrent use. The package starts no goroutines.
package expression
