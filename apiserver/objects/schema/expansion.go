package schema

import (
	"bytes"
	"fmt"

	"quorate/apiserver/limit"
)

// What decoding allocates, in bytes. The figures are upper bounds: the memory of a body is reserved
// before it is decoded.
const (
	// valueBytes is for a Value (40), its places in its parent and in the lists that grow while the
	// parent is read, and its key in a map.
	valueBytes = 112
	// boxBytes is for the box of a message, list or map, and the room in its parent's chunk.
	boxBytes = 64
	// slotBytes is for one field of a message, set or not.
	slotBytes = 8
	// repeatedFields is how many fields the largest message has that lists hold, or less.
	repeatedFields = 44
	// defaultedBytes is for the values that defaults add to one message.
	defaultedBytes = 256
	// yamlNodeBytes is for a node of the tree that the YAML library makes (160), its place in its
	// parent, and its text.
	yamlNodeBytes = 256
	// packedBytes is for one byte of protobuf, which can be a number of a packed list. Most other
	// values take two bytes or more.
	packedBytes = 64
)

// maxYAMLNodes bounds the nodes of a YAML document. It is as many as the items of the largest
// object that can be stored, and take a quarter of a GiB.
const maxYAMLNodes = 1 << 20

// JSONExpansion returns an upper bound of the memory, in bytes, that decoding a JSON text takes. It
// counts the characters that begin or separate values and the word null, even within strings.
//
// The bound does not include the bytes by which the allocator rounds up.
func JSONExpansion(text []byte) int64 {
	objects := int64(bytes.Count(text, []byte("{")))
	lists := int64(bytes.Count(text, []byte("[")))
	values := 1 + objects + lists + int64(bytes.Count(text, []byte(",")))
	objects += int64(bytes.Count(text, []byte("null"))) // as an item, a message without a field
	slots := min(objects*repeatedFields, maxSlots)
	return int64(len(text)) + values*valueBytes + (objects+lists)*boxBytes + objects*defaultedBytes + slots*slotBytes
}

// ProtobufExpansion returns at most how many bytes the decoding of n bytes of protobuf takes.
func ProtobufExpansion(n int) int64 {
	slots := min(int64(n)*repeatedFields/2, maxSlots)
	return int64(n)*(1+packedBytes) + slots*slotBytes
}

// YAMLExpansion returns at most how many bytes the conversion of YAML to JSON takes.
func YAMLExpansion(body []byte) int64 {
	return int64(len(body)) + min(yamlNodes(body), maxYAMLNodes)*yamlNodeBytes
}

// yamlNodes returns an upper bound of the number of nodes of a YAML document. Each node belongs to
// an indicator:
//
//   - `[` and `{` begin a collection and its first item; `{` also begins an empty value;
//   - `,` begins an item, and in a mapping also an empty value;
//   - `-` begins an item, and the first one begins a sequence (see yamlEntries);
//   - `:` and `?` begin a key, a value and, the first time, a mapping;
//   - `#` begins a comment and `&` an anchor, which take as much memory as a node.
//
// It also counts these characters in strings and comments. A document with very many of them should
// be sent as JSON.
func yamlNodes(body []byte) int64 {
	count := func(c byte) int64 { return int64(bytes.Count(body, []byte{c})) }
	mappings := count('{')
	item := int64(1)
	if mappings > 0 {
		item = 2
	}
	return 2 + 3*mappings + 2*count('[') + item*count(',') + 2*yamlEntries(body) + 3*(count(':')+count('?')) +
		count('#') + count('&')
}

// yamlEntries counts each `-` that something other than text follows. A part of a word or a number
// is no item.
func yamlEntries(body []byte) int64 {
	n := int64(0)
	for rest := body; ; {
		i := bytes.IndexByte(rest, '-')
		if i < 0 {
			return n
		}
		rest = rest[i+1:]
		if len(rest) == 0 || rest[0] <= ' ' || rest[0] >= 0x80 {
			n++
		}
	}
}

// checkYAMLNodes refuses a document that could have too many nodes.
func checkYAMLNodes(body []byte) error {
	if yamlNodes(body) <= maxYAMLNodes {
		return nil
	}
	return limit.Reached(limit.YAMLNodes,
		fmt.Errorf("yaml: the document may have more than %d nodes, by the indicators in it: send it as JSON", maxYAMLNodes))
}

// Memory returns about how many bytes the object's values take, texts left out.
func (o *Object) Memory() int64 { return o.root.memory() }

func (v *Value) memory() int64 {
	if v == nil {
		return 0
	}
	n := int64(valueBytes)
	if v.box == nil || v.box == textual {
		return n
	}
	n += boxBytes + slotBytes*int64(cap(v.box.kids))
	for _, kid := range v.box.kids {
		n += kid.memory()
	}
	return n
}
