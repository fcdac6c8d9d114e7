package negotiate

import (
	"bytes"
	"encoding/json"
	"fmt"

	"quorate/apiserver/schema"
)

// List writes a list document piece by piece, in any form: AppendHead, AppendItem for each item, AppendTail. Protobuf has lengths
// before what they count: for that form call Measure with each item before AppendHead, and write Pieces, which are the first of
// them, after it. Of other forms it holds no more than one item.
type List struct {
	Form Form
	Kind *schema.Kind
	// Metadata is the list's metadata as compact JSON.
	Metadata []byte
	// Keep is asked for memory, of all lists together, to keep so many bytes; nil has enough.
	Keep func(bytes int) bool

	scratch  bytes.Buffer
	items    int
	protobuf protobufList
}

// AppendHead appends what comes before the first item.
func (l *List) AppendHead(b []byte) ([]byte, error) {
	switch l.Form {
	case Protobuf, KubernetesProtobuf:
		return l.appendProtobufHead(b)
	case PrettyJSON:
		b = fmt.Appendf(b, "{\n  \"kind\": %q,\n  \"apiVersion\": %q,\n  \"metadata\": ", l.Kind.ListKind, l.Kind.APIVersion)
		return append(append(b, l.indented(l.Metadata, indent)...), ",\n  \"items\": ["...), nil
	case YAML:
		return fmt.Appendf(b, "apiVersion: %s\nitems:", l.Kind.APIVersion), nil
	}
	b = append(b, `{"kind":"`...)
	b = append(b, l.Kind.ListKind...)
	b = append(b, `","apiVersion":"`...)
	b = append(b, l.Kind.APIVersion...)
	b = append(b, `","metadata":`...)
	b = append(b, l.Metadata...)
	return append(b, `,"items":[`...), nil
}

// AppendItem appends one item, a stored value whose first skip bytes after the brace are to be left out.
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

// AppendTail appends what comes after the last item.
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

func (l *List) appendYAMLTail(b []byte) ([]byte, error) {
	if l.items == 0 {
		b = append(b, " []"...)
	}
	b = fmt.Appendf(b, "\nkind: %s\nmetadata:", l.Kind.ListKind)
	metadata, err := schema.ToYAML(l.Metadata)
	if err != nil {
		return nil, fmt.Errorf("write list metadata as YAML: %w", err)
	}
	for line := range bytes.Lines(metadata) {
		b = append(append(b, '\n'), indent...)
		b = append(b, bytes.TrimSuffix(line, []byte("\n"))...)
	}
	return append(b, '\n'), nil
}

// appendYAMLItem indents a document as an item of a list. Blank lines stay blank: they can only be inside of block scalars.
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

// indented returns the indented text, good until the next call. The text is ours: it is valid JSON.
func (l *List) indented(text []byte, prefix string) []byte {
	l.scratch.Reset()
	if err := json.Indent(&l.scratch, text, prefix, indent); err != nil {
		return text
	}
	return l.scratch.Bytes()
}
