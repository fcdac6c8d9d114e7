package apply

import (
	"bytes"
	"fmt"
	"strings"

	"sigs.k8s.io/json"

	"quorate/apiserver/objects/schema"
	"quorate/apiserver/wire/status"
)

// mergeFactor is how many times as much as decoding an object it takes to merge into it and to find
// out who owns its fields.
const mergeFactor = 4

// Config is a configuration to apply: the fields of an object that a manager wants to determine. It
// is immutable and safe for concurrent use.
type Config struct {
	content    map[string]any
	duplicates []string
}

// Parse parses a configuration from JSON, into which the caller converts YAML. It returns a 400
// error for anything but an object.
func Parse(text []byte) (*Config, error) {
	c := &Config{}
	strict, err := json.UnmarshalStrict(text, &c.content, json.DisallowDuplicateFields)
	if err != nil {
		return nil, status.NewBadRequest("error decoding YAML: " + err.Error())
	}
	if c.content == nil {
		return nil, status.NewBadRequest("error decoding YAML: the configuration is empty")
	}
	for _, err := range strict {
		c.duplicates = append(c.duplicates, err.Error())
	}
	return c, nil
}

// unmarshal parses JSON into maps, slices, strings, int64, float64 and bool.
func unmarshal(text []byte, to *map[string]any) error {
	return json.UnmarshalCaseSensitivePreserveInts(text, to)
}

// Problems returns a text for each member that an object of the configuration has twice. The last
// one takes effect.
func (c *Config) Problems() []string { return c.duplicates }

// Value returns the value at a path of names; nil if there is none.
func (c *Config) Value(path ...string) any {
	var v any = c.content
	for _, name := range path {
		m, _ := v.(map[string]any)
		v = m[name]
	}
	return v
}

func (c *Config) text(path ...string) string {
	s, _ := c.Value(path...).(string)
	return s
}

// Expansion returns about how many bytes of memory Apply or Update takes beside decoding, for
// objects whose decoded size is given: their values are converted to fields several times.
// TestExpansion measures the factor.
func Expansion(decoded int64) int64 { return mergeFactor * decoded }

// Managed reports whether a stored object has managed fields. It may be mistaken about one that has
// the word in a text.
func Managed(value []byte) bool { return bytes.Contains(value, []byte(`"managedFields":`)) }

// OfScale returns the configuration for objects of a kind that sets the replicas of a scale.
func (c *Config) OfScale(k *schema.Kind) (*Config, error) {
	if err := c.check(k.Scale); err != nil {
		return nil, err
	}
	parser, err := derive(k.Scale)
	if err != nil {
		return nil, err
	}
	if _, err := parser.FromUnstructured(c.content); err != nil {
		return nil, c.unfit(err)
	}
	metadata := map[string]any{}
	for _, name := range []string{"name", "namespace", "resourceVersion", "uid"} {
		if v := c.Value("metadata", name); v != nil {
			metadata[name] = v
		}
	}
	out := map[string]any{"apiVersion": k.APIVersion, "kind": k.Kind, "metadata": metadata}
	if replicas := c.Value("spec", "replicas"); replicas != nil {
		at := out
		path := k.ReplicasPath()
		for _, name := range path[:len(path)-1] {
			below := map[string]any{}
			at[name], at = below, below
		}
		at[path[len(path)-1]] = replicas
	}
	return &Config{content: out, duplicates: c.duplicates}, nil
}

// unfit returns the error for a configuration that does not have the form of its kind.
func (c *Config) unfit(err error) error {
	return status.NewBadRequest(fmt.Sprintf("failed to create typed patch object (%s): %v", c.subject(), err))
}

// check checks that the configuration is for objects of a kind and does not say who owns fields.
func (c *Config) check(k *schema.Kind) error {
	if c.text("apiVersion") != k.APIVersion || c.text("kind") != k.Kind {
		return status.NewBadRequest("invalid object type: " + c.kind())
	}
	if c.Value("metadata", "managedFields") != nil {
		return status.NewBadRequest("metadata.managedFields must be nil")
	}
	return nil
}

// kind names the version and kind of the configuration as messages contain it: "apps/v1, Kind=Pod".
func (c *Config) kind() string {
	version := c.text("apiVersion")
	if !strings.Contains(version, "/") {
		version = "/" + version
	}
	return version + ", Kind=" + c.text("kind")
}

// subject names the object as messages contain it.
func (c *Config) subject() string {
	return fmt.Sprintf("%s/%s; %s", c.text("metadata", "namespace"), c.text("metadata", "name"), c.kind())
}
