package structural

import (
	"errors"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

var errNoField = errors.New("does not refer to a valid field")

// fieldPath parses the path of a field below a schema, such as .spec.name or .labels['a.b'].
func fieldPath(path string, k *keywords) (*field.Path, error) {
	var out *field.Path
	for path != "" {
		name, rest, err := firstStep(path)
		if err != nil {
			return nil, err
		}
		switch {
		case k == nil:
			return nil, errNoField
		case len(k.properties) > 0:
			if k = k.property(name); k == nil {
				return nil, errNoField
			}
			out = out.Child(name)
		case k.additional != nil:
			k = k.additional.schema
			out = out.Key(name)
		default:
			return nil, errNoField
		}
		path = rest
	}
	return out, nil
}

// firstStep returns the name in the first step of a path, and the path after it.
func firstStep(path string) (name, rest string, err error) {
	switch path[0] {
	case '.':
		path = path[1:]
		end := strings.IndexAny(path, ".[]")
		if end < 0 {
			end = len(path)
		}
		if end == 0 {
			return "", "", errors.New("unexpected end of JSON path")
		}
		return path[:end], path[end:], nil
	case '[':
		return quotedStep(path[1:])
	}
	return "", "", errors.New("expected [ or . but got: " + path)
}

// quotedStep parses the step in brackets that begins path, without its opening bracket.
func quotedStep(path string) (name, rest string, err error) {
	if path == "" || path[0] != '\'' {
		return "", "", errors.New("expected single quoted string")
	}
	var b strings.Builder
	for i := 1; i < len(path); i++ {
		switch c := path[i]; c {
		case '\'':
			if i+1 == len(path) || path[i+1] != ']' {
				return "", "", errors.New("expected ]")
			}
			return b.String(), path[i+2:], nil
		case '\\':
			i++
			at := -1
			if i < len(path) {
				at = strings.IndexByte(`abfnrtv'\`, path[i])
			}
			if at < 0 {
				return "", "", errors.New("invalid escape sequence")
			}
			b.WriteByte("\a\b\f\n\r\t\v'\\"[at])
		default:
			b.WriteByte(c)
		}
	}
	return "", "", errors.New("unexpected end of JSON path")
}
