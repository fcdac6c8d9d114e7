package negotiate

import (
	"bytes"
	"encoding/json"
	"fmt"

	"quorate/apiserver/objects/schema"
)

// List writes a list document in pieces in any form: AppendHead, AppendItem for each item,
// AppendTail. In protobuf a length precedes its content, so callers first call Measure with each
// item of such a list. After AppendHead they write the Pieces, which are the first Kept items, and
// call AppendItem only for the rest. In other forms a List holds at most one item in memory.
type List struct {
	Form Form
	// Kind and APIVersion are those of the list document.
	Kind, APIVersion string
	// Columns has the columnDefinitions of a Table as compact JSON; nil for other lists.
	Columns []byte
	// Item is the kind of the items, for protobuf.
	Item *schema.Kind
	// Metadata is the list's metadata as compact JSON.
	Metadata []byte
	// Keep reserves the given number of bytes, from a bound shared by all lists, for the items that
	// Measure keeps. It returns false if the bound is reached. nil means no bound.
	Keep func(bytes int) bool

	scratch  bytes.Buffer
	items    int
	protobuf protobufList
}

// The names of the members that contain the items.
const (
	listItems = "items"
	tableRows = "rows"
)

func (l *List) member() string {
	if l.Columns != nil {
		return tableRows
	}
	return listItems
}

// AppendHead appends the part of the document before the first item.
func (l *List) AppendHead(b []byte) ([]byte, error) {
	switch l.Form {
	case Protobuf, KubernetesProtobuf:
		return l.appendProtobufHead(b)
	case PrettyJSON:
		b = fmt.Appendf(b, "{\n  \"kind\": %q,\n  \"apiVersion\": %q,\n  \"metadata\": ", l.Kind, l.APIVersion)
		b = append(b, l.indented(l.Metadata, indent)...)
		if l.Columns != nil {
			b = append(append(b, ",\n  \"columnDefinitions\": "...), l.indented(l.Columns, indent)...)
		}
		return fmt.Appendf(b, ",\n  %q: [", l.member()), nil
	case YAML:
		return l.appendYAMLHead(b)
	}
	b = append(append(b, `{"kind":"`...), l.Kind...)
	b = append(append(b, `","apiVersion":"`...), l.APIVersion...)
	b = append(append(b, `","metadata":`...), l.Metadata...)
	if l.Columns != nil {
		b = append(append(b, `,"columnDefinitions":`...), l.Columns...)
	}
	b = append(append(b, `,"`...), l.member()...)
	return append(b, `":[`...), nil
}

// AppendItem appends one item. value is its stored value, of which AppendItem omits the first skip
// bytes after the opening brace.
func (l *List) AppendItem(b, value []byte, skip int) ([]byte, error) {
	first := l.items == 0
	l.items++
	if l.Form == JSON {
		if !first {
			b = append(b, ',')
		}
		b = append(b, '{')
		return append(b, value[skip:]...), nil
	}
	if l.Form.Binary() {
		return l.appendProtobufItem(b, value)
	}
	item := append([]byte{'{'}, value[skip:]...)
	if l.Form == PrettyJSON {
		if !first {
			b = append(b, ',')
		}
		b = append(b, "\n    "...)
		return append(b, l.indented(item, indent+indent)...), nil
	}
	text, err := schema.ToYAML(item)
	if err != nil {
		return nil, fmt.Errorf("write a list item as YAML: %w", err)
	}
	return appendYAMLItem(b, text), nil
}

// AppendTail appends the part of the document after the last item.
func (l *List) AppendTail(b []byte) ([]byte, error) {
	switch l.Form {
	case Protobuf, KubernetesProtobuf:
		return l.appendProtobufTail(b)
	case PrettyJSON:
		if l.items > 0 {
			b = append(b, "\n  "...)
		}
		return append(b, "]\n}\n"...), nil
	case YAML:
		return l.appendYAMLTail(b)
	}
	return append(b, "]}"...), nil
}

// appendYAMLHead appends the head in YAML. The converter sorts members by name, so the items
// precede the kind and the metadata of a list, and these follow in appendYAMLTail.
func (l *List) appendYAMLHead(b []byte) ([]byte, error) {
	b = fmt.Appendf(b, "apiVersion: %s\n", l.APIVersion)
	if l.Columns == nil {
		return append(append(b, listItems...), ':'), nil
	}
	columns, err := schema.ToYAML(l.Columns)
	if err != nil {
		return nil, fmt.Errorf("write columns as YAML: %w", err)
	}
	b = append(append(b, "columnDefinitions:\n"...), columns...)
	b, err = l.appendYAMLMetadata(b)
	return append(append(b, tableRows...), ':'), err
}

func (l *List) appendYAMLTail(b []byte) ([]byte, error) {
	if l.items == 0 {
		b = append(b, " []"...)
	}
	b = append(b, '\n')
	if l.Columns != nil {
		return b, nil
	}
	return l.appendYAMLMetadata(b)
}

func (l *List) appendYAMLMetadata(b []byte) ([]byte, error) {
	b = fmt.Appendf(b, "kind: %s\nmetadata:\n", l.Kind)
	metadata, err := schema.ToYAML(l.Metadata)
	if err != nil {
		return nil, fmt.Errorf("write list metadata as YAML: %w", err)
	}
	for line := range bytes.Lines(metadata) {
		b = append(append(b, indent...), line...)
	}
	return b, nil
}

// appendYAMLItem appends a document, indented as an item of a list. It leaves blank lines
// unchanged: they occur only inside block scalars.
func appendYAMLItem(b, text []byte) []byte {
	prefix := "\n- "
	for line := range bytes.Lines(text) {
		line = bytes.TrimSuffix(line, []byte("\n"))
		if len(line) == 0 {
			b = append(b, '\n')
			continue
		}
		b = append(append(b, prefix...), line...)
		prefix = "\n  "
	}
	return b
}

// indented returns the indented text, which is valid until the next call. text must be valid JSON.
func (l *List) indented(text []byte, prefix string) []byte {
	l.scratch.Reset()
	if err := json.Indent(&l.scratch, text, prefix, indent); err != nil {
		return text
	}
	return l.scratch.Bytes()
}
