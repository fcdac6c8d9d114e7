package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"time"
)

// account measures the processor time of the three processes in a phase.
type account struct {
	pids  [3]int // node, bob, alice
	begun time.Time
	used  [3]time.Duration
	err   error
}

func startAccount(node, bob int) *account {
	a := &account{pids: [3]int{node, bob, os.Getpid()}, begun: time.Now()}
	for i, pid := range a.pids {
		var err error
		a.used[i], err = processorTime(pid)
		a.err = errors.Join(a.err, err)
	}
	return a
}

// print prints the part of the machine's processor time that each process used.
func (a *account) print() error {
	all := time.Since(a.begun) * time.Duration(runtime.NumCPU())
	var part [3]float64
	for i, pid := range a.pids {
		now, err := processorTime(pid)
		a.err = errors.Join(a.err, err)
		part[i] = 100 * float64(now-a.used[i]) / float64(all)
	}
	fmt.Printf("of %d processors: node %.0f %%, bob %.0f %%, alice %.0f %%\n", runtime.NumCPU(), part[0], part[1], part[2])
	return a.err
}

// clockTick is the unit of the times in /proc, which is the same on all of Linux's architectures.
const clockTick = 10 * time.Millisecond

// processorTime returns the processor time that a process has used.
func processorTime(pid int) (time.Duration, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:]) // from the third field on
	var ticks int64
	for _, field := range fields[11:13] { // utime and stime
		n, err := strconv.ParseInt(string(field), 10, 64)
		if err != nil {
			return 0, fmt.Errorf("/proc/%d/stat: %w", pid, err)
		}
		ticks += n
	}
	return time.Duration(ticks) * clockTick, nil
}
