package validation

import "quorate/apiserver/objects/schema"

// maxConfigMapBytes bounds all values of a ConfigMap together, those of data and of binaryData.
const maxConfigMapBytes = 1 << 20

func configMapHooks() schema.Hooks {
	return schema.Hooks{
		Validators: map[string]schema.Validator{
			"configMapEntries": configMapEntries,
		},
		Comparisons: map[string]schema.Comparison{
			"configMapStaysSealed": configMapStaysSealed,
		},
	}
}

// configMapEntries requires that no key is in both data and binaryData, and bounds the bytes of all
// their values. Data alone has its own bound in the kind's file.
func configMapEntries(c *schema.Context, v *schema.Value) {
	data, binary := v.Field("data"), v.Field("binaryData")
	if binary.Len() == 0 {
		return
	}
	size := 0
	for key, value := range data.Entries() {
		size += len(value.Str())
		if binary.Get(key).IsSet() {
			c.Invalid(key, "duplicate of key present in binaryData", "data", schema.Key(key))
		}
	}
	textSize := size
	for _, value := range binary.Entries() {
		size += len(value.Str())
	}
	if size > maxConfigMapBytes && textSize <= maxConfigMapBytes {
		c.TooLong(maxConfigMapBytes, "binaryData")
	}
}

// configMapStaysSealed refuses changes of an immutable ConfigMap's entries and of its immutability.
func configMapStaysSealed(c *schema.Context, v, old *schema.Value) {
	forbidSealedChanges(c, v, old, "data", "binaryData")
}
