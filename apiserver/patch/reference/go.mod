module quorate/apiserver/patch/reference

go 1.26.0

replace quorate => ../../..

require (
	github.com/evanphx/json-patch/v5 v5.9.11 // indirect
	k8s.io/api v0.37.2 // indirect
	k8s.io/apimachinery v0.37.2 // indirect
)
