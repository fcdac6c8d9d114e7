// Package clients tests a running cluster with unmodified stock clients. It is a separate module,
// so that its dependencies stay out of the product's go.mod.
package clients
