package main

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"quorate/bench/checkout"
)

// about says what was measured, where and when.
type about struct {
	Began         time.Time `json:"began"`
	Commit        string    `json:"commit"`
	Base          string    `json:"base,omitempty"` // the commit of the older build
	KubeAPIServer string    `json:"kube_apiserver"`
	Etcd          string    `json:"etcd"`
	Machine       string    `json:"machine"`
	Mode          string    `json:"mode"`
	Rounds        int       `json:"rounds"`
	Load          string    `json:"load"` // of the last minute, before the first round
	// Sync and RoundTrip bound what one write after the other can reach: how long a sync of a small
	// append takes, and a byte to a process on this machine and back. Medians, in milliseconds.
	Sync      float64 `json:"sync_ms"`
	RoundTrip float64 `json:"round_trip_ms"`
}

// describe runs before the first round.
func describe(ctx context.Context, b binaries, dir, mode string) (a about, err error) {
	a = about{Began: time.Now().UTC().Truncate(time.Second), Mode: mode, Machine: machine()}
	if a.Commit, err = checkout.WorkingCopy(ctx); err != nil {
		return a, err
	}
	if a.KubeAPIServer, err = output(ctx, b.APIServer, "--version"); err != nil {
		return a, err
	}
	version, err := output(ctx, b.Etcd, "--version")
	if err != nil {
		return a, err
	}
	a.Etcd, _, _ = strings.Cut(version, "\n")
	load, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return a, err
	}
	a.Load, _, _ = strings.Cut(string(load), " ")
	if a.Sync, err = measureSync(dir); err != nil {
		return a, fmt.Errorf("measure a sync: %w", err)
	}
	if a.RoundTrip, err = measureRoundTrip(); err != nil {
		return a, fmt.Errorf("measure a round trip: %w", err)
	}
	return a, nil
}

func output(ctx context.Context, name string, args ...string) (string, error) {
	out, err := exec.CommandContext(ctx, name, args...).Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(out)), nil
}

func machine() string {
	model := "unknown processor"
	if text, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		if _, rest, found := strings.Cut(string(text), "model name\t: "); found {
			model, _, _ = strings.Cut(rest, "\n")
		}
	}
	return fmt.Sprintf("%d cores (%s), %s/%s, %s", runtime.NumCPU(), model, runtime.GOOS, runtime.GOARCH, runtime.Version())
}

const (
	probes     = 200
	probeBytes = 1500 // about an entry with a ConfigMap of 1 KiB
)

// measureSync returns the median time of an append to a file with its sync.
func measureSync(dir string) (float64, error) {
	file, err := os.Create(filepath.Join(dir, "sync"))
	if err != nil {
		return 0, err
	}
	defer file.Close()
	content := bytes.Repeat([]byte("x"), probeBytes)
	return medianOf(func() error {
		if _, err := file.Write(content); err != nil {
			return err
		}
		return file.Sync()
	})
}

// measureRoundTrip returns the median time of a byte to an echo server on loopback and back.
func measureRoundTrip() (float64, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	done := make(chan struct{})
	go func() { // ends when the client closes the connection, or the listener is closed
		defer close(done)
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		b := make([]byte, 1)
		for {
			if _, err := conn.Read(b); err != nil {
				return
			}
			if _, err := conn.Write(b); err != nil {
				return
			}
		}
	}()
	defer func() { <-done }()
	defer listener.Close()
	conn, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	b := make([]byte, 1)
	return medianOf(func() error {
		if _, err := conn.Write(b); err != nil {
			return err
		}
		_, err := conn.Read(b)
		return err
	})
}

// medianOf returns the median time that f takes, in milliseconds.
func medianOf(f func() error) (float64, error) {
	took := make([]time.Duration, probes)
	for i := range took {
		began := time.Now()
		if err := f(); err != nil {
			return 0, err
		}
		took[i] = time.Since(began)
	}
	slices.Sort(took)
	return float64(took[probes/2].Microseconds()) / 1e3, nil
}
