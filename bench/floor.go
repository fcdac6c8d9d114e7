package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"quorate/bench/servers"
)

// floorBytes is about the size of a 1 KiB ConfigMap in a response.
const floorBytes = 1450

// floorTimeout bounds the wait for the floor server to listen.
const floorTimeout = 30 * time.Second

// measureFloor measures a bare Go TLS HTTP/2 server with constant responses: the limit of this
// machine, under its current load.
func (b *bench) measureFloor(ctx context.Context) (err error) {
	dir := filepath.Join(b.dir, "floor")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	addresses, err := servers.FreePorts(1)
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find the floor server: %w", err)
	}
	args := []string{"-floor", addresses[0], "-dir", dir, "-mode", b.scale.name}
	c := &servers.Cluster{
		Endpoints: []string{"https://" + addresses[0]}, CAFile: filepath.Join(dir, "ca.crt"), TokenFile: filepath.Join(dir, "admin.token"),
		Processes: []*servers.Process{{Name: "floor", Binary: self, Args: args, Log: dir + ".log"}},
	}
	if err := c.Processes[0].Start(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Stop()) }()
	if err := awaitListening(ctx, addresses[0]); err != nil {
		return err
	}
	return b.load(ctx, c, "floor", "-scenario", "create,get")
}

func awaitListening(ctx context.Context, address string) error {
	ctx, cancel := context.WithTimeout(ctx, floorTimeout)
	defer cancel()
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			return conn.Close()
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("reach the floor server: %w", err)
		case <-again.C:
		}
	}
}

// serveFloor runs the bare server until SIGTERM.
func serveFloor(ctx context.Context, address, dir string, objects int) error {
	certificate, ca, err := selfSigned()
	if err != nil {
		return err
	}
	for name, content := range map[string][]byte{"ca.crt": ca, "admin.token": []byte("none\n")} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			return err
		}
	}
	body := []byte(`{"kind":"ConfigMap","metadata":{"name":"x"},"items":[],"data":{"value":"` + strings.Repeat("x", floorBytes-80) + `"}}`)
	server := &http.Server{
		Addr: address, Handler: floorHandler(body, objects),
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{certificate}},
	}
	stop := context.AfterFunc(ctx, func() { server.Close() })
	defer stop()
	if err := server.ListenAndServeTLS("", ""); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// floorHandler responds as if objects 0 to objects-1 existed, and no others.
func floorHandler(body []byte, objects int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		code := http.StatusOK
		if r.Method == http.MethodPost {
			if _, err := io.Copy(io.Discard, r.Body); err != nil {
				return // the client went away
			}
			code = http.StatusCreated
		}
		if _, number, ok := strings.Cut(r.URL.Path, "/obj-"); ok {
			if i, err := strconv.Atoi(number); err != nil || i >= objects {
				code = http.StatusNotFound
			}
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		w.WriteHeader(code)
		w.Write(body) // an error is the client's
	}
}

func selfSigned() (tls.Certificate, []byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "floor"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour), IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return tls.Certificate{}, nil, err
	}
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, ca, nil
}
