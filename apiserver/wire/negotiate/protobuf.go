package negotiate

import (
	"errors"

	"quorate/apiserver/objects/schema"
	"quorate/apiserver/wire/status"
)

// AppendProtobuf appends an object of a kind, given as compact JSON, as protobuf in its envelope:
// magic bytes, then apiVersion, kind and the message (B20).
func AppendProtobuf(dst, object []byte, k *schema.Kind) ([]byte, error) {
	return k.AppendProtobufEnvelope(dst, object)
}

// protobuf returns a Status as protobuf in its envelope.
func (t *Statuses) protobuf(s *status.Status) ([]byte, error) {
	v, _, err := t.message.Decode(s.JSON())
	if err != nil {
		return nil, errors.New("write a Status as protobuf: " + err.Error())
	}
	return schema.AppendEnvelope(nil, statusVersion, statusKind, v.AppendProtobuf(nil)), nil
}

// decodeProtobuf decodes an object from its envelope. As in a JSON body, the envelope's kind and
// apiVersion must be those of the route, and default to them (A34–A36).
func decodeProtobuf(body []byte, k *schema.Kind) (*schema.Object, schema.Problems, error) {
	if !k.HasProtobuf() { // instances of third-party kinds have no protobuf form (B21)
		return nil, schema.Problems{}, unsupported(false)
	}
	apiVersion, kind, raw, err := schema.CutEnvelope(body)
	if err != nil {
		return nil, schema.Problems{}, err
	}
	if apiVersion == "" {
		apiVersion = k.APIVersion
	}
	if kind == "" {
		kind = k.Kind
	}
	if err := k.CheckIdentity(apiVersion, kind); err != nil {
		return nil, schema.Problems{}, err
	}
	return k.DecodeProtobuf(raw)
}

// decodeMessageProtobuf decodes a message from its envelope, and sets its kind and apiVersion from
// there.
func decodeMessageProtobuf(body []byte, m *schema.Message) (*schema.Value, schema.Problems, error) {
	apiVersion, kind, raw, err := schema.CutEnvelope(body)
	if err != nil {
		return nil, schema.Problems{}, err
	}
	v, problems, err := m.DecodeProtobuf(raw)
	if err != nil {
		return nil, problems, err
	}
	for name, text := range map[string]string{"apiVersion": apiVersion, "kind": kind} {
		if text != "" && m.Field(name) != nil {
			v.Make(name).SetStr(text)
		}
	}
	return v, problems, nil
}
