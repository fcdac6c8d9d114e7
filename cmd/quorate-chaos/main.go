// Command quorate-chaos hurts a Quorate cluster while clients use it, and says whether every promise held.
//
// It starts its own nodes as local processes, or is given running ones with the commands that kill and start them.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"quorate/chaos"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	held, err := run(ctx, os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "quorate-chaos:", err)
	}
	if err != nil || !held {
		os.Exit(1)
	}
}

// run reports whether every promise held.
func run(ctx context.Context, args []string) (held bool, err error) {
	options, err := parse(args)
	if err != nil {
		return false, err
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	fleet, err := options.fleet(ctx, log)
	if err != nil {
		return false, err
	}
	defer func() { fleet.close(held) }()
	report, err := chaos.Run(ctx, options.config(fleet, log))
	if err != nil {
		return false, err
	}
	if options.json {
		return report.OK(), json.NewEncoder(os.Stdout).Encode(report)
	}
	return report.OK(), report.Write(os.Stdout)
}
