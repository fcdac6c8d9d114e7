package kinds

import "embed"

// Files contains the kinds, *.yaml, and what they share, types/*.yaml.
//
//go:embed *.yaml types/*.yaml
var Files embed.FS
