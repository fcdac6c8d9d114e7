package main

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"quorate/cmd/quorate/command"
	"quorate/cmd/quorate/settings"
)

const flagsHead = `# Flags

<!-- Generated from the code by make generate: edit cmd/quorate/settings and cmd/quorate/command. -->

Every flag of every command, as ` + "`quorate COMMAND --help`" + ` shows them.
[configuration](configuration.md) says how flags, variables and the file go together, and more about
the flags that matter most.
`

// serveName is the command whose flags are also variables and keys of a file.
const serveName = "serve"

// flagsPage returns the page about the flags of all commands.
func flagsPage() []byte {
	var page bytes.Buffer
	page.WriteString(flagsHead)
	root := command.Root(command.Process{Stdout: io.Discard, Stderr: io.Discard})
	section(&page, root)
	return page.Bytes()
}

// section writes about a command with flags of its own, and about those below it.
func section(page *bytes.Buffer, c *cobra.Command) {
	if own := c.NonInheritedFlags(); has(own) && c.HasParent() {
		fmt.Fprintf(page, "\n## %s\n\n%s.\n", c.CommandPath(), strings.TrimSuffix(c.Short, "."))
		if c.Name() == serveName {
			fmt.Fprint(page, "\nThe key of a flag in the file that `--config` names is the flag's name without dashes.\n")
			table(page, []string{"flag", "variable", "default", "what it sets"}, own, func(f *pflag.Flag) string { return code(settings.Variable(f.Name)) })
		} else {
			table(page, []string{"flag", "default", "what it sets"}, own, nil)
		}
	}
	for _, below := range c.Commands() {
		if below.IsAvailableCommand() && below.Name() != "help" && below.Name() != "completion" {
			section(page, below)
		}
	}
}

// has reports whether a set has a flag besides help.
func has(flags *pflag.FlagSet) (found bool) {
	flags.VisitAll(func(f *pflag.Flag) { found = found || shown(f) })
	return found
}

func shown(f *pflag.Flag) bool { return f.Name != "help" && !f.Hidden }

// table writes a row for each flag; extra, if not nil, returns the cell after the first one.
func table(page *bytes.Buffer, head []string, flags *pflag.FlagSet, extra func(*pflag.Flag) string) {
	fmt.Fprintf(page, "\n| %s |\n|%s\n", strings.Join(head, " | "), strings.Repeat("---|", len(head)))
	flags.VisitAll(func(f *pflag.Flag) {
		if !shown(f) {
			return
		}
		name := "--" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		cells := []string{code(name)}
		if extra != nil {
			cells = append(cells, extra(f))
		}
		_, usage := pflag.UnquoteUsage(f)
		fmt.Fprintf(page, "| %s |\n", strings.Join(append(cells, code(defaultOf(f)), cell(usage)), " | "))
	})
}

// defaultOf returns the default of a flag, "" for the zero value of its type.
func defaultOf(f *pflag.Flag) string {
	switch f.DefValue {
	case "", "[]", "0s":
		return ""
	case "0":
		if f.Value.Type() != "bool" {
			return "0"
		}
	}
	return f.DefValue
}
