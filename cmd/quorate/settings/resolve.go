package settings

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"sigs.k8s.io/yaml"
)

// variablePrefix begins every environment variable that sets a flag.
const variablePrefix = "QUORATE_"

// configFlag is the flag that names the configuration file; the file itself can't set it.
const configFlag = "config"

// Resolve completes a parsed flag set: flags that were not given take their values from the
// environment, then from the file that --config names. getenv decides whether a variable is set;
// Resolve uses the value of a set variable even if it is empty.
func Resolve(flags *pflag.FlagSet, getenv func(string) (string, bool)) error {
	given := make(map[string]bool)
	flags.Visit(func(f *pflag.Flag) { given[f.Name] = true })
	if err := fromEnvironment(flags, given, getenv); err != nil {
		return err
	}
	config := flags.Lookup(configFlag)
	if config == nil || config.Value.String() == "" {
		return nil
	}
	return fromFile(flags, given, config.Value.String())
}

func fromEnvironment(flags *pflag.FlagSet, given map[string]bool, getenv func(string) (string, bool)) error {
	var errs []error
	flags.VisitAll(func(f *pflag.Flag) {
		variable := Variable(f.Name)
		value, ok := getenv(variable)
		if !ok || given[f.Name] || f.Name == "help" {
			return
		}
		given[f.Name] = true
		if err := flags.Set(f.Name, value); err != nil {
			errs = append(errs, fmt.Errorf("%s=%s: %w", variable, value, reason(err)))
		}
	})
	return errors.Join(errs...)
}

// Variable returns the environment variable of a flag.
func Variable(flag string) string {
	return variablePrefix + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// UnknownVariables returns the QUORATE_ variables of an environment that set no flag: most likely
// they are misspelt.
func UnknownVariables(flags *pflag.FlagSet, environ []string) []string {
	known := map[string]bool{KeyVariable: true}
	flags.VisitAll(func(f *pflag.Flag) { known[Variable(f.Name)] = true })
	var unknown []string
	for _, entry := range environ {
		name, _, _ := strings.Cut(entry, "=")
		if strings.HasPrefix(name, variablePrefix) && !known[name] {
			unknown = append(unknown, name)
		}
	}
	slices.Sort(unknown)
	return unknown
}

func fromFile(flags *pflag.FlagSet, given map[string]bool, path string) error {
	values, err := readFile(path)
	if err != nil {
		return err
	}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if flags.Lookup(key) == nil || key == configFlag || key == "help" {
			return fmt.Errorf("%s: unknown key %q: keys are the names of the flags of quorate serve%s", path, key, suggest(flags, key))
		}
		if given[key] {
			continue
		}
		text, err := scalar(values[key])
		if err != nil {
			return fmt.Errorf("%s: %s: %w", path, key, err)
		}
		if err := flags.Set(key, text); err != nil {
			return fmt.Errorf("%s: %s: %s: %w", path, key, text, reason(err))
		}
	}
	return nil
}

func readFile(path string) (map[string]any, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: no such file: --config names a YAML file of flag names and values", path)
	}
	if err != nil {
		return nil, fmt.Errorf("read configuration: %w", err)
	}
	asJSON, err := yaml.YAMLToJSONStrict(text)
	if err != nil {
		return nil, fmt.Errorf("%s: not valid YAML: %s", path, firstLine(err))
	}
	if string(asJSON) == "null" {
		return nil, nil
	}
	values := make(map[string]any)
	decoder := json.NewDecoder(bytes.NewReader(asJSON))
	decoder.UseNumber()
	if err := decoder.Decode(&values); err != nil {
		return nil, fmt.Errorf("%s: want one mapping of flag names to values", path)
	}
	return values, nil
}

// scalar returns a YAML value as text for the flag of the same name.
func scalar(value any) (string, error) {
	switch v := value.(type) {
	case string:
		return v, nil
	case json.Number:
		return v.String(), nil
	case bool:
		return fmt.Sprint(v), nil
	case []any:
		parts := make([]string, len(v))
		for i, item := range v {
			text, err := scalar(item)
			if err != nil {
				return "", err
			}
			parts[i] = text
		}
		return strings.Join(parts, ","), nil
	}
	return "", errors.New("want a string, a number, a boolean or a list of these")
}

// reason removes pflag's prefix, which names the flag: the caller names the variable or key that
// was given.
func reason(err error) error {
	var invalid *pflag.InvalidValueError
	if errors.As(err, &invalid) {
		return invalid.Unwrap()
	}
	return err
}

func suggest(flags *pflag.FlagSet, key string) string {
	plain := func(s string) string { return strings.ToLower(strings.NewReplacer("-", "", "_", "").Replace(s)) }
	hint := ""
	flags.VisitAll(func(f *pflag.Flag) {
		if plain(f.Name) == plain(key) {
			hint = fmt.Sprintf(" (did you mean %q?)", f.Name)
		}
	})
	return hint
}

func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return strings.TrimPrefix(line, "yaml: ")
}
