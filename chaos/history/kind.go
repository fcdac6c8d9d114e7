package history

// MarshalText lets a kind be a key of a JSON object.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }
