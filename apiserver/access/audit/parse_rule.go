package audit

import "strings"

// rule reads a rule and checks that it can match something.
func (r *reader) rule(at place) (read rule) {
	levelGiven := false
	r.object(at, fields{
		"level":             func(at place) { levelGiven = true; read.level = Level(r.choice(at, levelNames())) },
		"users":             func(at place) { read.users = r.texts(at) },
		"userGroups":        func(at place) { read.groups = r.texts(at) },
		"verbs":             func(at place) { read.verbs = r.texts(at) },
		"namespaces":        func(at place) { read.namespaces = r.texts(at) },
		"nonResourceURLs":   func(at place) { read.paths = r.paths(at) },
		"omitStages":        func(at place) { read.omit = r.stages(at) },
		"omitManagedFields": func(at place) { omit := r.boolean(at); read.omitManaged = &omit },
		"resources": func(at place) {
			r.list(at, func(at place) { read.resources = append(read.resources, r.resources(at)) })
		},
	})
	switch {
	case !levelGiven:
		r.fail(place{at.node, at.path + ".level"}, "is required; want one of %s", strings.Join(levelNames(), ", "))
	case len(read.paths) > 0 && (len(read.resources) > 0 || len(read.namespaces) > 0):
		r.fail(place{at.node, at.path + ".nonResourceURLs"}, "cannot be combined with resources or namespaces: no request has both")
	}
	return read
}

func (r *reader) paths(at place) (all []string) {
	r.list(at, func(at place) {
		path := r.text(at)
		switch {
		case path != "*" && !strings.HasPrefix(path, "/"):
			r.fail(at, "%q: want a path that begins with /, or *", path)
		case strings.Contains(strings.TrimSuffix(path, "*"), "*"):
			r.fail(at, "%q: * may only be the last character", path)
		}
		all = append(all, path)
	})
	return all
}

func (r *reader) resources(at place) (read resources) {
	r.object(at, fields{
		"group": func(at place) {
			read.group = r.text(at)
			if strings.ContainsAny(read.group, "/* ") {
				r.fail(at, `%q: want the name of a group, such as apps, without a version; "" is the group of pods`, read.group)
			}
		},
		"resources":     func(at place) { read.plurals = r.plurals(at) },
		"resourceNames": func(at place) { read.resourceNames = r.texts(at) },
	})
	if len(read.resourceNames) > 0 && len(read.plurals) == 0 {
		r.fail(place{at.node, at.path + ".resourceNames"}, "needs resources, which have these names")
	}
	return read
}

func (r *reader) plurals(at place) (all []string) {
	r.list(at, func(at place) {
		pattern := r.text(at)
		plural, subresource, hasSubresource := strings.Cut(pattern, "/")
		if plural == "" || hasSubresource && subresource == "" || strings.Contains(subresource, "/") || pattern == "*/*" ||
			plural != "*" && strings.Contains(plural, "*") || subresource != "*" && strings.Contains(subresource, "*") {
			r.fail(at, "%q: want PLURAL, PLURAL/SUBRESOURCE, PLURAL/*, */SUBRESOURCE or *", pattern)
		}
		all = append(all, pattern)
	})
	return all
}
