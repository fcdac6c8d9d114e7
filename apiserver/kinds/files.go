package kinds

import "embed"

// Files holds the kinds, *.yaml, and types/*.yaml.
//
//go:embed *.yaml types/*.yaml
var Files embed.FS
