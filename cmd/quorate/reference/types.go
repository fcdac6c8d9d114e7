package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"quorate/apiserver/kinds"
	"quorate/apiserver/objects/schema"
)

// types are the messages of all files.
type types struct {
	messages map[string]*message
	shared   []string // names of those that are not in the file of a kind, sorted
}

// message is a message with its fields in the order of the file.
type message struct {
	spec   schema.MessageSpec
	fields []field
	shared bool
}

type field struct {
	name string
	spec schema.FieldSpec
}

// readTypes reads the messages of all files.
func readTypes() (*types, error) {
	t := &types{messages: map[string]*message{}}
	for _, pattern := range []string{"*.yaml", "types/*.yaml"} {
		files, err := fs.Glob(kinds.Files, pattern)
		if err != nil {
			return nil, err
		}
		for _, name := range files {
			if err := t.read(name); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	slices.Sort(t.shared)
	return t, nil
}

func (t *types) read(file string) error {
	text, err := kinds.Files.ReadFile(file)
	if err != nil {
		return err
	}
	var content struct {
		Messages yaml.Node `yaml:"messages"`
	}
	if err := yaml.Unmarshal(text, &content); err != nil {
		return err
	}
	return pairs(&content.Messages, func(name string, value *yaml.Node) error {
		m := &message{shared: strings.HasPrefix(file, "types/")}
		if err := value.Decode(&m.spec); err != nil {
			return err
		}
		var own struct {
			Fields yaml.Node `yaml:"fields"`
		}
		if err := value.Decode(&own); err != nil {
			return err
		}
		t.messages[name] = m
		if m.shared {
			t.shared = append(t.shared, name)
		}
		return pairs(&own.Fields, func(name string, value *yaml.Node) error {
			f := field{name: name}
			err := value.Decode(&f.spec)
			m.fields = append(m.fields, f)
			return err
		})
	})
}

// pairs calls do with each member of a mapping, in order.
func pairs(n *yaml.Node, do func(name string, value *yaml.Node) error) error {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if err := do(n.Content[i].Value, n.Content[i+1]); err != nil {
			return err
		}
	}
	return nil
}

// word is a name in a type, such as Container in list<Container>.
var word = regexp.MustCompile(`[A-Za-z0-9]+`)

// write writes the fields of a message, and after them the messages that they have, unless done has
// them. The page sharedPage has the shared ones.
func (t *types) write(page *bytes.Buffer, name, sharedPage string, done map[string]bool) {
	m := t.messages[name]
	if m == nil || done[name] || m.shared && sharedPage != "" {
		return
	}
	done[name] = true
	fmt.Fprintf(page, "\n### %s\n", name)
	if m.spec.Description != "" {
		fmt.Fprintf(page, "\n%s\n", m.spec.Description)
	}
	t.table(page, m, sharedPage)
	for _, f := range m.fields {
		for _, below := range word.FindAllString(f.spec.Type, -1) {
			t.write(page, below, sharedPage, done)
		}
	}
}

func (t *types) table(page *bytes.Buffer, m *message, sharedPage string) {
	if len(m.fields) == 0 {
		return
	}
	page.WriteString("\n| field | type | |\n|---|---|---|\n")
	for _, f := range m.fields {
		text := cell(f.spec.Description)
		for _, note := range notes(&f.spec) {
			text += " " + note + "."
		}
		fmt.Fprintf(page, "| %s | %s | %s |\n", code(f.name), t.link(f.spec.Type, sharedPage), strings.TrimSpace(text))
	}
}

// link formats a type, with a link for each message in it.
func (t *types) link(text, sharedPage string) string {
	text = strings.NewReplacer("<", "&lt;", ">", "&gt;").Replace(text)
	return word.ReplaceAllStringFunc(text, func(name string) string {
		m := t.messages[name]
		switch {
		case m == nil:
			return name
		case m.shared:
			return fmt.Sprintf("[%s](%s#%s)", name, sharedPage, strings.ToLower(name))
		}
		return fmt.Sprintf("[%s](#%s)", name, strings.ToLower(name))
	})
}

// notes returns what a field's constraints are, in words.
func notes(f *schema.FieldSpec) (all []string) {
	if f.Required {
		all = append(all, "Required")
	}
	if f.Immutable {
		all = append(all, "Immutable")
	}
	if values := slices.Concat(f.Enum, f.EnumOpen, f.ItemEnum); len(values) > 0 {
		all = append(all, "One of "+code(strings.Join(values, "`, `")))
	}
	switch {
	case f.Min != nil && f.Max != nil:
		all = append(all, fmt.Sprintf("%d to %d", *f.Min, *f.Max))
	case f.Min != nil:
		all = append(all, fmt.Sprintf("At least %d", *f.Min))
	case f.Max != nil:
		all = append(all, fmt.Sprintf("At most %d", *f.Max))
	}
	if d := f.Default; !d.IsZero() && d.Kind == yaml.ScalarNode && d.Value != "" && f.DefaultWhen == "" && f.DefaultIf == "" {
		all = append(all, "Default "+code(d.Value))
	}
	if len(f.Contexts) > 0 {
		all = append(all, "*"+strings.Join(f.Contexts, ", ")+"*")
	}
	return all
}

// page returns the page of the shared types.
func (t *types) page(served []*schema.Kind) []byte {
	var page bytes.Buffer
	page.WriteString("# API reference: shared types\n\n" + generated + "\n[All groups](README.md)\n")
	page.WriteString("\nA field with words in *italics* exists only in some kinds:\n\n")
	contexts := map[string][]string{}
	for _, k := range served {
		for _, c := range k.Spec.Contexts {
			contexts[c] = append(contexts[c], k.QualifiedKind())
		}
	}
	for _, c := range t.contexts() {
		fmt.Fprintf(&page, "- *%s*: %s\n", c, strings.Join(slices.Compact(contexts[c]), ", "))
	}
	done := map[string]bool{}
	for _, name := range t.shared {
		t.write(&page, name, "", done)
	}
	return page.Bytes()
}

// contexts returns the contexts that some shared field needs, sorted.
func (t *types) contexts() (all []string) {
	for _, name := range t.shared {
		for _, f := range t.messages[name].fields {
			all = append(all, f.spec.Contexts...)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}
