package schema

import "slices"

// Groups returns the API groups of all kinds that have a file, stored or not.
func (c *Catalog) Groups() map[string]bool {
	groups := map[string]bool{}
	for _, k := range slices.Concat(c.kinds, c.unstored) {
		groups[k.Group] = true
	}
	return groups
}
