package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

const loadBinary = "bin/loadgen"

// measurement is one JSON line of the load generator, with the fields that are compared.
type measurement struct {
	Label    string         `json:"label"`
	Scenario string         `json:"scenario"`
	Variant  string         `json:"variant"`
	Kind     string         `json:"kind"`
	Conc     int            `json:"conc"`
	Seconds  float64        `json:"seconds"`
	Ops      int            `json:"ops"`
	Rate     float64        `json:"ops_per_s"`
	CPU      float64        `json:"server_cpu_us_per_op"`
	Latency  latency        `json:"lat_ms"`
	Errors   map[string]int `json:"errors"`
	Sample   string         `json:"error_sample"`
	Procs    []process      `json:"procs"`
	Extra    map[string]any `json:"extra"`
}

type latency struct {
	P50  float64 `json:"p50"`
	P90  float64 `json:"p90"`
	P99  float64 `json:"p99"`
	P999 float64 `json:"p99_9"`
	Max  float64 `json:"max"`
}

// values returns the numbers that may have targets.
func (m *measurement) values() values {
	v := values{Rate: m.Rate, CPU: m.CPU, P50: m.Latency.P50, P99: m.Latency.P99, Seconds: m.Seconds}
	for _, p := range m.Procs {
		v.RSS += p.RSSMiB
	}
	return v
}

type process struct {
	Name   string  `json:"name"`
	RSSMiB float64 `json:"rss_mib"`
}

// load runs the generator against the nodes and keeps its measurements. The generator prints its
// own table to the terminal.
func (b *bench) load(ctx context.Context, nodes *cluster, label string, args ...string) error {
	all := []string{
		"-label", label, "-ca", filepath.Join(nodes.list[0].dir, "ca.crt"), "-token-file", filepath.Join(nodes.list[0].dir, "admin.token"),
		"-n", strconv.Itoa(b.scale.ops), "-objects", strconv.Itoa(b.scale.objects),
		"-max-time", b.scale.maxTime.String(), "-t", b.scale.fanout.String(),
	}
	for _, n := range nodes.list {
		all = append(all, "-server", "https://"+n.api, "-pid", n.name+"="+strconv.Itoa(n.pid()))
	}
	if b.profile != "" {
		done := b.record(ctx, nodes.list[0], label+"-"+strings.Join(args, ""))
		defer done()
	}
	cmd := exec.CommandContext(ctx, loadBinary, append(all, args...)...)
	cmd.Stderr = os.Stderr
	lines, err := cmd.Output()
	b.raw = append(b.raw, lines...)
	if err != nil {
		return fmt.Errorf("%s %s: %w", loadBinary, strings.Join(args, " "), err)
	}
	measured, err := readMeasurements(lines)
	b.measured = append(b.measured, measured...)
	return err
}

// readMeasurements reads the output of the load generator.
func readMeasurements(lines []byte) (all []measurement, err error) {
	scanner := bufio.NewScanner(bytes.NewReader(lines))
	scanner.Buffer(nil, 16<<20)
	for scanner.Scan() {
		var m measurement
		if err := json.Unmarshal(scanner.Bytes(), &m); err != nil {
			return all, fmt.Errorf("read what loadgen measured: %w", err)
		}
		all = append(all, m.perObject())
	}
	return all, scanner.Err()
}

// readPeers reads measurements of a peer, from files separated by commas; none if files is "".
func readPeers(files string) (all []measurement, err error) {
	if files == "" {
		return nil, nil
	}
	for file := range strings.SplitSeq(files, ",") {
		lines, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("-peers: %w", err)
		}
		measured, err := readMeasurements(lines)
		if err != nil {
			return nil, fmt.Errorf("-peers: %s: %w", file, err)
		}
		all = append(all, measured...)
	}
	return all, nil
}

// perObject converts the measurement of an operation on many objects to one for each object.
func (m measurement) perObject() measurement {
	if rate, ok := m.Extra["objects_per_s"].(float64); ok && rate > 0 && m.Scenario == "delete-collection" {
		m.Rate, m.CPU = rate, m.CPU*m.Rate/rate
	}
	return m
}
