package testserver

import (
	"time"

	"quorate/apiserver"
	"quorate/apiserver/access/fairness"
)

// WithoutQueues makes a server refuse requests that find no seats, instead of letting them wait.
// All requests are of one level.
func WithoutQueues(cfg *apiserver.Config) {
	cfg.Levels = []fairness.Level{{Name: "all", Share: 1, MaxWait: time.Second}}
}
