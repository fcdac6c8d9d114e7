package apply

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/structured-merge-diff/v6/merge"

	"quorate/apiserver/wire/status"
)

// conflictError returns the error for fields that other managers own (409).
func conflictError(conflicts merge.Conflicts) error {
	sorted := slices.Clone(conflicts)
	slices.SortStableFunc(sorted, func(a, b merge.Conflict) int { return strings.Compare(a.Manager, b.Manager) })
	causes := make([]status.Cause, len(sorted))
	paths := map[string][]string{}
	for i, c := range sorted {
		causes[i] = status.Cause{
			Reason: status.FieldManagerConflict, Message: "conflict with " + describe(c.Manager), Field: c.Path.String(),
		}
		paths[c.Manager] = append(paths[c.Manager], c.Path.String())
	}
	if len(sorted) == 1 {
		return status.NewApplyConflict(causes, fmt.Sprintf("Apply failed with 1 conflict: %s: %s", causes[0].Message, causes[0].Field))
	}
	var lines []string
	for _, id := range slices.Sorted(maps.Keys(paths)) {
		lines = append(lines, "conflicts with "+describe(id)+":")
		for _, path := range paths[id] {
			lines = append(lines, "- "+path)
		}
	}
	return status.NewApplyConflict(causes, fmt.Sprintf("Apply failed with %d conflicts: %s", len(sorted), strings.Join(lines, "\n")))
}

// describe names the manager of an entry as messages contain it: `"kubectl" using v1`.
func describe(id string) string {
	who, err := ownerOf(id)
	if err != nil {
		return fmt.Sprintf("%q", id)
	}
	text := fmt.Sprintf("%q", who.Manager)
	if who.Subresource != "" {
		text += fmt.Sprintf(" with subresource %q", who.Subresource)
	}
	if who.Operation == operationUpdate {
		text += " using " + who.APIVersion
	}
	return text
}
