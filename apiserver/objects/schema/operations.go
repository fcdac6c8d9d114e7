package schema

import (
	"fmt"
	"strings"
)

// Operations is a set of operations that a kind may offer.
type Operations uint32

const (
	OpCreate Operations = 1 << iota
	OpCreateClusterWide
	OpRead
	OpListAll
	OpList
	OpWatchQuery // ?watch= on a list
	OpWatchOne
	OpWatchAll
	OpWatchNamespace
	OpReplace
	OpPatch
	OpDelete
	OpDeleteCollection
	OpFinalizeReplace
	OpStatusRead
	OpStatusReplace
	OpStatusPatch
	OpScaleRead
	OpScaleReplace
	OpScalePatch
)

const (
	statusOperations  = OpStatusRead | OpStatusReplace | OpStatusPatch
	clusterOperations = OpCreate | OpRead | OpList | OpWatchQuery | OpWatchOne | OpWatchAll | OpReplace | OpPatch | OpDelete |
		OpDeleteCollection
	namespacedOperations = clusterOperations | OpCreateClusterWide | OpListAll | OpWatchNamespace
)

// Has reports whether all of the operations are offered.
func (o Operations) Has(ops Operations) bool { return o&ops == ops }

// operation returns the operation that a kind file names with word, or 0 if there is none.
func operation(word string) Operations {
	switch word {
	case "create":
		return OpCreate
	case "createClusterWide":
		return OpCreateClusterWide
	case "read":
		return OpRead
	case "listAll":
		return OpListAll
	case "list":
		return OpList
	case "watchQuery":
		return OpWatchQuery
	case "watchOne":
		return OpWatchOne
	case "watchAll":
		return OpWatchAll
	case "watchNamespace":
		return OpWatchNamespace
	case "replace":
		return OpReplace
	case "patch":
		return OpPatch
	case "delete":
		return OpDelete
	case "deleteCollection":
		return OpDeleteCollection
	case "finalizeReplace":
		return OpFinalizeReplace
	case "statusRead":
		return OpStatusRead
	case "statusReplace":
		return OpStatusReplace
	case "statusPatch":
		return OpStatusPatch
	}
	return 0
}

// offered returns the operations that a kind offers: all operations of table 4.2 for the kind's
// scope, even if the kind's row of the table is abridged (Z16); the status operations that upstream
// serves (Z12), if the kind has a status; and the operations that the kind file specifies; without
// those that the file lists as not offered.
func offered(spec *KindSpec, hasStatus bool) (Operations, error) {
	ops := clusterOperations
	if spec.Scope == scopeNamespaced {
		ops = namespacedOperations
	}
	if hasStatus {
		extra, err := statusExtras(spec.Subresources.UpstreamExtra)
		if err != nil {
			return 0, err
		}
		ops |= extra
	}
	for _, words := range [][]string{spec.Operations.Specified, spec.Operations.UnspecifiedRest} {
		for _, word := range words {
			op := operation(word)
			if op == 0 {
				return 0, fmt.Errorf("operations: unknown operation %q", word)
			}
			ops |= op
		}
	}
	for _, word := range spec.Operations.NotOffered {
		op := operation(word)
		if op == 0 {
			return 0, fmt.Errorf("operations.notOffered: unknown operation %q", word)
		}
		ops &^= op
	}
	return ops, nil
}

// statusExtras returns the operations that an entry "status" or "status (PUT, PATCH)" of
// subresources adds.
func statusExtras(subresources []string) (Operations, error) {
	for _, s := range subresources {
		name, methods, limited := strings.Cut(s, " (")
		if name != "status" {
			continue
		}
		if !limited {
			return statusOperations, nil
		}
		var ops Operations
		for method := range strings.SplitSeq(strings.TrimSuffix(methods, ")"), ", ") {
			switch method {
			case "GET":
				ops |= OpStatusRead
			case "PUT":
				ops |= OpStatusReplace
			case "PATCH":
				ops |= OpStatusPatch
			default:
				return 0, fmt.Errorf("subresources: unknown method %q", method)
			}
		}
		return ops, nil
	}
	return 0, nil
}
