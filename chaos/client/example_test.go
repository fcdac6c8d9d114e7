package client_test

import (
	"context"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"

	"quorate/chaos/client"
)

// standIn is a node that stores one ConfigMap.
func standIn() *httptest.Server {
	stored := ""
	node := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if stored != "" {
			w.WriteHeader(http.StatusConflict)
			fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","code":409,`+
				`"reason":"AlreadyExists","message":"configmaps \"settings\" already exists"}`)
			return
		}
		stored = `{"metadata":{"name":"settings","resourceVersion":"17","uid":"u"},"data":{"colour":"green"}}`
		fmt.Fprint(w, stored)
	}))
	node.EnableHTTP2 = true
	node.StartTLS()
	return node
}

// A client talks to one node and never repeats a request. The outcome of a write says what the
// caller may rely on; the error only says more about it.
func Example() {
	node := standIn() // in use: "https://127.0.0.1:6443"
	defer node.Close()
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: node.Certificate().Raw})

	c, err := client.New(node.URL, client.Credentials{CA: ca, Token: "token"}) // or client.ReadKubeconfig
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	for range 2 {
		o, outcome, _ := c.Create(context.Background(), "default", "settings", map[string]string{"colour": "green"})
		switch outcome {
		case client.OK:
			fmt.Println("stored at version", o.Version)
		case client.Conflict:
			fmt.Println("the name is in use")
		case client.Unavailable:
			fmt.Println("not applied: may be repeated")
		default:
			fmt.Println("may have been applied:", outcome)
		}
	}
	// Output:
	// stored at version 17
	// the name is in use
}
