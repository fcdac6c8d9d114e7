package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"quorate/bench/generator"
	"quorate/bench/servers"
)

const (
	rowsName  = "rows of three nodes"
	rowsNodes = 3
	// rowsTimeout bounds the measurement of all rows, with the start and the stop of the nodes.
	rowsTimeout = 5 * time.Minute
	rowsObjects = 1000
	// maxOperations bounds a row, which its time should end.
	maxOperations = 1_000_000
)

// rowLoads are the runs of the generator: five rows.
var rowLoads = [][]string{
	{"-scenario", "create,update,patch,get", "-c", "32"},
	{"-scenario", "create", "-c", "300"},
}

// rows is the suite of five kinds of work on three nodes.
type rows struct{ length time.Duration }

func (*rows) name() string { return rowsName }

// measure starts empty nodes and loads them. The generator is that of the working copy, for both
// builds.
func (r *rows) measure(ctx context.Context, b build) (all []observation, err error) {
	ctx, cancel := context.WithTimeout(ctx, rowsTimeout)
	defer cancel()
	dir := filepath.Join(b.dir, "nodes")
	nodes, err := servers.StartQuorate(ctx, filepath.Join(b.dir, "quorate"), dir, rowsNodes)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, nodes.Stop(), os.RemoveAll(dir)) }()
	for _, load := range rowLoads {
		args := append([]string{"-n", strconv.Itoa(maxOperations), "-objects", strconv.Itoa(rowsObjects), "-max-time", r.length.String()}, load...)
		_, measured, err := generator.Run(ctx, &nodes.Cluster, "three", args...)
		if err != nil {
			return nil, err
		}
		for i := range measured {
			if m := &measured[i]; len(m.Errors) > 0 {
				return nil, fmt.Errorf("%s: errors: %v %.200s", m.Name(), m.Errors, m.Sample)
			}
			all = append(all, rowOf(&measured[i])...)
		}
	}
	return all, nil
}

// rowOf returns the figures of a measurement.
func rowOf(m *generator.Measurement) []observation {
	name := fmt.Sprintf("%s, clients: %d", m.Name(), m.Conc)
	return []observation{{key{name, "op/s"}, m.Rate}, {key{name, "cpu-µs/op"}, m.CPU}}
}
