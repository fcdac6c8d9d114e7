package main

import (
	"crypto/tls"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"

	"k8s.io/klog/v2"
	"k8s.io/kubernetes/test/images/agnhost/crd-conversion-webhook/converter"
	"k8s.io/kubernetes/test/images/agnhost/webhook"
)

// loopback is the address of all pods.
const loopback = "127.0.0.1"

// programs are those of the image agnhost that pods really run, by their first argument.
var programs = map[string]func(args []string) error{
	"webhook": func(args []string) error {
		klog.InitFlags(nil)
		webhook.CmdWebhook.Flags().AddGoFlagSet(flag.CommandLine) // such as -v, as in the image
		webhook.CmdWebhook.SetArgs(args)
		return webhook.CmdWebhook.Execute()
	},
	"crd-conversion-webhook": serveConversion,
}

// serveConversion does what the program of this name does, which runs in a cluster only.
func serveConversion(args []string) error {
	var port, cert, key string
	for _, arg := range args {
		name, value, _ := strings.Cut(arg, "=")
		switch name {
		case "--port":
			port = value
		case "--tls-cert-file":
			cert = value
		case "--tls-private-key-file":
			key = value
		}
	}
	http.HandleFunc("/crdconvert", converter.ServeExampleConvert)
	http.HandleFunc("/readyz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "ok") })
	return http.ListenAndServeTLS(":"+port, cert, key, nil)
}

// process is the program of one pod. It listens on a free port instead of the pod's: all pods share
// one address.
type process struct {
	cmd     *exec.Cmd
	log     *os.File
	podPort int
	port    int
}

func startProcess(args []string, log string) (*process, error) {
	free, err := net.Listen("tcp", net.JoinHostPort(loopback, "0"))
	if err != nil {
		return nil, err
	}
	p := &process{port: free.Addr().(*net.TCPAddr).Port}
	if err := free.Close(); err != nil {
		return nil, err
	}
	for i, arg := range args {
		if value, ok := strings.CutPrefix(arg, "--port="); ok {
			if p.podPort, err = strconv.Atoi(value); err != nil {
				return nil, err
			}
			args[i] = "--port=" + strconv.Itoa(p.port)
		}
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	if p.log, err = os.Create(log); err != nil {
		return nil, err
	}
	p.cmd = exec.Command(self, args...)
	p.cmd.Stdout, p.cmd.Stderr = p.log, p.log
	if err := p.cmd.Start(); err != nil {
		return nil, errors.Join(err, p.log.Close())
	}
	return p, nil
}

// ready reports whether the program accepts connections, as its readiness probe asks.
func (p *process) ready() bool {
	conn, err := tls.Dial("tcp", net.JoinHostPort(loopback, strconv.Itoa(p.port)), &tls.Config{InsecureSkipVerify: true})
	if err != nil {
		return false
	}
	return conn.Close() == nil
}

// end ends the program and waits for it.
func (p *process) end() error {
	err := p.cmd.Process.Signal(syscall.SIGKILL)
	if errors.Is(err, os.ErrProcessDone) {
		err = nil
	}
	if waitErr := p.cmd.Wait(); waitErr != nil {
		if _, ended := errors.AsType[*exec.ExitError](waitErr); !ended {
			err = errors.Join(err, waitErr)
		}
	}
	return errors.Join(err, p.log.Close())
}
