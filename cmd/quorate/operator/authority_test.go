package operator_test

import (
	"testing"

	"quorate/cluster/keys"
)

// authority returns the certificate of a cluster that no test server belongs to.
func authority(t *testing.T) []byte {
	t.Helper()
	a, err := keys.Generate().Authority()
	if err != nil {
		t.Fatal(err)
	}
	return a.CertificatePEM()
}
