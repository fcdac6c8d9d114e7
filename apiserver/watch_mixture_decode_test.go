package apiserver_test

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"
)

// readMixed decodes the events of a stream until it ends.
func readMixed(r io.Reader, as mixedForm, each func(mixedEvent)) error {
	lines := json.NewDecoder(r)
	for {
		var e mixedEvent
		var err error
		if as.binary {
			e, err = readBinary(r)
		} else {
			e, err = readJSON(lines, as)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		each(e)
	}
}

// mixedMeta is the metadata of an object.
type mixedMeta struct {
	Kind, APIVersion string
	Metadata         struct {
		Name, Namespace, ResourceVersion string
		Annotations                      map[string]string
	}
}

func readJSON(lines *json.Decoder, as mixedForm) (mixedEvent, error) {
	var frame struct {
		Type   string
		Object struct {
			mixedMeta
			ColumnDefinitions []json.RawMessage
			Rows              []struct {
				Cells  []any
				Object mixedMeta
			}
		}
	}
	if err := lines.Decode(&frame); err != nil {
		return mixedEvent{}, err
	}
	o := frame.Object.mixedMeta
	e := mixedEvent{word: frame.Type, kind: o.Kind, apiVersion: o.APIVersion, columns: frame.Object.ColumnDefinitions != nil}
	version := o.Metadata.ResourceVersion
	if as.kind == "Table" && e.word != "BOOKMARK" {
		if len(frame.Object.Rows) != 1 {
			return e, fmt.Errorf("%d rows", len(frame.Object.Rows))
		}
		row := frame.Object.Rows[0]
		o = row.Object
		if as.row == "None" {
			o.Metadata.Name = fmt.Sprint(row.Cells[0])
		} else if o.Metadata.ResourceVersion != version {
			return e, fmt.Errorf("a row of version %s in a table of %s", o.Metadata.ResourceVersion, version)
		}
		if as.row == "Object" {
			e.apiVersion = o.APIVersion
		}
	}
	e.namespace, e.name, e.n = o.Metadata.Namespace, o.Metadata.Name, o.Metadata.Annotations["n"]
	var err error
	e.version, err = strconv.ParseUint(version, 10, 64)
	return e, err
}

// readBinary reads a frame of D5, with nothing of ours: a length, and a WatchEvent.
func readBinary(r io.Reader) (mixedEvent, error) {
	var size [4]byte
	if _, err := io.ReadFull(r, size[:]); err != nil {
		return mixedEvent{}, err
	}
	frame := make([]byte, binary.BigEndian.Uint32(size[:]))
	if _, err := io.ReadFull(r, frame); err != nil {
		return mixedEvent{}, err
	}
	event := wireFields(frame)
	envelope := wireFields(wireFields(event[2])[1][4:])
	about, meta := wireFields(envelope[1]), wireFields(wireFields(envelope[2])[1])
	e := mixedEvent{
		word: string(event[1]), apiVersion: string(about[1]), kind: string(about[2]),
		name: string(meta[1]), namespace: string(meta[3]), n: string(wireFields(meta[12])[2]),
	}
	var err error
	e.version, err = strconv.ParseUint(string(meta[6]), 10, 64)
	return e, err
}

// wireFields are the length-delimited fields of a message, the last of each number.
func wireFields(message []byte) map[protowire.Number][]byte {
	fields := make(map[protowire.Number][]byte)
	for len(message) > 0 {
		number, kind, n := protowire.ConsumeTag(message)
		if n < 0 {
			break
		}
		message = message[n:]
		if kind == protowire.BytesType {
			fields[number], n = protowire.ConsumeBytes(message)
		} else {
			n = protowire.ConsumeFieldValue(number, kind, message)
		}
		if n < 0 {
			break
		}
		message = message[n:]
	}
	return fields
}
