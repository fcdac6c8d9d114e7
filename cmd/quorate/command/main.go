package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"quorate/cmd/quorate/node"
)

// The exit codes.
const (
	exitOK    = 0
	exitError = 1
	exitUsage = 2
	// exitSignal is the code of a process that a second signal ended before it was done.
	exitSignal = 130

	// sameSignal is the interval within which two signals count as one: timeout(1), for example,
	// signals a process and then its group.
	sameSignal = 50 * time.Millisecond
	// lastWordsTimeout bounds the wait until the last line is printed.
	lastWordsTimeout = time.Second
)

// Process holds what the operating system passes to the program.
type Process struct {
	Args           []string
	Environ        []string
	Stdout, Stderr io.Writer
	Build          node.Build
}

// getenv looks up a variable; the last setting wins, as in a shell. An empty variable counts as not
// set, because that is what an unset placeholder in a compose or unit file becomes.
func (p *Process) getenv(name string) (string, bool) {
	for _, entry := range slices.Backward(p.Environ) {
		if value, ok := strings.CutPrefix(entry, name+"="); ok {
			return value, value != ""
		}
	}
	return "", false
}

// usageError is an error of the command line itself; its exit code is 2.
type usageError struct{ error }

// Main runs one command and returns the exit code. The first SIGINT or SIGTERM ends the command's
// context; a second one ends the process at once.
func Main(p Process) int {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	signals := make(chan os.Signal, 2) // room for the two signals that count
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	done := make(chan error, 1)
	go func() { done <- run(ctx, &p) }()
	var first time.Time
	for {
		select {
		case err := <-done:
			return report(&p, err)
		case <-signals:
			if first.IsZero() {
				first = time.Now()
				cancel()
			} else if time.Since(first) > sameSignal {
				p.lastWords("quorate: second signal: exit at once")
				return exitSignal
			}
		}
	}
}

// lastWords prints a line before the process ends. It does not wait for long: standard error may be
// a pipe that nobody reads.
func (p *Process) lastWords(line string) {
	printed := make(chan struct{})
	go func() {
		defer close(printed)
		fmt.Fprintln(p.Stderr, line)
	}()
	select {
	case <-printed:
	case <-time.After(lastWordsTimeout):
	}
}

// Root returns the command line for its documentation: without defaults that depend on the machine.
func Root(p Process) *cobra.Command {
	root := newRoot(&p)
	for _, c := range root.Commands() {
		if name := c.Flags().Lookup("name"); name != nil {
			name.DefValue = ""
		}
	}
	return root
}

func run(ctx context.Context, p *Process) error {
	root := newRoot(p)
	root.SetArgs(p.Args)
	root.SetOut(p.Stdout)
	root.SetErr(p.Stderr)
	return root.ExecuteContext(ctx)
}

func report(p *Process, err error) int {
	if err == nil {
		return exitOK
	}
	p.lastWords("quorate: " + oneLine(err))
	if errors.As(err, new(usageError)) {
		return exitUsage
	}
	return exitError
}

func newRoot(p *Process) *cobra.Command {
	root := &cobra.Command{
		Use:   "quorate",
		Short: "A typed resource API, replicated by Raft, in one binary",
		Long: "A typed resource API, replicated by Raft, in one binary.\n\n" +
			"Exit codes: 0 on success; 1 if the command failed, or what it shows is not well (status, members,\n" +
			"checksum, inspect, healthcheck); 2 if the command line is wrong; 130 if a second SIGINT or SIGTERM ended\n" +
			"the process at once.",
		Version:       p.Build.Version,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmd.Help()
			}
			hint := "quorate --help lists them"
			if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
				hint = "did you mean " + near[0] + "?"
			}
			return usageError{fmt.Errorf("no such command %q: %s", args[0], hint)}
		},
	}
	root.SuggestionsMinimumDistance = 2
	root.SetVersionTemplate(p.version())
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usageError{fmt.Errorf("%w: %s --help lists the flags", err, cmd.CommandPath())}
	})
	addGroup(root, "Nodes:", newServe(p), newInit(p), newHealthcheck(p), newDemo(p))
	addGroup(root, "Cluster:", newStatus(p), newMembers(p), newTransferLeader(p), newLeave(p), newRemove(p), newChecksum(p), newLog(p))
	addGroup(root, "Data:", newSnapshot(p), newBackup(p), newRestore(p), newRecover(p), newInspect(p))
	addGroup(root, "Access:", newToken(p), newKubeconfig(p))
	addGroup(root, others, newVersion(p))
	root.SetHelpCommandGroupID(others)
	root.SetCompletionCommandGroupID(others)
	return root
}

// others is the title of the commands that belong to no topic.
const others = "Others:"

// addGroup adds commands that help lists under a title.
func addGroup(root *cobra.Command, title string, commands ...*cobra.Command) {
	root.AddGroup(&cobra.Group{ID: title, Title: title})
	for _, c := range commands {
		c.GroupID = title
		root.AddCommand(c)
	}
}

// arguments returns a check for the number of positional arguments.
func arguments(least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < least || len(args) > most {
			return usageError{fmt.Errorf("want %s", cmd.UseLine())}
		}
		return nil
	}
}
