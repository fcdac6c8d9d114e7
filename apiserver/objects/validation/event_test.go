package validation

func eventRows() []row {
	event := func(own, about string) string {
		return `{"metadata":{"name":"x","namespace":"` + own + `"},"involvedObject":{"kind":"Pod","name":"p","namespace":"` + about + `"}}`
	}
	return []row{
		{name: "beside its object M16", kind: "events", body: event("n", "n")},
		{name: "of a cluster-scoped object M16", kind: "events", body: event("default", "")},
		{name: "of an object elsewhere M16", kind: "events", body: event("n", "m"),
			errs: []string{`involvedObject.namespace: Invalid value: "m": does not match event.namespace`}},
		{name: "of a cluster-scoped object elsewhere M16", kind: "events", body: event("n", ""),
			errs: []string{`involvedObject.namespace: Invalid value: "": does not match event.namespace`}},
	}
}
