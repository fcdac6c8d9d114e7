// Command quorate-chaos injects faults into a Quorate cluster while clients use it, and reports
// whether every promise held.
//
// It starts its own nodes as local processes, or uses running ones: the containers of the compose
// file, or nodes given by their addresses and by the commands that act on them.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"text/tabwriter"

	"quorate/chaos"
	"quorate/chaos/nemesis"
	"quorate/progress"
)

// The exit codes, besides 0: every promise held.
const (
	exitBroken = 1 // a promise did not hold, or not all could be verified
	exitFailed = 2 // the run could not begin or finish, and found no fault until then
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	outcome, err := run(ctx, stop, os.Args[1:])
	switch {
	case errors.Is(err, flag.ErrHelp):
		return
	case err != nil:
		fmt.Fprintln(os.Stderr, "quorate-chaos:", err)
	}
	switch {
	case outcome == chaos.Broken, err == nil && outcome == chaos.Undecided:
		os.Exit(exitBroken)
	case err != nil, outcome != chaos.Held:
		os.Exit(exitFailed)
	}
}

// run returns the outcome of the run, NotInjected if there was none. When ctx ends the run, it
// calls uncaught, so that a second signal ends the process.
func run(ctx context.Context, uncaught func(), args []string) (outcome chaos.Outcome, err error) {
	options, err := parse(args, os.Stdout)
	if err != nil {
		return chaos.NotInjected, err
	}
	if options.list {
		return chaos.Held, listFaults()
	}
	shown := progress.New(os.Stderr, "chaos", 0, progress.Count("phases"))
	log := slog.New(slog.NewTextHandler(shown.Beside(os.Stderr), &slog.HandlerOptions{Level: options.level()}))
	defer context.AfterFunc(ctx, func() {
		uncaught()
		log.Warn("interrupted: healing all faults now; a second signal exits immediately")
	})()
	fleet, err := options.fleet(ctx, log)
	if err != nil {
		return chaos.NotInjected, err
	}
	defer func() { err = errors.Join(err, fleet.close(outcome == chaos.Held && err == nil)) }()
	config, err := options.config(fleet, log)
	if err != nil {
		return chaos.NotInjected, err
	}
	page, err := options.newPage(args)
	if err != nil {
		return chaos.NotInjected, err
	}
	if page != nil {
		config.VisualizationDir = page.drawings
		judged := config.Judged
		config.Judged = func(p *chaos.PhaseReport) { judged(p); page.judged(p) }
	}
	log.Info("run", "seed", options.seed, "phases", len(config.Phases))
	showPhases(shown, &config)
	report, err := chaos.Run(ctx, config)
	shown.End()
	if page != nil {
		err = errors.Join(err, page.write(report))
	}
	return report.Outcome(), errors.Join(err, options.printReport(report))
}

// showPhases shows how many phases have ended, until the caller ends it. A mix ends by the clock.
func showPhases(shown *progress.Progress, c *chaos.Config) {
	total := int64(len(c.Phases))
	if !c.Until.IsZero() {
		total = 0
		shown.Until(c.Until)
	}
	shown.Begin("chaos", total, progress.Count("phases"))
	judged := c.Judged
	c.Judged = func(p *chaos.PhaseReport) { judged(p); shown.Add(1) }
	shown.Tick()
}

// printReport prints the report, as text or as JSON.
func (o *options) printReport(report *chaos.Report) error {
	if o.json {
		return json.NewEncoder(os.Stdout).Encode(report)
	}
	return report.Write(os.Stdout)
}

// listFaults prints all faults with what they do.
func listFaults() error {
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	for _, f := range nemesis.Faults() {
		fmt.Fprintf(table, "%s\t%s\n", f.Name, f.About)
	}
	for _, g := range nemesis.IdleGroups() {
		fmt.Fprintf(table, "%s\t%s\n", g.Name, g.About)
	}
	return table.Flush() // has the error of all lines
}
