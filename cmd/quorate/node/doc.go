// Package node wires the rooms into one running node and ends it in order. It holds no logic of its own beside that: flags come
// from package settings, files from package datadir, everything else from the rooms.
//
// Run owns every goroutine: each room's Run, and one that waits for readiness. It returns after all of them have.
package node
