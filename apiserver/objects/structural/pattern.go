package structural

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"quorate/apiserver/limit"
	"quorate/apiserver/objects/expression"
)

// Bounds of regular expressions, in instructions of their programs. Matching a text takes at most
// time proportional to the product of its length and the number of instructions.
const (
	maxPatternSize  = 20_000
	maxPatternsSize = 500_000 // of the different patterns of a schema together

	instructionBytes = 120 // memory of a compiled pattern, by instruction
)

// pattern is a regular expression, which is compiled when it is first needed.
type pattern struct {
	text     string
	size     int
	compiled atomic.Pointer[matcher]
}

// matcher is a compiled pattern.
type matcher struct {
	expression.Kept
	*regexp.Regexp
}

// match reports whether the pattern occurs in s. The pattern has been parsed before, so it is
// valid.
func (p *pattern) match(programs *expression.Programs, s string) bool {
	m := p.compiled.Load()
	if m != nil {
		programs.Use(&m.Kept)
		return m.MatchString(s)
	}
	m = &matcher{Regexp: regexp.MustCompile(p.text)}
	m.Bytes = int64(p.size+1) * instructionBytes
	m.Drop = func() { p.compiled.CompareAndSwap(m, nil) }
	if p.compiled.CompareAndSwap(nil, m) {
		programs.Keep(&m.Kept)
	}
	return m.MatchString(s)
}

// newPattern returns a pattern that a patternChecker has accepted.
func newPattern(text string) *pattern {
	re, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return &pattern{text: text} // reported, so that the schema is not used
	}
	return &pattern{text: text, size: patternSize(re)}
}

// patternChecker checks the patterns of a schema.
type patternChecker struct {
	sizes map[string]int
	total int
}

// check returns an error if a schema cannot have a pattern, which is at a path.
func (c *patternChecker) check(path *field.Path, text string) *field.Error {
	if _, seen := c.sizes[text]; seen {
		return nil
	}
	re, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return field.Invalid(path, text, fmt.Sprintf("must be a valid regular expression, but isn't: %v", err))
	}
	size := patternSize(re)
	if size > maxPatternSize {
		return tooLarge(path, text, fmt.Sprintf("must not take more than %d instructions to match", maxPatternSize))
	}
	if c.total += size; c.total > maxPatternsSize {
		return tooLarge(path, text,
			fmt.Sprintf("must not take more than %d instructions to match, together with the other patterns of the schema", maxPatternsSize))
	}
	if c.sizes == nil {
		c.sizes = map[string]int{}
	}
	c.sizes[text] = size
	return nil
}

func tooLarge(path *field.Path, text, why string) *field.Error {
	return field.Invalid(path, text, why).WithOrigin(limit.SchemaPatterns.Origin())
}

// patternSize estimates the number of instructions of a program for a parsed pattern. The parser
// has bounded the product of its repetitions.
func patternSize(re *syntax.Regexp) int {
	size := 1 + len(re.Rune)
	for _, sub := range re.Sub {
		size += patternSize(sub)
	}
	if re.Op == syntax.OpRepeat {
		size *= max(re.Min, re.Max) + 1
	}
	return size
}
