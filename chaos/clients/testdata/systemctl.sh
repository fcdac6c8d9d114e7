#!/bin/sh
# A stand-in for systemctl and journalctl: it starts what the unit of Quorate says in its own words, and ends it. Of a unit it knows
# ExecStart, Environment, EnvironmentFile and a StateDirectory of a dynamic user.
unit=/etc/systemd/system/quorate.service
pid=/run/quorate.pid
log=/var/log/quorate.log

value() { sed -n "s/^$1=-\{0,1\}//p" "$unit"; }

# A process whose first thread has ended holds its files and ports until the others have ended too.
running() {
  [ -e "$pid" ] || return
  status="/proc/$(cat $pid)/status"
  [ -e "$status" ] && ! { grep -q '^State:.Z' "$status" && grep -q '^Threads:.1$' "$status"; }
}

start() {
  running && return
  mkdir -p /var/lib/private
  mkdir -p -m 700 "/var/lib/private/$(value StateDirectory)"
  ln -sfn "private/$(value StateDirectory)" "/var/lib/$(value StateDirectory)"
  set -a
  eval "$(value Environment)"
  if [ -e "$(value EnvironmentFile)" ]; then . "$(value EnvironmentFile)"; fi
  set +a
  : >>"$log"
  setsid $(value ExecStart) >>"$log" 2>&1 </dev/null &
  echo $! >"$pid"
}

stop() {
  running || return 0
  kill "$1" "$(cat $pid)"
  while running; do sleep 0.05; done
}

[ "${0##*/}" = journalctl ] && exec cat "$log"
case "$*" in
  daemon-reload) ;;
  "enable --now quorate" | "start quorate") start ;;
  "kill --signal=KILL quorate") stop -KILL ;;
  "stop quorate") stop -TERM ;;
  "restart quorate") stop -TERM && start ;;
  *) echo "this stand-in for systemctl does not know: $*" && exit 1 ;;
esac
