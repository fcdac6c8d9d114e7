package generator

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"

	"quorate/bench/servers"
)

const binary = "bin/loadgen"

// Run runs the generator with args against a cluster and returns the lines that it wrote, also
// those of a run that failed, and what they say. The generator prints its own table to standard
// error.
func Run(ctx context.Context, c *servers.Cluster, label string, args ...string) (lines []byte, measured []Measurement, err error) {
	all := []string{"-label", label, "-ca", c.CAFile, "-token-file", c.TokenFile}
	for _, url := range c.Endpoints {
		all = append(all, "-server", url)
	}
	for _, p := range c.Processes {
		all = append(all, "-pid", p.Name+"="+strconv.Itoa(p.PID()))
	}
	cmd := exec.CommandContext(ctx, binary, append(all, args...)...)
	cmd.Stderr = os.Stderr
	lines, err = cmd.Output()
	if err != nil {
		return lines, nil, fmt.Errorf("%s %s: %w", binary, strings.Join(args, " "), err)
	}
	measured, err = Read(lines)
	return lines, measured, err
}

// Read reads the output of the generator.
func Read(lines []byte) (all []Measurement, err error) {
	scanner := bufio.NewScanner(bytes.NewReader(lines))
	scanner.Buffer(nil, 16<<20)
	for scanner.Scan() {
		var m Measurement
		if err := json.Unmarshal(scanner.Bytes(), &m); err != nil {
			return all, fmt.Errorf("read what loadgen measured: %w", err)
		}
		all = append(all, m.perObject())
	}
	return all, scanner.Err()
}
