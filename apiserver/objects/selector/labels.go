package selector

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"

	"quorate/raftstore/state"
)

// comparison is the condition of a label term on the value.
type comparison uint8

const (
	in comparison = iota
	notIn
	exists
	missing
	greater
	less
)

type labelTerm struct {
	key     string
	compare comparison
	values  []string // sorted; for in and notIn
	number  int64    // operand of greater and less
	trace   string   // text that every matching label attribute contains; "" if there is none
}

// requirementError is the prefix of all errors about label selectors (C7).
const requirementError = "unable to parse requirement: "

// parseLabels parses a label selector with the library's parser. Like the reference, it adds a
// common prefix to all errors and rejects empty sets (C6).
func parseLabels(text string) (labels.Selector, error) {
	parsed, err := labels.Parse(text)
	if err != nil {
		if strings.HasPrefix(err.Error(), requirementError) {
			return nil, err
		}
		return nil, fmt.Errorf(requirementError+"%w", err)
	}
	for rest := text; ; {
		var ok bool
		if _, rest, ok = strings.Cut(rest, "("); !ok {
			return parsed, nil
		}
		if strings.HasPrefix(strings.TrimSpace(rest), ")") {
			return nil, errors.New(requirementError + "for 'in', 'notin' operators, values set can't be empty")
		}
	}
}

func newLabelTerm(r *labels.Requirement) (labelTerm, error) {
	t := labelTerm{key: r.Key(), values: r.ValuesUnsorted()}
	slices.Sort(t.values)
	switch r.Operator() {
	case selection.In, selection.Equals, selection.DoubleEquals:
		t.compare = in
		if len(t.values) == 1 {
			t.trace = trace(t.key, t.values[0])
		}
	case selection.NotIn, selection.NotEquals:
		t.compare = notIn
	case selection.Exists:
		t.compare = exists
	case selection.DoesNotExist:
		t.compare = missing
	case selection.GreaterThan, selection.LessThan:
		t.compare = greater
		if r.Operator() == selection.LessThan {
			t.compare = less
		}
		n, err := strconv.ParseInt(t.values[0], 10, 64)
		if err != nil {
			return labelTerm{}, fmt.Errorf("unable to parse requirement: %q is not an integer", t.values[0])
		}
		t.number = n
	default:
		return labelTerm{}, fmt.Errorf("unable to parse requirement: unknown operator %q", r.Operator())
	}
	return t, nil
}

// trace returns the text that represents a name and value within attributes. Searching for the text
// rejects most objects much faster than parsing their attributes does (BenchmarkWalk). An object
// that contains the text does not necessarily match.
func trace(name, value string) string {
	return string(state.NewAttributes(map[string]string{name: value}))
}

// matches evaluates one label term. Only negative operators match objects without the label (C6).
func (t *labelTerm) matches(labels state.Attributes) bool {
	if !strings.Contains(string(labels), t.trace) {
		return false
	}
	value, ok := labels.Get(t.key)
	switch t.compare {
	case exists:
		return ok
	case missing:
		return !ok
	case in:
		return ok && t.has(value)
	case notIn:
		return !ok || !t.has(value)
	default:
		return ok && t.compareNumber(value)
	}
}

func (t *labelTerm) has(value string) bool {
	if len(t.values) == 1 {
		return t.values[0] == value
	}
	_, found := slices.BinarySearch(t.values, value)
	return found
}

func (t *labelTerm) compareNumber(value string) bool {
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil {
		return false
	}
	if t.compare == greater {
		return n > t.number
	}
	return n < t.number
}
