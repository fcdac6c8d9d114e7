package table

import (
	"maps"
	"slices"
)

// RendererNames returns the names under which kind files refer to renderers, sorted.
func RendererNames() []string { return slices.Sorted(maps.Keys(renderers())) }
