// Package thirdparty runs software of others against a cluster. It has what the programs
// chaos/software and chaos/upstream share: starting the nodes, running a program with all of its
// processes, and writing a table about it.
package thirdparty
