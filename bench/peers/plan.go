package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"quorate/bench/generator"
)

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
	dir     string
	systems []*system
	done    int // rounds
}

// rounds runs all rounds, the systems in turn. The first of a round is the last of the next.
func (m *measurer) rounds(ctx context.Context) error {
	for m.done < m.scale.rounds {
		for _, count := range nodeCounts {
			for turn := range m.systems {
				s := m.systems[(m.done+turn)%len(m.systems)]
				fmt.Fprintf(os.Stderr, "peers: round %d of %d: %s, nodes: %d\n", m.done+1, m.scale.rounds, s.name, count.nodes)
				if err := m.one(ctx, s, count.label, count.nodes); err != nil {
					return fmt.Errorf("%s, nodes: %d: %w", s.name, count.nodes, err)
				}
			}
		}
		m.done++
	}
	return nil
}

// one measures a system alone on the machine.
func (m *measurer) one(ctx context.Context, s *system, label string, nodes int) (err error) {
	dir := filepath.Join(m.dir, strconv.Itoa(m.done+1)+"-"+s.name+"-"+label)
	c, err := s.start(ctx, dir, nodes)
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
	s.raw = append(append(s.raw, line...), '\n')
	s.measured = append(s.measured, idle)
	for _, load := range loads {
		args := append([]string{"-n", strconv.Itoa(maxOperations), "-objects", strconv.Itoa(m.objects), "-max-time", m.length.String()}, load...)
		lines, measured, err := generator.Run(ctx, c, label, args...)
		s.raw = append(s.raw, lines...)
		s.measured = append(s.measured, measured...)
		if err != nil {
			return err
		}
	}
	return nil
}

// idleLabel is the label of idle nodes; that of three is the label of targets.yaml.
func idleLabel(label string) string {
	if label == "three" {
		return "idle"
	}
	return "idle-" + label
}
