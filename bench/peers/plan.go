package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"quorate/bench/generator"
	"quorate/bench/servers"
)

// system is one of the two that are compared.
type system int

// The systems, which index arrays of length systems.
const (
	quorate system = iota
	peer
	systems
)

// String is the system's name in messages and in the names of files.
func (s system) String() string { return [...]string{"quorate", "peer"}[s] }

// scale is the amount of work of a run.
type scale struct {
	rounds       int
	objects      int           // those that are read and replaced
	length       time.Duration // of one measurement
	settle, idle time.Duration
}

var scales = map[string]scale{
	"full":  {rounds: 3, objects: 2000, length: 3 * time.Second, settle: 12 * time.Second, idle: 10 * time.Second},
	"quick": {rounds: 1, objects: 500, length: 2 * time.Second, settle: 5 * time.Second, idle: 10 * time.Second},
}

// maxOperations bounds one measurement, which its time should end.
const maxOperations = 1_000_000

const nodeBinary = "bin/quorate"

// nodeCounts are the sizes of clusters, with their labels in measurements and in targets.yaml.
var nodeCounts = []struct {
	label string
	nodes int
}{{"one", 1}, {"three", 3}}

// loads are the runs of the generator, after the servers were idle. Reads and replacements come
// before the many creates, so that all find the same objects.
var loads = [][]string{
	{"-scenario", "create,update,patch,get,get-rv0", "-c", "32"},
	{"-scenario", "create", "-c", "300"},
	{"-scenario", "create", "-c", "1"},
}

// measurer runs the rounds and keeps what they measured.
type measurer struct {
	scale
	dir      string
	programs binaries
	done     int // rounds
	measured [systems][]generator.Measurement
	raw      [systems][]byte // JSON lines
}

// rounds runs all rounds, the systems in turn.
func (m *measurer) rounds(ctx context.Context) error {
	order := []system{quorate, peer}
	for m.done < m.scale.rounds {
		for _, count := range nodeCounts {
			for _, s := range order {
				fmt.Fprintf(os.Stderr, "peers: round %d of %d: %s, nodes: %d\n", m.done+1, m.scale.rounds, s, count.nodes)
				if err := m.one(ctx, s, count.label, count.nodes); err != nil {
					return fmt.Errorf("%s, nodes: %d: %w", s, count.nodes, err)
				}
			}
		}
		m.done++
		slices.Reverse(order)
	}
	return nil
}

// one measures a system alone on the machine.
func (m *measurer) one(ctx context.Context, s system, label string, nodes int) (err error) {
	dir := filepath.Join(m.dir, strconv.Itoa(m.done+1)+"-"+s.String()+"-"+label)
	c, err := m.start(ctx, s, dir, nodes)
	if err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, c.Stop())
		if err == nil {
			err = os.RemoveAll(dir) // space for the next; what failed stays until the end
		}
	}()
	idle, err := generator.Idle(ctx, c, idleLabel(label), m.settle, m.idle)
	if err != nil {
		return err
	}
	line, err := json.Marshal(idle)
	if err != nil {
		return err
	}
	m.raw[s] = append(append(m.raw[s], line...), '\n')
	m.measured[s] = append(m.measured[s], idle)
	for _, load := range loads {
		args := append([]string{"-n", strconv.Itoa(maxOperations), "-objects", strconv.Itoa(m.objects), "-max-time", m.length.String()}, load...)
		lines, measured, err := generator.Run(ctx, c, label, args...)
		m.raw[s] = append(m.raw[s], lines...)
		m.measured[s] = append(m.measured[s], measured...)
		if err != nil {
			return err
		}
	}
	return nil
}

func (m *measurer) start(ctx context.Context, s system, dir string, nodes int) (*servers.Cluster, error) {
	if s == peer {
		return startPeer(ctx, m.programs, dir, nodes)
	}
	c, err := servers.StartQuorate(ctx, nodeBinary, dir, nodes)
	if err != nil {
		return nil, err
	}
	return &c.Cluster, nil
}

// idleLabel is the label of idle nodes; that of three is the label of targets.yaml.
func idleLabel(label string) string {
	if label == "three" {
		return "idle"
	}
	return "idle-" + label
}
