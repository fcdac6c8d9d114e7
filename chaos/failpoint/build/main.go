// Command build compiles quorate with failpoints, and a wall clock that can be moved, into a
// folder: for quorate-chaos --failpoints.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"

	"quorate/chaos/failpoint"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "build:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("say into which folder")
	}
	if err := os.MkdirAll(args[0], 0o755); err != nil {
		return err
	}
	binary, err := failpoint.Build(ctx, args[0], failpoint.Options{Clock: true})
	if err == nil {
		fmt.Println(binary)
	}
	return err
}
