package main

import (
	"fmt"
	"strings"
	"time"

	"quorate/bench/generator"
)

// share is the profile of a node.
type share struct {
	leader  bool
	perOp   float64 // processor time of the process for each operation of the cluster, in µs
	byStage map[string]time.Duration
	total   time.Duration
}

// of returns the microseconds of a stage.
func (s *share) of(stage string) float64 {
	return s.perOp * float64(s.byStage[stage]) / float64(s.total)
}

// table returns the budget in Markdown: stages in the order of stages.go, and their sums.
func table(m *generator.Measurement, shares []share) string {
	var text strings.Builder
	fmt.Fprintf(&text, "%s, clients: %d, spread over %d nodes: %.0f/s, p50 %.1f ms, %.0f µs of CPU time each\n\n",
		m.Name(), m.Conc, len(shares), m.Rate, m.Latency.P50, m.CPU)
	fmt.Fprint(&text, "| µs of CPU time per operation | leader | each follower | all |\n|---|---|---|---|\n")
	var sums [3]float64
	names := make([]string, 0, len(stages)+1)
	for _, s := range stages {
		names = append(names, s.name)
	}
	for _, name := range append(names, otherStage) {
		leader, follower, all := split(shares, name)
		fmt.Fprintf(&text, "| %s | %.0f | %.0f | %.0f |\n", name, leader, follower, all)
		sums[0], sums[1], sums[2] = sums[0]+leader, sums[1]+follower, sums[2]+all
	}
	fmt.Fprintf(&text, "| all | %.0f | %.0f | %.0f |\n", sums[0], sums[1], sums[2])
	return text.String()
}

// split returns the microseconds of a stage on the leader, on a follower on average, and on all.
func split(shares []share, stage string) (leader, follower, all float64) {
	for i := range shares {
		one := shares[i].of(stage)
		all += one
		if shares[i].leader {
			leader += one
		} else {
			follower += one / float64(len(shares)-1)
		}
	}
	return leader, follower, all
}
