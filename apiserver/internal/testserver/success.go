package testserver

import (
	"encoding/json"
	"net/http"
	"sync"

	"quorate/apiserver/kinds"
	"quorate/apiserver/objects/schema"
	"quorate/apiserver/objects/validation"
)

// OK reports whether a request succeeded: with 200, or, where the answer holds an object of a kind
// that the specification does not name, with 201.
func (a Answer) OK() bool {
	if a.Code != http.StatusCreated {
		return a.Code == http.StatusOK
	}
	var object struct{ Kind, APIVersion string }
	if err := json.Unmarshal([]byte(a.Body), &object); err != nil {
		return true // protobuf, YAML: the code is that of the kind's JSON
	}
	specified, err := specifiedKinds()
	return err == nil && !specified[object.Kind+" "+object.APIVersion]
}

// specifiedKinds returns the kinds that the specification names.
var specifiedKinds = sync.OnceValues(func() (map[string]bool, error) {
	catalog, err := schema.Load(kinds.Files, validation.Hooks())
	if err != nil {
		return nil, err
	}
	specified := map[string]bool{}
	for _, k := range catalog.Kinds() {
		if k.Spec.Extra == "" {
			specified[k.Kind+" "+k.APIVersion] = true
		}
	}
	return specified, nil
})
