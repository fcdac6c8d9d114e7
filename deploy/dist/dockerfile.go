package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// imageConfig returns the configuration that a Dockerfile gives its image. It understands the
// instructions that deploy/Dockerfile uses and refuses others, so that the image of a release can't
// differ from that of `make image` unnoticed. FROM and COPY concern the files, which release.layer
// has.
func imageConfig(dockerfile string) (v1.Config, error) {
	config := v1.Config{WorkingDir: "/"}
	for _, line := range instructions(dockerfile) {
		name, args, _ := strings.Cut(line, " ")
		args = strings.TrimSpace(args)
		var err error
		switch name {
		case "FROM":
			if args != "scratch" {
				err = fmt.Errorf("the image has a base, %s", args)
			}
		case "COPY":
			if want := fmt.Sprintf("--chown=%d:%d bin/image/ /", imageUser, imageUser); args != want {
				err = fmt.Errorf("COPY %s, want COPY %s", args, want)
			}
		case "USER":
			config.User = args
		case "VOLUME":
			config.Volumes = set(strings.Fields(args), "")
		case "ENV":
			config.Env = append(config.Env, strings.Fields(args)...)
		case "EXPOSE":
			config.ExposedPorts = set(strings.Fields(args), "/tcp")
		case "ENTRYPOINT":
			err = json.Unmarshal([]byte(args), &config.Entrypoint)
		case "CMD":
			err = json.Unmarshal([]byte(args), &config.Cmd)
		case "HEALTHCHECK":
			config.Healthcheck, err = healthcheck(args)
		default:
			err = fmt.Errorf("instruction %s is not supported", name)
		}
		if err != nil {
			return v1.Config{}, err
		}
	}
	return config, nil
}

// instructions returns the instructions of a Dockerfile, each as one line.
func instructions(dockerfile string) (lines []string) {
	joined := strings.ReplaceAll(dockerfile, "\\\n", " ")
	for line := range strings.Lines(joined) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			lines = append(lines, line)
		}
	}
	return lines
}

// set returns names as a set; those without a slash get the suffix.
func set(names []string, suffix string) map[string]struct{} {
	s := make(map[string]struct{}, len(names))
	for _, name := range names {
		if !strings.Contains(name, "/") {
			name += suffix
		}
		s[name] = struct{}{}
	}
	return s
}

func healthcheck(args string) (*v1.HealthConfig, error) {
	flags, command, found := strings.Cut(args, "CMD ")
	if !found {
		return nil, fmt.Errorf("HEALTHCHECK %s has no command", args)
	}
	var argv []string
	if err := json.Unmarshal([]byte(command), &argv); err != nil {
		return nil, err
	}
	check := &v1.HealthConfig{Test: append([]string{"CMD"}, argv...)}
	for _, flag := range strings.Fields(flags) {
		name, value, _ := strings.Cut(strings.TrimPrefix(flag, "--"), "=")
		var err error
		switch name {
		case "interval":
			check.Interval, err = time.ParseDuration(value)
		case "timeout":
			check.Timeout, err = time.ParseDuration(value)
		case "start-period":
			check.StartPeriod, err = time.ParseDuration(value)
		case "retries":
			_, err = fmt.Sscan(value, &check.Retries)
		default:
			err = fmt.Errorf("flag %s of HEALTHCHECK is not supported", flag)
		}
		if err != nil {
			return nil, err
		}
	}
	return check, nil
}
