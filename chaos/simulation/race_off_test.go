//go:build !race

package simulation_test

// How many seeds the tests run. They are counts and not times, so that every run sees the same.
const (
	defaultSeeds  = 2000
	shortSeeds    = 100
	repeatedSeeds = 50
	mutatedSeeds  = 200
)
