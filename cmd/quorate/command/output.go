package command

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"quorate/progress"
)

// The formats of --output.
const (
	formatTable = "table"
	formatWide  = "wide"
	formatJSON  = "json"
	formatYAML  = "yaml"
)

func formats() []string { return []string{formatTable, formatWide, formatJSON, formatYAML} }

// output is the flag --output of the commands that print data, which has the same values in all of
// them.
type output struct{ format string }

func (o *output) register(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&o.format, "output", "o", formatTable, "table, wide (more columns, where there are more), json or yaml")
	completeFlag(cmd, "output", formats()...)
}

// check returns an error if the format is unknown. Commands call it before they do anything.
func (o *output) check() error {
	if !slices.Contains(formats(), o.format) {
		return usageError{fmt.Errorf("--output %q: want table, wide, json or yaml", o.format)}
	}
	return nil
}

// isDocument reports whether print writes JSON or YAML.
func (o *output) isDocument() bool { return o.format == formatJSON || o.format == formatYAML }

// print writes value as JSON or YAML, or calls table for the other formats.
func (o *output) print(w io.Writer, value any, table func(w io.Writer, wide bool) error) error {
	switch o.format {
	case formatJSON:
		encoder := json.NewEncoder(w)
		encoder.SetIndent("", "  ")
		return encoder.Encode(value)
	case formatYAML:
		content, err := yaml.Marshal(value)
		if err != nil {
			return fmt.Errorf("encode YAML: %w", err)
		}
		_, err = w.Write(content)
		return err
	}
	return table(w, o.format == formatWide)
}

// completeFlag offers values for a flag in the shell.
func completeFlag(cmd *cobra.Command, flag string, values ...string) {
	err := cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
	if err != nil {
		panic(err) // there is no such flag, or it has completions already
	}
}

// colour is an SGR code of ECMA-48.
type colour string

const (
	green  colour = "32"
	yellow colour = "33"
	red    colour = "31"
)

// paint returns text in a colour if it goes to a terminal that shows any, and NO_COLOR is not set
// (https://no-color.org).
func (p *Process) paint(w io.Writer, c colour, text string) string {
	_, refused := p.getenv("NO_COLOR")
	terminal, _ := p.getenv("TERM")
	if refused || terminal == "dumb" || !progress.IsTerminal(w) {
		return text
	}
	return "\x1b[1;" + string(c) + "m" + text + "\x1b[0m"
}

// oneLine returns an error as one line.
func oneLine(err error) string { return strings.ReplaceAll(err.Error(), "\n", "; ") }
