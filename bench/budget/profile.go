package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"strings"
	"time"
)

// stagesOf returns how much processor time a profile has in each stage, and in all.
func stagesOf(ctx context.Context, file string) (map[string]time.Duration, time.Duration, error) {
	out, err := exec.CommandContext(ctx, "go", "tool", "pprof", "-traces", "-unit", "us", file).Output()
	if err != nil {
		return nil, 0, fmt.Errorf("read %s with go tool pprof: %w", file, err)
	}
	return readTraces(out)
}

// traceSeparator begins the line between two stacks of go tool pprof -traces.
const traceSeparator = "-----------+"

// readTraces reads stacks as go tool pprof prints them: a line of a stack has the function, the
// innermost first, and the first line begins with the time.
func readTraces(out []byte) (byStage map[string]time.Duration, total time.Duration, err error) {
	byStage = map[string]time.Duration{}
	var stack []string
	var took time.Duration
	end := func() {
		if stack != nil {
			byStage[stageOf(stack)] += took
			total += took
		}
		stack = nil
	}
	inside := false
	scanner := bufio.NewScanner(bytes.NewReader(out))
	for scanner.Scan() {
		line := scanner.Text()
		switch fields := strings.Fields(line); {
		case strings.HasPrefix(line, traceSeparator):
			end()
			inside = true
		case !inside || len(fields) == 0:
		case stack == nil && len(fields) > 1:
			if took, err = time.ParseDuration(fields[0]); err != nil {
				continue // a label of the sample
			}
			stack = []string{strings.Join(fields[1:], " ")}
		case stack != nil:
			stack = append(stack, strings.TrimSpace(line))
		}
	}
	end()
	if total == 0 {
		return nil, 0, fmt.Errorf("the profile has no samples")
	}
	return byStage, total, scanner.Err()
}
