package discovery

import (
	"cmp"
	"regexp"
	"strings"
)

// versionPattern matches versions that can be ordered, such as v1, v2beta1 and v1alpha3.
var versionPattern = regexp.MustCompile(`^v([1-9][0-9]*)(?:(alpha|beta)([1-9][0-9]*))?$`)

// compareVersions orders versions by preference: stable before beta before alpha, newer before
// older, then all others by name.
func compareVersions(a, b string) int {
	x, y := versionPattern.FindStringSubmatch(a), versionPattern.FindStringSubmatch(b)
	switch {
	case x == nil && y == nil:
		return strings.Compare(a, b)
	case x == nil:
		return 1
	case y == nil:
		return -1
	}
	return cmp.Or(cmp.Compare(stability(y[2]), stability(x[2])), compareNumbers(y[1], x[1]), compareNumbers(y[3], x[3]))
}

func stability(word string) int {
	switch word {
	case "alpha":
		return 0
	case "beta":
		return 1
	}
	return 2
}

// compareNumbers compares decimal numbers of any length. An empty string is less than any number.
func compareNumbers(a, b string) int {
	return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b))
}
