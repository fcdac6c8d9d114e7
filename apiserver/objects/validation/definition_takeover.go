package validation

import "quorate/apiserver/objects/schema"

// instancesOfAnnotation holds the uid of the ThirdPartyResource whose instances a definition has
// taken over. The server alone sets it.
const instancesOfAnnotation = "apiextensions.platform.io/instances-of"

// InstancesOf returns the uid of the ThirdPartyResource whose instances a definition has taken over,
// or "".
func InstancesOf(definition *schema.Object) string {
	return definition.Annotations().Get(instancesOfAnnotation).Str()
}

// TakeInstancesOf records in a definition that is being created that it takes over the instances of
// the ThirdPartyResource with a uid.
func TakeInstancesOf(definition *schema.Object, uid string) {
	annotate(definition, instancesOfAnnotation, uid)
}

// keepInstances undoes what a client has changed in the record of the instances taken over: another
// uid would attach the instances of another definition, and none would let these be removed.
func keepInstances(c *schema.Context) {
	uid := ""
	if c.Old != nil {
		uid = InstancesOf(c.Old)
	}
	switch {
	case uid == InstancesOf(c.Object):
	case uid == "":
		dropAnnotation(c.Object, instancesOfAnnotation)
	default:
		TakeInstancesOf(c.Object, uid)
	}
}
