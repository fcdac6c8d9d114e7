// Command budget shows where the processor time of a write goes, on the leader and on the followers.
// It runs in the root of the repository, after `make build loadgen`:
//
//	go run ./bench/budget                  # creates, 32 clients spread over three nodes
//	go run ./bench/budget -scenario patch -c 300
//
// It starts three nodes, loads them, and takes a CPU profile of each meanwhile. Each sample of a
// profile belongs to the first stage of stages.go that one of its functions belongs to. The share of
// a stage in the profile, times the processor time that the process used for each operation, is the
// stage's row, in microseconds. Followers are shown by their average.
package main
