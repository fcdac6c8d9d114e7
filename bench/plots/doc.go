// Command plots draws how the costs of a node grow: with the number of objects, watches, replicas
// and with distance. It reads bench/results, the tables as the experiments printed them, and writes
// SVG files to docs/images.
//
//	make plots           # draw them
//	go run . -check      # in this folder: fail unless the files are those of the tables
//
// It is a module of its own, so that the server's does not depend on a library for plots.
package main
