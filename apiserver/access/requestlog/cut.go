package requestlog

import (
	"fmt"
	"unicode/utf8"
)

const (
	// MaxFieldBytes is the length of the longest field from a client that is logged as it is.
	MaxFieldBytes = 256
	// maxGroups is the number of groups that a line has.
	maxGroups = 16
)

// Cut returns text, cut to MaxFieldBytes and marked with the number of bytes left out if it is
// longer.
func Cut(text string) string { return CutAt(text, MaxFieldBytes) }

// CutAt is Cut with another length in bytes. The mark comes on top of it.
func CutAt(text string, length int) string {
	if len(text) <= length {
		return text
	}
	end := length
	for end > length-utf8.UTFMax && !utf8.RuneStart(text[end]) {
		end--
	}
	return fmt.Sprintf("%s...(%d bytes more)", text[:end], len(text)-end)
}

// CutAll cuts each of some texts, and their number to maxGroups.
func CutAll(texts []string) []string {
	more := len(texts) - maxGroups
	if more > 0 {
		texts = texts[:maxGroups]
	}
	cut := make([]string, 0, len(texts)+1)
	for _, text := range texts {
		cut = append(cut, Cut(text))
	}
	if more > 0 {
		cut = append(cut, fmt.Sprintf("...(%d more)", more))
	}
	return cut
}
