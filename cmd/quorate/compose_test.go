package main

import (
	"os"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// TestComposeKeepsTheKey checks that each node of the compose file reads its key from a secret,
// because `docker inspect` shows environments and commands.
func TestComposeKeepsTheKey(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docker-compose.yml")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Secrets  map[string]struct{ File string }
		Services map[string]struct {
			Command     []string
			Secrets     []string
			Environment map[string]string
			EnvFile     any `json:"env_file"`
		}
	}
	if err := yaml.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	if got := file.Secrets["cluster-key"].File; got != "compose-data/cluster.key" {
		t.Errorf("the secret is of file %q, which deploy/compose does not write", got)
	}
	for name, s := range file.Services {
		if !slices.Contains(s.Secrets, "cluster-key") || !slices.Contains(s.Command, "--cluster-key-file=/run/secrets/cluster-key") {
			t.Errorf("%s does not read the secret", name)
		}
		for variable := range s.Environment {
			if strings.Contains(variable, "KEY") {
				t.Errorf("%s has %s in its environment", name, variable)
			}
		}
		if s.EnvFile != nil {
			t.Errorf("%s has the environment of %v", name, s.EnvFile)
		}
	}
	if len(file.Services) != 3 {
		t.Errorf("%d services, want 3", len(file.Services))
	}
}
