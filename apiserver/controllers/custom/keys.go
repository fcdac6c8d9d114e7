package custom

import (
	"strings"

	"quorate/raftstore/state"
)

// separator separates group, plural and uid in the resource of instances. The resources of other
// kinds contain it at most once.
const separator = "/"

// resourceOf returns the first part of the keys of a definition's instances.
func resourceOf(group, plural, uid string) string {
	return qualified(group, plural) + separator + uid
}

// ownerOf returns the uid in the resource of instances. ok is false for the resources of other
// kinds.
func ownerOf(resource string) (uid string, ok bool) {
	if strings.Count(resource, separator) != 2 {
		return "", false
	}
	return resource[strings.LastIndex(resource, separator)+1:], true
}

// nameOf returns the name in a key.
func nameOf(k state.Key) string {
	_, _, name := k.Split()
	return name
}
