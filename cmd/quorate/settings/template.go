package settings

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/spf13/pflag"
	"sigs.k8s.io/yaml"
)

// templateColumns is the width of the comments in a configuration file.
const templateColumns = 100

// Template returns a configuration file for serve: each flag that Register has declared on flags,
// in the same order, with its usage as a comment and its default as a commented key. Keys of flags
// that were given are set. Other flags of the set are left out.
func Template(flags *pflag.FlagSet, hostName string) ([]byte, error) {
	declared := pflag.NewFlagSet("serve", pflag.ContinueOnError)
	declared.SortFlags = false
	var s Settings
	s.Register(declared, hostName)

	var file bytes.Buffer
	fmt.Fprintln(&file, "# Configuration of a node of Quorate: quorate serve --config FILE.")
	file.WriteString(comment("Flags override the environment (" + Variable("data-dir") + " for data-dir), and the environment overrides this file. " +
		"The cluster key is a secret: set " + KeyVariable + ", or name a file as cluster-key-file."))
	var failed error
	declared.VisitAll(func(f *pflag.Flag) {
		value, mark := f.Value, "# "
		if flags.Changed(f.Name) {
			value, mark = flags.Lookup(f.Name).Value, ""
		}
		line, err := entry(f.Name, value)
		if err != nil {
			failed = err
			return
		}
		_, usage := pflag.UnquoteUsage(f)
		fmt.Fprintf(&file, "\n%s%s%s", comment(usage), mark, line)
	})
	return file.Bytes(), failed
}

// entry returns a line of YAML that sets a key to the value of a flag.
func entry(name string, value pflag.Value) (string, error) {
	switch v := value.(type) {
	case pflag.SliceValue:
		quoted := make([]string, len(v.GetSlice()))
		for i, item := range v.GetSlice() {
			text, err := yaml.Marshal(item)
			if err != nil {
				return "", fmt.Errorf("encode %s: %w", name, err)
			}
			quoted[i] = strings.TrimSpace(string(text))
		}
		return fmt.Sprintf("%s: [%s]\n", name, strings.Join(quoted, ", ")), nil
	}
	switch value.Type() {
	case "bool", "int", "float64":
		return fmt.Sprintf("%s: %s\n", name, value), nil
	}
	text, err := yaml.Marshal(map[string]string{name: value.String()})
	if err != nil {
		return "", fmt.Errorf("encode %s: %w", name, err)
	}
	return string(text), nil
}

// comment wraps text into lines of a comment.
func comment(text string) string {
	var lines strings.Builder
	line := "#"
	for word := range strings.FieldsSeq(text) {
		if len(line)+1+len(word) > templateColumns {
			lines.WriteString(line + "\n")
			line = "#"
		}
		line += " " + word
	}
	return lines.String() + line + "\n"
}
