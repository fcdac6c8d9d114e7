package kubeconfig_test

import (
	"fmt"
	"os"
	"path/filepath"

	"quorate/cmd/quorate/kubeconfig"
)

func ExampleConfig_Encode() {
	c := kubeconfig.Config{
		Server: "https://10.0.0.1:6443", ServerName: "localhost",
		CA: []byte("PEM"), User: "jane", Token: "secret",
	}
	content, err := c.Encode()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(string(content))
	// Output:
	// apiVersion: v1
	// clusters:
	// - cluster:
	//     certificate-authority-data: UEVN
	//     server: https://10.0.0.1:6443
	//     tls-server-name: localhost
	//   name: quorate
	// contexts:
	// - context:
	//     cluster: quorate
	//     user: jane
	//   name: jane@quorate
	// current-context: jane@quorate
	// kind: Config
	// users:
	// - name: jane
	//   user:
	//     token: secret
}

func ExampleRead() {
	dir, err := os.MkdirTemp("", "kubeconfig")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	written := kubeconfig.Config{Server: "https://10.0.0.1:6443", CA: []byte("PEM"), User: "jane", Token: "secret"}
	content, err := written.Encode()
	if err != nil {
		fmt.Println(err)
		return
	}
	path := filepath.Join(dir, "jane.kubeconfig")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		fmt.Println(err)
		return
	}
	read, err := kubeconfig.Read(path)
	fmt.Println(read.User, "at", read.Server, err)
	// Output: jane at https://10.0.0.1:6443 <nil>
}
