// Package reference compares package patch with the libraries that Kubernetes applies patches with:
// strategicpatch of apimachinery on stock types, and json-patch. It is a module of its own to keep
// them out of what ships; it has tests only.
//
// Strategic merge patches give the same result, but for these differences, all on purpose:
//
//   - F16: Without `$setElementOrder` merged items keep the order of the live list and new ones follow; the library puts all items
//     of the patch into its order, and new ones before those that only the server has. Both agree on the set of items, and with
//     `$setElementOrder` on the order.
//   - F17: `$patch: replace` in a map that the live object lacks sets the map; the library drops it.
//   - F20: `$patch: merge` is allowed and changes nothing; the library fails.
//   - Inside of what the live object lacks, directives are obeyed and nulls left out; the library keeps them as fields of the
//     object, where decoding drops them or complains of them. An item `$patch` of a list that does not merge is left out too.
//   - F21: `$deleteFromPrimitiveList` that is no list, or about a list of objects, is refused; the library ignores the first, takes
//     null as a deletion of the list, and merges the second. Of values that a patch both adds and deletes the deletion wins; the
//     library takes the two in random order.
//   - F22: `$setElementOrder` about a list that does not merge is refused; the library orders primitives and panics on objects. An
//     empty order leaves the order alone; the library sorts by a comparison that contradicts itself. An empty live list may be
//     ordered; the library fails. It also fails when the item `$patch: replace` stands behind the last item that is ordered.
//   - F23: `$retainKeys` that names what is no string is refused; the library ignores that.
//   - F24: null in a list that merges, or as a merge key, and merge keys that are no scalars are refused; the library panics or
//     compares nulls.
//   - Unknown fields are carried over, for decoding to report them; the library fails when both sides have one.
//
// JSON patches differ where the library departs from RFC 6902 or breaks: see package operations.
package reference
