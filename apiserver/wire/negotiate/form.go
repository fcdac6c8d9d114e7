package negotiate

// Form is an encoding of a response.
type Form uint8

// The forms of answers.
const (
	JSON       Form = iota // compact, one line
	PrettyJSON             // indented by two spaces, with a line feed at the end
	YAML
	Protobuf
	KubernetesProtobuf // Protobuf under the media type that stock clients use, an alias (B19)

	// Forms is the number of forms.
	Forms = iota
)

// Media types.
const (
	jsonType               = "application/json"
	yamlType               = "application/yaml"
	protobufType           = "application/vnd.platform.protobuf"
	kubernetesProtobufType = "application/vnd.kubernetes.protobuf"
)

// streamParameter follows the media type in the Content-Type of a watch stream (D6).
const streamParameter = ";stream=watch"

// Binary reports whether the form is protobuf.
func (f Form) Binary() bool { return f == Protobuf || f == KubernetesProtobuf }

// ContentType returns the form's Content-Type (specification §4.3).
func (f Form) ContentType() string {
	switch f {
	case YAML:
		return yamlType
	case Protobuf:
		return protobufType
	case KubernetesProtobuf:
		return kubernetesProtobufType
	}
	return jsonType
}

// StreamType returns the Content-Type of a watch stream in the form (D6).
func (f Form) StreamType() string { return f.ContentType() + streamParameter }

// formOf returns the form that a media type names.
func formOf(media string) (f Form, ok bool) {
	switch media {
	case jsonType:
		return JSON, true
	case yamlType:
		return YAML, true
	case protobufType:
		return Protobuf, true
	case kubernetesProtobufType:
		return KubernetesProtobuf, true
	}
	return JSON, false
}

// Offer is a set of forms.
type Offer uint8

// Offered returns the set of JSON and other forms.
func Offered(forms ...Form) Offer {
	o := Offer(1 << JSON)
	for _, f := range forms {
		o |= 1 << f
	}
	return o
}

func (o Offer) has(f Form) bool { return o&(1<<f) != 0 }

// types returns the media types of an offer without the aliases, for the message of a 406 (B23).
func (o Offer) types(stream bool) []string {
	var types []string
	for _, f := range []Form{JSON, YAML, Protobuf} {
		if !o.has(f) {
			continue
		}
		types = append(types, f.ContentType())
		if stream {
			types = append(types, f.StreamType())
		}
	}
	return types
}
