package parameter

// Sets of verbs that several rows use.
const (
	writes   = Create | Update | Patch
	deletes  = Delete | DeleteCollection
	selects  = List | Watch | DeleteCollection
	versions = Get | selects
)

// table returns the declarations of all parameters, sorted by name.
func table() []Declaration {
	return []Declaration{
		{
			Name: "allowWatchBookmarks", Type: Boolean, Read: List | Watch, Documented: Watch | ListOrWatch,
			Description: "Lets a watch tell, now and then, how far it has come.",
		},
		{Name: "before", Type: Count, Read: Document, Description: "The entry of the log before which a page of it ends."},
		{
			Name: "continue", Read: selects, Documented: List,
			Description: "Where to go on with a list: metadata.continue of the part before, with otherwise the same query.",
		},
		{
			Name: "dryRun", Values: []string{"All"}, Read: writes | deletes, Documented: writes | deletes,
			Description: "All: do everything but keep the result.",
		},
		{
			Name: "exact", Type: Boolean, Read: Get, Documented: Get, PerKind: true,
			Description: "Keep fields of this cluster, such as the namespace, in an export.",
		},
		{Name: "exclude", Read: Document, Description: "A health check to leave out; may be repeated."},
		{
			Name: "export", Type: Boolean, Read: Get, Documented: Get, PerKind: true,
			Description: "Leave out what users cannot set.",
		},
		{
			Name: "fieldManager", Read: writes, Documented: writes,
			Description: "Name of who makes the change. A server-side apply must have it.",
		},
		{
			Name: "fieldSelector", Read: selects, Documented: selects,
			Description: "Restricts the objects by their fields.",
		},
		{
			Name: "fieldValidation", Values: []string{"Ignore", "Warn", "Strict"}, Read: writes | deletes, Documented: writes,
			Description: "What becomes of unknown and repeated fields: they are ignored, warned of, or refused.",
		},
		{
			Name: "force", Type: Boolean, Read: Patch | Document, Documented: Patch,
			Description: "Lets a server-side apply take over fields that others manage. Other patches must not have it.",
		},
		{
			Name: "gracePeriodSeconds", Type: Integer, Read: deletes, Documented: deletes,
			Description: "Seconds until the object is deleted; 0 means at once. The kind's default when missing.",
		},
		{Name: "hash", Read: Document, Description: "The hash of an OpenAPI document, which may then be cached."},
		{
			Name: "includeObject", Values: []string{"Metadata", "None", "Object"}, Read: objects,
			Description: "How much of its object a row of a Table holds.",
		},
		{
			Name: "includeUninitialized", Type: Boolean, Read: selects, Documented: selects,
			Description: "Include objects that are not initialized yet.",
		},
		{
			Name: "labelSelector", Read: selects, Documented: selects,
			Description: "Restricts the objects by their labels.",
		},
		{
			Name: "limit", Type: Count, Read: List | DeleteCollection | Document, Documented: List | DeleteCollection,
			Description: "At most as many objects at a time.",
		},
		{Name: "name", Read: Document, Description: "The node that an operation of the cluster is about."},
		{
			Name: "orphanDependents", Type: Boolean, Read: deletes, Documented: deletes,
			Description: "Deprecated: use propagationPolicy. Whether dependents stay.",
		},
		{
			Name: "pretty", Type: Boolean, Read: Any, Documented: objects,
			Description: "Indent the answer.",
		},
		{
			Name: "propagationPolicy", Values: []string{"Orphan", "Background", "Foreground"}, Read: deletes, Documented: deletes,
			Supported:   []string{"Foreground", "Background", "Orphan"},
			Description: "What becomes of dependents: they stay, go later, or go first.",
		},
		{
			Name: "resourceVersion", Read: versions, Documented: versions,
			Description: "State to read or to watch from. Lists: unset is the newest state, 0 any.",
		},
		{
			Name: "resourceVersionMatch", Values: []string{"Exact", "NotOlderThan"}, Read: List | Watch, Documented: List | Watch,
			Supported:   []string{"Exact", "NotOlderThan", ""},
			Description: "How resourceVersion is meant.",
		},
		{
			Name: "sendInitialEvents", Type: Boolean, Read: List | Watch, Documented: Watch | ListOrWatch,
			Description: "Begin a watch with the objects that are there, followed by a bookmark.",
		},
		{Name: "timeout", Type: Duration, Read: Any, Description: "How long the request may take at most."},
		{
			Name: "timeoutSeconds", Type: Count, Read: selects, Documented: selects,
			Description: "Seconds after which the call ends.",
		},
		{Name: "verbose", Read: Document, Description: "Show the result of each health check."},
		{
			Name: "watch", Type: Boolean, Read: List, Documented: ListOrWatch,
			Description: "Answer with a stream of changes.",
		},
	}
}
