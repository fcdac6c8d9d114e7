package main

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"time"

	"quorate/bench/solo"
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
		a.used[i], err = solo.ProcessorTime(pid)
		a.err = errors.Join(a.err, err)
	}
	return a
}

// print prints the part of the machine's processor time that each process used.
func (a *account) print() error {
	all := time.Since(a.begun) * time.Duration(runtime.NumCPU())
	var part [3]float64
	for i, pid := range a.pids {
		now, err := solo.ProcessorTime(pid)
		a.err = errors.Join(a.err, err)
		part[i] = 100 * float64(now-a.used[i]) / float64(all)
	}
	fmt.Printf("of %d processors: node %.0f %%, bob %.0f %%, alice %.0f %%\n", runtime.NumCPU(), part[0], part[1], part[2])
	return a.err
}
