package clients_test

import (
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"sync"
)

// job is a command in the background.
type job struct {
	cancel context.CancelFunc
	ended  chan struct{}
	err    error // how it ended, once it has

	mu    sync.Mutex // guards text and grown
	text  []byte
	grown chan struct{} // closed at the next write
}

// startJob starts a command that lives until it ends or cancel is called.
func startJob(dir string, env []string, command string, args ...string) (*job, error) {
	ctx, cancel := context.WithCancel(context.Background())
	j := &job{cancel: cancel, ended: make(chan struct{}), grown: make(chan struct{})}
	cmd := exec.CommandContext(ctx, command, args...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = dir, env, j, j
	if err := cmd.Start(); err != nil {
		cancel()
		return nil, err
	}
	go func() { // ends with the command
		j.err = cmd.Wait()
		close(j.ended)
	}()
	return j, nil
}

// Write takes what the command prints.
func (j *job) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.text = append(j.text, p...)
	close(j.grown)
	j.grown = make(chan struct{})
	return len(p), nil
}

// output returns what was printed so far, and a channel that is closed when there is more.
func (j *job) output() (string, <-chan struct{}) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return string(j.text), j.grown
}

// shows waits until what was printed matches, and returns the match and its groups.
func (j *job) shows(pattern *regexp.Regexp) ([]string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), waitTimeout)
	defer cancel()
	ended := j.ended
	for {
		text, grown := j.output()
		if found := pattern.FindStringSubmatch(text); found != nil {
			return found, nil
		}
		if ended == nil {
			return nil, fmt.Errorf("ended (%v) with no match for %q in:\n%s", j.err, pattern, text)
		}
		select {
		case <-grown:
		case <-ended:
			ended = nil // look once more: all is written now
		case <-ctx.Done():
			return nil, fmt.Errorf("no match for %q in:\n%s", pattern, text)
		}
	}
}

// wait returns what was printed when the command has ended.
func (j *job) wait() (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), waitTimeout)
	defer cancel()
	select {
	case <-j.ended:
		text, _ := j.output()
		return text, j.err
	case <-ctx.Done():
		j.cancel()
		<-j.ended
		text, _ := j.output()
		return text, ctx.Err()
	}
}
