package validation

import (
	"encoding/json"

	"quorate/apiserver/objects/schema"
)

// Types of secrets that require certain keys. Their names are those that stock clients use.
const (
	secretOfAccount    = "kubernetes.io/service-account-token"
	secretDockerCfg    = "kubernetes.io/dockercfg"
	secretDockerConfig = "kubernetes.io/dockerconfigjson"
	secretBasicAuth    = "kubernetes.io/basic-auth"
	secretSSHAuth      = "kubernetes.io/ssh-auth"
	secretTLS          = "kubernetes.io/tls"

	// secretAccountAnnotation names the service account of a token.
	secretAccountAnnotation = "kubernetes.io/service-account.name"
)

func secretHooks() schema.Hooks {
	return schema.Hooks{
		Steps: map[string]schema.Step{
			"stringDataIsData": stringDataIsData,
			"secretsByName":    secretsByName,
		},
		Validators: map[string]schema.Validator{
			"secretOfItsType": secretOfItsType,
		},
		Comparisons: map[string]schema.Comparison{
			"secretStaysSealed": secretStaysSealed,
		},
	}
}

// stringDataIsData moves the entries of stringData to data, where they replace those with the same
// key. Responses never contain stringData.
func stringDataIsData(c *schema.Context) {
	root := c.Object.Root()
	for key, v := range root.Field("stringData").Entries() {
		root.Make("data").Put(key).SetStr(v.Str())
	}
	root.Clear("stringData")
}

// secretsByName removes everything but the names from a service account's references to secrets,
// because the secrets are in the account's namespace.
func secretsByName(c *schema.Context) {
	for _, reference := range c.Object.Root().Field("secrets").Items() {
		for _, f := range reference.Type().Message().Fields() {
			if f.Name != "name" {
				reference.Clear(f.Name)
			}
		}
	}
}

// secretOfItsType requires the keys that clients expect in a secret of its type.
func secretOfItsType(c *schema.Context, v *schema.Value) {
	data := v.Field("data")
	required := func(key string) {
		if data.Get(key).IsEmpty() {
			c.Required("", "data", schema.Key(key))
		}
	}
	switch v.Field("type").Str() {
	case secretOfAccount:
		if c.Object.Annotations().Get(secretAccountAnnotation).IsEmpty() {
			c.Required("", "metadata", "annotations", schema.Key(secretAccountAnnotation))
		}
	case secretDockerCfg:
		requireJSON(c, data, ".dockercfg")
	case secretDockerConfig:
		requireJSON(c, data, ".dockerconfigjson")
	case secretBasicAuth:
		if data.Get("username").IsEmpty() && data.Get("password").IsEmpty() {
			required("username")
			required("password")
		}
	case secretSSHAuth:
		required("ssh-privatekey")
	case secretTLS:
		for _, key := range [...]string{"tls.crt", "tls.key"} {
			if !data.Get(key).IsSet() {
				c.Required("", "data", schema.Key(key))
			}
		}
	}
}

// requireJSON requires an entry to contain JSON. The error does not quote the entry.
func requireJSON(c *schema.Context, data *schema.Value, key string) {
	entry := data.Get(key)
	switch {
	case !entry.IsSet():
		c.Required("", "data", schema.Key(key))
	case !json.Valid([]byte(entry.Str())):
		c.Invalid("<secret contents redacted>", "must be JSON", "data", schema.Key(key))
	}
}

// secretStaysSealed rejects changes of an immutable secret's data, and making the secret mutable.
func secretStaysSealed(c *schema.Context, v, old *schema.Value) {
	forbidSealedChanges(c, v, old, "data")
}

// forbidSealedChanges refuses changes of the fields, and of immutable itself, once immutable is
// set.
func forbidSealedChanges(c *schema.Context, v, old *schema.Value, fields ...string) {
	if !old.Field("immutable").Bool() {
		return
	}
	const sealed = "field is immutable when `immutable` is set"
	if !v.Field("immutable").Bool() {
		c.Forbidden(sealed, "immutable")
	}
	for _, name := range fields {
		if !schema.Equal(v.Field(name), old.Field(name)) {
			c.Forbidden(sealed, name)
		}
	}
}
