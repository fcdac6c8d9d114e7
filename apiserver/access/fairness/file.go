package fairness

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"time"

	"go.yaml.in/yaml/v3"
)

// Bounds of the values in a file of levels.
const (
	maxLevels      = 16
	maxShare       = 1000
	maxQueueLength = 10_000
	maxMaxWait     = time.Minute
)

// file is the YAML form of the levels. Pointers tell a zero from nothing.
type file struct {
	Levels []struct {
		Name        string  `yaml:"name"`
		Share       *int    `yaml:"share"`
		QueueLength *int    `yaml:"queueLength"`
		MaxWait     *string `yaml:"maxWait"`
		Match       []Match `yaml:"match"`
	} `yaml:"levels"`
}

// Load reads the levels from a YAML file. The error is one line that says what to correct.
func Load(path string) ([]Level, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read priority levels: %w", err)
	}
	levels, err := Parse(text)
	if err != nil {
		return nil, fmt.Errorf("priority levels in %s: %w", path, err)
	}
	return levels, nil
}

// Parse is Load for the content of a file.
func Parse(text []byte) ([]Level, error) {
	var f file
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	decoder.KnownFields(true)
	if err := decoder.Decode(&f); err != nil && !errors.Is(err, io.EOF) {
		return nil, firstProblem(err)
	}
	if err := decoder.Decode(new(any)); !errors.Is(err, io.EOF) {
		return nil, errors.New("want one document")
	}
	levels := make([]Level, 0, len(f.Levels))
	for _, in := range f.Levels {
		l := Level{Name: in.Name, QueueLength: DefaultQueueLength, MaxWait: DefaultMaxWait, Match: in.Match}
		if in.Share != nil {
			l.Share = *in.Share
		}
		if in.QueueLength != nil {
			l.QueueLength = *in.QueueLength
		}
		if in.MaxWait != nil {
			wait, err := time.ParseDuration(*in.MaxWait)
			if err != nil {
				return nil, fmt.Errorf("level %q: maxWait %q: want a duration such as 10s", in.Name, *in.MaxWait)
			}
			l.MaxWait = wait
		}
		levels = append(levels, l)
	}
	return levels, validate(levels)
}

// firstProblem makes one line of the errors that the decoder collects.
func firstProblem(err error) error {
	if typed, ok := errors.AsType[*yaml.TypeError](err); ok && len(typed.Errors) > 0 {
		return errors.New(typed.Errors[0])
	}
	return err
}

// validate returns the first mistake in levels.
func validate(levels []Level) error {
	if len(levels) == 0 || len(levels) > maxLevels {
		return fmt.Errorf("want 1 to %d levels, got %d", maxLevels, len(levels))
	}
	label := regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`)
	names := make(map[string]bool)
	for i, l := range levels {
		switch {
		case !label.MatchString(l.Name):
			return fmt.Errorf("level %d: name %q: want lower-case letters, digits and hyphens", i+1, l.Name)
		case names[l.Name]:
			return fmt.Errorf("level %q is there twice", l.Name)
		case l.Share < 1 || l.Share > maxShare:
			return fmt.Errorf("level %q: share %d: want 1 to %d", l.Name, l.Share, maxShare)
		case l.QueueLength < 0 || l.QueueLength > maxQueueLength:
			return fmt.Errorf("level %q: queueLength %d: want 0 to %d", l.Name, l.QueueLength, maxQueueLength)
		case l.MaxWait <= 0 || l.MaxWait > maxMaxWait:
			return fmt.Errorf("level %q: maxWait %v: want more than 0s and at most %v", l.Name, l.MaxWait, maxMaxWait)
		case len(l.Match) == 0 && i < len(levels)-1:
			return fmt.Errorf("level %q has no match and would get no request: only the last level takes all others", l.Name)
		}
		names[l.Name] = true
		if err := validateMatches(l); err != nil {
			return err
		}
	}
	return nil
}

func validateMatches(l Level) error {
	for i, m := range l.Match {
		filled := 0
		for _, values := range [][]string{m.Users, m.Groups, m.Verbs, m.Resources, m.Namespaces} {
			for _, v := range values {
				if v == "" {
					return fmt.Errorf("level %q: match %d has an empty name", l.Name, i+1)
				}
			}
			filled += len(values)
		}
		if filled == 0 {
			return fmt.Errorf("level %q: match %d is empty: want users, groups, verbs, resources or namespaces", l.Name, i+1)
		}
	}
	return nil
}
