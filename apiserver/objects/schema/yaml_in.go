package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"

	"quorate/apiserver/limit"
)

// YAMLToJSON converts one YAML document to JSON for Decode. It keeps duplicate keys, so that the
// decoder can report them, and expands aliases. An empty document, or null, yields no bytes.
// Errors, all *DecodeError, include a result of more than maxBytes, a second document, and a
// document that could have more than maxYAMLNodes nodes, which is not parsed.
func YAMLToJSON(body []byte, maxBytes int) ([]byte, error) {
	if err := checkYAMLNodes(body); err != nil {
		return nil, yamlError(err)
	}
	dec := yaml.NewDecoder(bytes.NewReader(body))
	var doc, more yaml.Node
	switch err := dec.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return nil, nil
	case err != nil:
		return nil, yamlError(err)
	}
	if err := dec.Decode(&more); !errors.Is(err, io.EOF) {
		if err == nil {
			err = errors.New("yaml: a second document follows")
		}
		return nil, yamlError(err)
	}
	w := yamlReader{budget: maxBytes}
	if err := w.node(&doc, 0); err != nil {
		return nil, yamlError(err)
	}
	if string(w.out) == "null" {
		return nil, nil
	}
	return w.out, nil
}

func yamlError(err error) error {
	return &DecodeError{Message: "error converting YAML to JSON: " + err.Error(), Offset: -1, Limit: limit.Of(err)}
}

// yamlReader converts YAML nodes to JSON. Each visited node and each written byte consumes one unit
// of the budget, which limits the expansion of nested aliases.
type yamlReader struct {
	out    []byte
	budget int
	visits int
}

func (w *yamlReader) node(n *yaml.Node, depth int) error {
	if depth > maxDepth {
		return limit.Reached(limit.Nesting, fmt.Errorf("yaml: line %d: exceeded max depth", n.Line))
	}
	if w.visits++; w.visits+len(w.out) > w.budget {
		return limit.Reached(limit.YAMLExpansion, fmt.Errorf("yaml: document expands to more than %d bytes", w.budget))
	}
	switch n.Kind {
	case yaml.DocumentNode:
		return w.node(n.Content[0], depth)
	case yaml.AliasNode:
		return w.node(n.Alias, depth+1)
	case yaml.SequenceNode:
		w.out = append(w.out, '[')
		for _, item := range n.Content {
			if err := w.node(item, depth+1); err != nil {
				return err
			}
			w.out = append(w.out, ',')
		}
		w.close(']')
		return nil
	case yaml.MappingNode:
		return w.mapping(n, depth)
	case yaml.ScalarNode:
		return w.scalar(n)
	}
	w.out = append(w.out, "null"...)
	return nil
}

func (w *yamlReader) close(bracket byte) {
	if last := len(w.out) - 1; w.out[last] == ',' {
		w.out[last] = bracket
		return
	}
	w.out = append(w.out, bracket)
}

func (w *yamlReader) mapping(n *yaml.Node, depth int) error {
	own := map[string]bool{}
	var merged []*yaml.Node
	w.out = append(w.out, '{')
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if key.ShortTag() == "!!merge" {
			merged = append(merged, value)
			continue
		}
		if err := w.member(key, value, own, false, depth); err != nil {
			return err
		}
	}
	for _, m := range merged {
		if err := w.merge(m, own, depth+1); err != nil {
			return err
		}
	}
	w.close('}')
	return nil
}

// merge writes the members of a merge key's mapping that the enclosing mapping does not define
// itself.
func (w *yamlReader) merge(n *yaml.Node, own map[string]bool, depth int) error {
	if depth > maxDepth {
		return limit.Reached(limit.Nesting, fmt.Errorf("yaml: line %d: exceeded max depth", n.Line))
	}
	if w.visits++; w.visits+len(w.out) > w.budget {
		return limit.Reached(limit.YAMLExpansion, fmt.Errorf("yaml: document expands to more than %d bytes", w.budget))
	}
	switch n.Kind {
	case yaml.AliasNode:
		return w.merge(n.Alias, own, depth+1)
	case yaml.SequenceNode:
		for _, item := range n.Content {
			if err := w.merge(item, own, depth+1); err != nil {
				return err
			}
		}
		return nil
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			var err error
			if key := n.Content[i]; key.ShortTag() == "!!merge" {
				err = w.merge(n.Content[i+1], own, depth+1)
			} else {
				err = w.member(key, n.Content[i+1], own, true, depth)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	return fmt.Errorf("yaml: line %d: map merge requires map or sequence of maps as the value", n.Line)
}

// member writes a key and its value. It skips an inherited member if the mapping has a member with
// that key already.
func (w *yamlReader) member(key, value *yaml.Node, own map[string]bool, inherited bool, depth int) error {
	if w.visits++; w.visits+len(w.out) > w.budget {
		return limit.Reached(limit.YAMLExpansion, fmt.Errorf("yaml: document expands to more than %d bytes", w.budget))
	}
	for key.Kind == yaml.AliasNode {
		key = key.Alias
	}
	if key.Kind != yaml.ScalarNode || key.ShortTag() == "!!null" {
		return fmt.Errorf("yaml: line %d: a mapping key must be a scalar", key.Line)
	}
	if inherited && own[key.Value] {
		return nil
	}
	own[key.Value] = true
	w.out = append(AppendString(w.out, key.Value), ':')
	if err := w.node(value, depth+1); err != nil {
		return err
	}
	w.out = append(w.out, ',')
	return nil
}

func (w *yamlReader) scalar(n *yaml.Node) error {
	switch tag := n.ShortTag(); tag {
	case "!!null":
		w.out = append(w.out, "null"...)
	case "!!bool", "!!int", "!!float":
		var value any
		if err := n.Decode(&value); err != nil {
			return err
		}
		text, err := json.Marshal(value)
		if err != nil {
			return fmt.Errorf("yaml: line %d: %w", n.Line, err)
		}
		w.out = append(w.out, text...)
	case "!!binary":
		var raw string
		if err := n.Decode(&raw); err != nil {
			return err
		}
		w.out = AppendString(w.out, raw)
	default:
		if word, ok := oldBool(n); ok {
			w.out = append(w.out, word...)
			return nil
		}
		w.out = AppendString(w.out, n.Value)
	}
	return nil
}

// oldBool parses the booleans of YAML 1.1, which Kubernetes clients rely on.
func oldBool(n *yaml.Node) (word string, ok bool) {
	if n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle|yaml.TaggedStyle) != 0 {
		return "", false
	}
	switch n.Value {
	case "yes", "Yes", "YES", "on", "On", "ON":
		return "true", true
	case "no", "No", "NO", "off", "Off", "OFF":
		return "false", true
	}
	return "", false
}

// looksSpecial reports whether YAML would read a plain scalar of letters as something other than
// text.
func looksSpecial(s string) bool {
	switch strings.ToLower(s) {
	case "true", "false", "null", "yes", "no", "on", "off", "y", "n", "nan", "inf":
		return true
	}
	return false
}
