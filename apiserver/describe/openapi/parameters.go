package openapi

import "quorate/apiserver/objects/schema"

const (
	inPath  = "path"
	inQuery = "query"
)

// parameter is what is said of a parameter: its type (a string when empty), values and use.
type parameter struct {
	typ   string
	enum  []string
	about string
}

// parameters are those of paths and queries (§4.4).
func parameters() map[string]parameter {
	return map[string]parameter{
		"name":      {about: "Name of the object."},
		"namespace": {about: "Namespace of the objects."},

		"allowWatchBookmarks":  {typ: "boolean", about: "Lets a watch tell, now and then, how far it has come."},
		"continue":             {about: "Where to go on with a list: metadata.continue of the part before, with otherwise the same query."},
		"dryRun":               {enum: []string{"All"}, about: "All: do everything but keep the result."},
		"exact":                {typ: "boolean", about: "Keep fields of this cluster, such as the namespace, in an export."},
		"export":               {typ: "boolean", about: "Leave out what users cannot set."},
		"fieldManager":         {about: "Name of who makes the change."},
		"fieldSelector":        {about: "Restricts the objects by their fields."},
		"fieldValidation":      {enum: []string{"Ignore", "Warn", "Strict"}, about: "What becomes of unknown and repeated fields: they are ignored, warned of, or refused."},
		"gracePeriodSeconds":   {typ: "integer", about: "Seconds until the object is deleted; 0 means at once. The kind's default when missing."},
		"includeUninitialized": {typ: "boolean", about: "Include objects that are not initialized yet."},
		"labelSelector":        {about: "Restricts the objects by their labels."},
		"limit":                {typ: "integer", about: "At most as many objects at a time."},
		"orphanDependents":     {typ: "boolean", about: "Deprecated: use propagationPolicy. Whether dependents stay."},
		"pretty":               {typ: "boolean", about: "Indent the answer."},
		"propagationPolicy":    {enum: []string{"Orphan", "Background", "Foreground"}, about: "What becomes of dependents: they stay, go later, or go first."},
		"resourceVersion":      {about: "State to read or to watch from. Lists: unset is the newest state, 0 any."},
		"resourceVersionMatch": {enum: []string{"Exact", "NotOlderThan"}, about: "How resourceVersion is meant."},
		"sendInitialEvents":    {typ: "boolean", about: "Begin a watch with the objects that are there, followed by a bookmark."},
		"timeoutSeconds":       {typ: "integer", about: "Seconds after which the call ends."},
		"watch":                {typ: "boolean", about: "Answer with a stream of changes."},
	}
}

// known is a table that nobody changes.
var known = parameters()

func watchQuery() []string {
	return []string{
		"allowWatchBookmarks", "fieldSelector", "includeUninitialized", "labelSelector", "pretty", "resourceVersion",
		"resourceVersionMatch", "sendInitialEvents", "timeoutSeconds",
	}
}

func listQuery(k *schema.Kind) []string {
	if k.Operations.Has(schema.OpWatchQuery) {
		return append(watchQuery(), "continue", "limit", "watch")
	}
	return []string{
		"continue", "fieldSelector", "includeUninitialized", "labelSelector", "limit", "pretty", "resourceVersion",
		"resourceVersionMatch", "timeoutSeconds",
	}
}

func writeQuery() []string { return []string{"dryRun", "fieldManager", "fieldValidation", "pretty"} }

func deleteQuery() []string {
	return []string{"dryRun", "gracePeriodSeconds", "orphanDependents", "pretty", "propagationPolicy"}
}

func deleteCollectionQuery() []string {
	return append(deleteQuery(), "fieldSelector", "includeUninitialized", "labelSelector", "limit", "resourceVersion", "timeoutSeconds")
}

// readQuery: the export of a kind is among what its file says of reads.
func readQuery(k *schema.Kind) []string {
	names := []string{"pretty", "resourceVersion"}
	for _, name := range k.Spec.Operations.ReadParams {
		if name == "exact" || name == "export" {
			names = append(names, name)
		}
	}
	return names
}
