package kinds

import "embed"

// Files holds kinds/*.yaml and types/*.yaml.
//
//go:embed kinds/*.yaml types/*.yaml
var Files embed.FS
