//go:build race

package simulation_test

// The race detector makes runs several times slower, and finds what it finds in any of them.
const (
	defaultSeeds  = 100
	shortSeeds    = 30
	repeatedSeeds = 10
	mutatedSeeds  = 200
)
