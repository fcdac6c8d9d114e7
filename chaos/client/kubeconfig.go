package client

import (
	"encoding/base64"
	"errors"
	"fmt"
	"os"

	"sigs.k8s.io/yaml"
)

// ReadKubeconfig reads the credentials of the first cluster and user in a kubeconfig file.
func ReadKubeconfig(path string) (Credentials, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return Credentials{}, err
	}
	var config struct {
		Clusters []struct {
			Cluster struct {
				CA string `json:"certificate-authority-data"`
			} `json:"cluster"`
		} `json:"clusters"`
		Users []struct {
			User struct {
				Token string `json:"token"`
			} `json:"user"`
		} `json:"users"`
	}
	if err := yaml.Unmarshal(text, &config); err != nil {
		return Credentials{}, fmt.Errorf("read %s: %w", path, err)
	}
	if len(config.Clusters) == 0 || len(config.Users) == 0 {
		return Credentials{}, fmt.Errorf("read %s: %w", path, errors.New("no cluster or no user in it"))
	}
	ca, err := base64.StdEncoding.DecodeString(config.Clusters[0].Cluster.CA)
	if err != nil {
		return Credentials{}, fmt.Errorf("read %s: certificate-authority-data: %w", path, err)
	}
	if config.Users[0].User.Token == "" {
		return Credentials{}, fmt.Errorf("read %s: %w", path, errors.New("its first user has no token"))
	}
	return Credentials{CA: ca, Token: config.Users[0].User.Token}, nil
}
