package openapi

import (
	"strings"
)

func newBuilder(as dialect, c *common, f formats) *builder {
	return &builder{common: c, schemas: newSchemas(as, f), ids: map[string]bool{}, lists: listNames{}}
}

// document returns the document with the collected content.
func (b *builder) document() (object, error) {
	d := b.schemas.dialect
	paths := object{}
	for _, p := range b.paths {
		item := object{}
		var parameters []object
		for _, name := range p.parameters() {
			parameters = append(parameters, d.pathParameter(name))
		}
		if len(parameters) > 0 {
			item["parameters"] = parameters
		}
		for i := range p.operations {
			item[strings.ToLower(p.operations[i].method)] = b.operation(&p.operations[i])
		}
		paths[p.text] = item
	}
	return d.document(paths, b.schemas.all), b.schemas.err
}

// operation returns the JSON of an operation.
func (b *builder) operation(o *operation) object {
	d := b.schemas.dialect
	out := object{
		"operationId":                     o.id,
		"description":                     o.about,
		"tags":                            []string{o.tag},
		"x-kubernetes-action":             o.action,
		"x-kubernetes-group-version-kind": groupVersionKind(o.kind),
	}
	parameters := []object{}
	for _, name := range o.queries {
		parameters = append(parameters, d.queryParameter(name))
	}
	refused := body{component: b.statusName(), media: []string{mediaJSON}}
	responses := object{
		"200":     d.response("OK", o.gives),
		"401":     d.response("Unauthorized", refused),
		"default": d.response("A failure.", refused),
	}
	out["responses"] = responses
	if d == version2 {
		out["schemes"], out["produces"] = []string{"https"}, o.gives.media
		if o.takes.component != "" {
			out["consumes"] = o.takes.media
			parameters = append(parameters, object{
				"name": "body", "in": "body", "required": o.takes.required, "schema": d.reference(o.takes.component),
			})
		}
	} else if o.takes.component != "" {
		out["requestBody"] = object{"required": o.takes.required, "content": d.content(o.takes)}
	}
	if len(parameters) > 0 {
		out["parameters"] = parameters
	}
	return out
}

// response returns the JSON of a response.
func (d dialect) response(about string, b body) object {
	if d == version2 {
		return object{"description": about, "schema": d.reference(b.component)}
	}
	return object{"description": about, "content": d.content(b)}
}

func (d dialect) content(b body) object {
	content := object{}
	for _, media := range b.media {
		content[media] = object{"schema": d.reference(b.component)}
	}
	return content
}
