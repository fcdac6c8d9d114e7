// Command size measures how the costs of one node grow with the number of its objects.
//
//	make build
//	go run ./bench/size                                  # 50,000, 200,000 and 1,000,000 small objects
//	go run ./bench/size -objects 50000,5000000           # as many as there is memory for
//	go run ./bench/size -value 4096                      # of larger objects
//	go run ./bench/size -shapes                          # namespaces, kinds, one namespace, large objects
//	go run ./bench/size -shapes -part 0.1                # a tenth of each
//
// The first form creates ConfigMaps with a value of -value bytes on one node. At each number of
// objects it measures the processor time of a create (the last ones before the number) and of a
// quorum get, beside the snapshot that these creates may have begun and again when none is being
// written, the resident memory of the node beside the JSON of the objects, the disk, the time from
// SIGKILL to ready, and what a snapshot costs: writers that write at a fixed rate, without and with a
// snapshot being written.
//
// Shapes are states that are large in another way: many namespaces, many kinds, one namespace that
// has all objects, objects of the largest size. Each is made on a node of its own at a sixteenth, a
// fourth and all of its number. Creating, listing, paging, starting and deleting cost the same for
// each object at each number if they are linear.
//
// The client and the node share the machine: processor times are those of the node alone.
package main
