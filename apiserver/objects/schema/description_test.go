package schema

import (
	"strings"
	"testing"
	"unicode/utf8"

	"quorate/apiserver/kinds"
)

// maxDescription is the maximum length of a description in characters, because `kubectl explain`
// prints it in full.
const maxDescription = 240

func TestEveryMessageAndFieldIsDescribed(t *testing.T) {
	t.Parallel()
	src, err := readSources(kinds.Files)
	if err != nil {
		t.Fatal(err)
	}
	for name, m := range src.messages {
		if why := undescribed(m.spec.Description, name); why != "" {
			t.Errorf("%s: %s: %s", m.file, name, why)
		}
		sameText := map[string]string{}
		for _, f := range m.spec.Fields {
			text := f.spec.Description
			if why := undescribed(text, f.name); why != "" {
				t.Errorf("%s: %s.%s: %s", m.file, name, f.name, why)
			}
			if other, dup := sameText[text]; dup {
				t.Errorf("%s: %s: %s and %s have one description", m.file, name, other, f.name)
			}
			sameText[text] = f.name
		}
	}
}

// undescribed returns what is wrong with a field's description, or "" if it is valid.
func undescribed(text, name string) string {
	switch {
	case text == "":
		return "no description"
	case utf8.RuneCountInString(text) > maxDescription:
		return "the description is too long"
	case !strings.HasSuffix(text, "."):
		return "the description ends without a full stop"
	case strings.Join(strings.Fields(text), " ") != text:
		return "the description has more than single spaces"
	case strings.EqualFold(strings.ReplaceAll(text, " ", ""), name+"."):
		return "the description only repeats the name"
	}
	return ""
}
