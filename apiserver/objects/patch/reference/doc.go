// Package reference compares package patch with the libraries that Kubernetes uses: strategicpatch
// of apimachinery, on stock types, and json-patch. It contains only tests. It is a separate module
// so that the server does not depend on these libraries.
//
// Strategic merge patches give the same results, except for these intentional differences:
//
//   - F16: Without `$setElementOrder`, merged items keep the order of the live list, and new items
//     follow. The library sorts the items of the patch by the order of the patch, and puts new
//     items before those that only the server has. Both produce the same set of items, and with
//     `$setElementOrder` the same order.
//   - F17: `$patch: replace` sets a map that the live object does not have. The library drops the
//     map.
//   - F20: `$patch: merge` is valid and has no effect. The library returns an error.
//   - Inside values that the live object does not have, directives take effect and nulls are
//     dropped. The library keeps both as fields, which decoding then drops or rejects. An item
//     `$patch` of a list that does not merge is dropped, too.
//   - F21: `$deleteFromPrimitiveList` is an error if it is not a list or refers to a list of
//     objects. The library ignores it if it is not a list, deletes the list if it is null, and
//     merges a list of objects. Values that a patch both adds and deletes are deleted; with the
//     library the result is random.
//   - F22: `$setElementOrder` is an error for a list that does not merge. The library sorts lists
//     of primitives and panics on lists of objects. An empty order has no effect; the library sorts
//     with an inconsistent comparison. An empty live list can be sorted; the library returns an
//     error, as it does if the item `$patch: replace` follows the last item of the order.
//   - F23: `$retainKeys` with an item that is not a string is an error. The library ignores the
//     item.
//   - F24: It is an error if a list that merges contains null, or if a merge key is null or not a
//     scalar. The library panics or compares nulls.
//   - Unknown fields are copied to the result, where decoding reports them. The library returns an
//     error if both the patch and the live object have the field.
//
// JSON patches differ where the library deviates from RFC 6902 or fails; see package operations.
package reference
