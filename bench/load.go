package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"

	"quorate/bench/generator"
	"quorate/bench/servers"
)

// load runs the generator against the nodes and keeps its measurements.
func (b *bench) load(ctx context.Context, nodes *servers.Cluster, label string, args ...string) error {
	if b.profile != "" {
		done := b.record(ctx, nodes, 0, label+"-"+strings.Join(args, ""), profileDelay)
		defer done()
	}
	bounds := []string{
		"-n", strconv.Itoa(b.scale.ops), "-objects", strconv.Itoa(b.scale.objects),
		"-max-time", b.scale.maxTime.String(), "-t", b.scale.fanout.String(),
	}
	lines, measured, err := generator.Run(ctx, nodes, label, append(bounds, args...)...)
	b.raw = append(b.raw, lines...)
	b.shown.Add(1)
	b.measured = append(b.measured, measured...)
	return err
}

// readPeers reads measurements of a peer, from files separated by commas; none if files is "".
func readPeers(files string) (all []generator.Measurement, err error) {
	if files == "" {
		return nil, nil
	}
	for file := range strings.SplitSeq(files, ",") {
		lines, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("-peers: %w", err)
		}
		measured, err := generator.Read(lines)
		if err != nil {
			return nil, fmt.Errorf("-peers: %s: %w", file, err)
		}
		all = append(all, measured...)
	}
	return all, nil
}
