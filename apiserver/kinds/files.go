package kinds

import "embed"

// Files contains the kinds, *.yaml, and types/*.yaml.
//
//go:embed *.yaml types/*.yaml
var Files embed.FS
