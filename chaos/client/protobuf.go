package client

import (
	"bytes"
	"errors"
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
)

// protobufMagic is the prefix of every object in protobuf.
const protobufMagic = "k8s\x00"

var errProtobuf = errors.New("malformed protobuf")

// fields calls each with every field of a message: its number, and its bytes or its number.
func fields(message []byte, each func(number protowire.Number, content []byte, value uint64) error) error {
	for len(message) > 0 {
		number, kind, n := protowire.ConsumeTag(message)
		if n < 0 {
			return fmt.Errorf("%w: %w", errProtobuf, protowire.ParseError(n))
		}
		message = message[n:]
		var content []byte
		var value uint64
		switch kind {
		case protowire.BytesType:
			content, n = protowire.ConsumeBytes(message)
		case protowire.VarintType:
			value, n = protowire.ConsumeVarint(message)
		default:
			n = protowire.ConsumeFieldValue(number, kind, message)
		}
		if n < 0 {
			return fmt.Errorf("%w: field %d: %w", errProtobuf, number, protowire.ParseError(n))
		}
		if err := each(number, content, value); err != nil {
			return err
		}
		message = message[n:]
	}
	return nil
}

// parseProtobufNotice reads one frame of a watch: WatchEvent{1: type, 2: RawExtension{1: raw}}.
func parseProtobufNotice(frame []byte) (n Notice, err error) {
	var raw []byte
	err = fields(frame, func(number protowire.Number, content []byte, _ uint64) error {
		switch number {
		case 1:
			n.Type = string(content)
		case 2:
			return fields(content, func(_ protowire.Number, object []byte, _ uint64) error { raw = object; return nil })
		}
		return nil
	})
	if err != nil {
		return n, fmt.Errorf("%w: event: %w", ErrRefused, err)
	}
	apiVersion, kind, object, err := unwrap(raw)
	if err != nil {
		return n, fmt.Errorf("%w: event: %w", ErrRefused, err)
	}
	if n.Type == "ERROR" {
		return n, refusedProtobuf(kind, object)
	}
	n.Object, err = parseProtobuf(apiVersion, kind, object)
	if err != nil {
		return n, fmt.Errorf("%w: event: %w", ErrRefused, err)
	}
	return n, nil
}

// unwrap opens the envelope of an object: Unknown{1: TypeMeta{1: apiVersion, 2: kind}, 2: raw}.
func unwrap(enveloped []byte) (apiVersion, kind string, object []byte, err error) {
	message, ok := bytes.CutPrefix(enveloped, []byte(protobufMagic))
	if !ok {
		return "", "", nil, fmt.Errorf("%w: %.20q has no envelope", errProtobuf, enveloped)
	}
	err = fields(message, func(number protowire.Number, content []byte, _ uint64) error {
		switch number {
		case 1:
			return fields(content, func(number protowire.Number, text []byte, _ uint64) error {
				if number == 1 {
					apiVersion = string(text)
				} else {
					kind = string(text)
				}
				return nil
			})
		case 2:
			object = content
		}
		return nil
	})
	return apiVersion, kind, object, err
}

// refusedProtobuf is the error of an ERROR event.
func refusedProtobuf(kind string, raw []byte) error {
	status, err := unwrappedStatus(kind, raw)
	if err != nil {
		return fmt.Errorf("%w: error event: %w", ErrRefused, err)
	}
	return status.refusal()
}

// parseProtobuf reads an object: {1: metadata, 2: data of a ConfigMap or spec, 3: status}.
func parseProtobuf(apiVersion, kind string, object []byte) (Resource, error) {
	r := Resource{APIVersion: apiVersion, Kind: kind}
	err := fields(object, func(number protowire.Number, content []byte, _ uint64) error {
		switch {
		case number == 1:
			return r.protobufMeta(content)
		case number == 2 && kind == "ConfigMap":
			return addEntry(&r.Data, content)
		case number == 2:
			return r.protobufSpec(content)
		case number == 3 && kind == "Pod":
			return fields(content, func(number protowire.Number, phase []byte, _ uint64) error {
				if number == 1 {
					r.Phase = string(phase)
				}
				return nil
			})
		}
		return nil
	})
	return r, err
}

// protobufMeta reads the fields of ObjectMeta.
func (r *Resource) protobufMeta(meta []byte) error {
	return fields(meta, func(number protowire.Number, content []byte, _ uint64) (err error) {
		switch number {
		case 1:
			r.Name = string(content)
		case 3:
			r.Namespace = string(content)
		case 5:
			r.UID = string(content)
		case 6:
			r.Version, err = parseVersion(string(content))
		case 9:
			r.Deleting = true
		case 11:
			err = addEntry(&r.Labels, content)
		case 12:
			err = addEntry(&r.Annotations, content)
		case 14:
			r.Finalizers = append(r.Finalizers, string(content))
		}
		return err
	})
}

// protobufSpec reads nodeName of a Pod, and replicas of others.
func (r *Resource) protobufSpec(spec []byte) error {
	const nodeName, replicas = 10, 1
	return fields(spec, func(number protowire.Number, content []byte, value uint64) error {
		switch {
		case r.Kind == "Pod" && number == nodeName:
			r.Node = string(content)
		case r.Kind != "Pod" && number == replicas:
			r.Replicas = int64(value)
		}
		return nil
	})
}

// addEntry adds an entry of a map: {1: key, 2: value}.
func addEntry(m *map[string]string, entry []byte) error {
	var pair [2]string
	err := fields(entry, func(number protowire.Number, content []byte, _ uint64) error {
		if number == 1 || number == 2 {
			pair[number-1] = string(content)
		}
		return nil
	})
	if *m == nil {
		*m = map[string]string{}
	}
	(*m)[pair[0]] = pair[1]
	return err
}
