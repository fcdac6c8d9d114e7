package validation

func reviewRows() []row {
	const resource, path = `"resourceAttributes":{"verb":"get","resource":"pods"}`, `"nonResourceAttributes":{"verb":"get","path":"/x"}`
	spec := func(text string) string { return named(`"spec":{` + text + `}`) }
	const none = "spec.resourceAttributes: Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be specified"
	const both = `spec.nonResourceAttributes: Invalid value: {"path":"/x","verb":"get"}: cannot be specified in combination with resourceAttributes`
	return []row{
		{name: "about objects J58", kind: "selfreviews", body: spec(resource)},
		{name: "about a path J58", kind: "selfreviews", body: spec(path)},
		{name: "about nothing J58", kind: "selfreviews", body: spec(""), errs: []string{none}},
		{name: "about both J58", kind: "selfreviews", body: spec(resource + "," + path), errs: []string{both}},
		{name: "of a user J58", kind: "reviews", body: spec(resource + `,"user":"jane"`)},
		{name: "of groups J58", kind: "reviews", body: spec(path + `,"groups":["g"]`)},
		{name: "of nobody J58", kind: "reviews", body: spec(path),
			errs: []string{`spec.user: Invalid value: "": at least one of user or group must be specified`}},
		{name: "of nobody about nothing J58", kind: "reviews", body: named(`"spec":{}`),
			errs: []string{none, `spec.user: Invalid value: "": at least one of user or group must be specified`}},
	}
}
