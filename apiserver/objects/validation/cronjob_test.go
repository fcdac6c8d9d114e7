package validation

import (
	"strings"

	"quorate/apiserver/objects/schema"
)

func cronJob(podSpec string) string {
	return cronJobOf(`"schedule":"* * * * *"`, "", podSpec)
}

func cronJobOf(spec, job, podSpec string) string {
	return named(`"spec":{` + spec + `,"jobTemplate":{"spec":{` +
		members(job, `"template":{"spec":{`+members(`"containers":[{"name":"c","image":"i"}]`, podSpec)+`}}`) + `}}}`)
}

func cronJobRows() []row {
	const never = `"restartPolicy":"Never"`
	schedule := func(text string, errs ...string) row {
		return row{name: "schedule " + text + " M23", kind: "cronjobs", body: cronJobOf(`"schedule":"`+text+`"`, "", never), errs: errs}
	}
	const at = "spec.schedule: Invalid value: "
	return []row{
		{name: "defaults M23", kind: "cronjobs", body: cronJob(`"restartPolicy":"OnFailure"`), want: map[string]string{
			"spec.concurrencyPolicy": `"Allow"`, "spec.suspend": "false", "spec.successfulJobsHistoryLimit": "3",
			"spec.failedJobsHistoryLimit": "1", "metadata.generation": "",
		}},
		schedule("*/5 0-3 1,15 * mon"), schedule("@hourly"), schedule("@every 1h30m"),
		schedule("61 * * * *", at+`"61 * * * *": end of range (61) above maximum (59): 61`),
		schedule("* * * *", at+`"* * * *": expected exactly 5 fields, found 4: [* * * *]`),
		schedule("@never", at+`"@never": unrecognized descriptor: @never`),
		schedule("TZ=UTC * * * * *", at+`"TZ=UTC * * * * *": must not contain a time zone`),
		{name: "new has no status A58", kind: "cronjobs",
			body: strings.TrimSuffix(cronJob(never), "}") + `,"status":{"lastScheduleTime":"2020-01-01T00:00:00Z"}}`,
			want: map[string]string{"status": "{}"}},
		{name: "status stays E17", kind: "cronjobs", op: schema.Update, old: cronJob(never),
			body: strings.TrimSuffix(cronJob(`"restartPolicy":"OnFailure"`), "}") + `,"status":{"lastScheduleTime":"2020-01-01T00:00:00Z"}}`,
			want: map[string]string{"status": "{}", "spec.jobTemplate.spec.template.spec.restartPolicy": `"OnFailure"`}},
		{name: "spec stays on status", kind: "cronjobs", op: schema.UpdateStatus, old: cronJob(never),
			body: named(`"status":{"lastScheduleTime":"2020-01-01T00:00:00Z"}`),
			want: map[string]string{"status": `{"lastScheduleTime":"2020-01-01T00:00:00Z"}`, "spec.schedule": `"* * * * *"`}},
		{name: "pods that never end M23", kind: "cronjobs", body: cronJob(""),
			errs: []string{`spec.jobTemplate.spec.template.spec.restartPolicy: Unsupported value: "Always": supported values: "OnFailure", "Never"`}},
		{name: "selector of its own", kind: "cronjobs", body: cronJobOf(`"schedule":"@daily"`, `"selector":{"matchLabels":{"a":"b"}},"manualSelector":true`, never),
			errs: []string{
				`spec.jobTemplate.spec.selector: Invalid value: {"matchLabels":{"a":"b"}}: ` + "`selector` will be auto-generated",
				`spec.jobTemplate.spec.manualSelector: Unsupported value: true: supported values: "nil", "false"`}},
		{name: "selector not of its own", kind: "cronjobs", body: cronJobOf(`"schedule":"@daily"`, `"manualSelector":false`, never)},
	}
}
