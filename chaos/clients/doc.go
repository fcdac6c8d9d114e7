// Package clients tests a running cluster with the tools that its users have: stock clients,
// unchanged. It is a module of its own so that what it needs stays out of the product's go.mod.
package clients
