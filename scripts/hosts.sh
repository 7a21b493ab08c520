#!/usr/bin/env bash
# Hosts for tests, made of namespaces of this machine: h1, h2, ..., each with its
# name, its address on a switch, its processes, sshd, /root, /run, /tmp and /dev/shm.
# Root can log in to each from each. It needs root, iproute2 and openssh-server, and
# touches nothing outside of its namespaces and of DIR.
#
#   hosts.sh can                   exit status 0 if they can be made; says why not
#   hosts.sh up DIR N [PATH...]    makes N; these paths, in no other host's /tmp or /root, are theirs too
#   hosts.sh in DIR HOST COMMAND   runs a command there
#   hosts.sh cut DIR HOST          takes the link away; restore DIR HOST gives it back
#   hosts.sh ps DIR HOST           processes, but for the host's own
#   hosts.sh left DIR HOST         what is in its /tmp, /dev/shm and /run that was not at first
#   hosts.sh kill DIR HOST         kills all processes but the host's own
#   hosts.sh sshd DIR HOST restart|stop|kill    kill ends its sessions, too
#   hosts.sh slurm DIR             starts munged and slurmd on all, slurmctld on h1
#   hosts.sh down DIR              ends them
set -euo pipefail

say() { echo "$*" >&2; exit 1; }
net=10.203.17

# A program in a host's or the switch's namespaces.
enter() { nsenter -t "$(cat "$dir/$1/pid")" -m -u -i -n -p $(clock) "${@:2}"; }
switch() { nsenter -t "$(cat "$dir/switch")" -n "$@"; }

# Each host has a clock of its own since its start, where the system can do that.
clock() { ! unshare -T --monotonic 1000 true 2>/dev/null || echo -T "$@"; }

can() {
  [ "$(uname)" = Linux ] && [ "$(id -u)" = 0 ] || say "not root on Linux"
  for c in ip unshare nsenter ssh ssh-keygen; do command -v $c >/dev/null || say "there is no $c"; done
  [ -x /usr/sbin/sshd ] || say "there is no sshd"
  unshare -n -u -m -p -i -f sh -c 'mount -t tmpfs none /mnt && ip link add veth0 type veth peer name veth1 && ip link add switch type bridge' 2>/dev/null ||
    say "namespaces cannot be made here"
}

up() {
  n=$1; shift
  mkdir -p "$dir"; chmod 755 "$dir"
  ssh-keygen -q -t ed25519 -N '' -f "$dir/key" -C hosts
  unshare -n sleep infinity </dev/null >/dev/null 2>&1 & echo $! >"$dir/switch"
  until [ "$(readlink "/proc/$(cat "$dir/switch")/ns/net")" != "$(readlink /proc/self/ns/net)" ]; do :; done
  switch ip link add switch type bridge
  switch ip link set switch up
  { echo "127.0.0.1 localhost"; for i in $(seq "$n"); do echo "$net.$i h$i"; done; } >"$dir/etc-hosts"
  for i in $(seq "$n"); do echo "h$i,$net.$i $(cut -d' ' -f1,2 "$dir/key.pub")"; done >"$dir/known_hosts"
  cat >"$dir/sshd_config" <<END
HostKey $dir/key
AuthorizedKeysFile $dir/key.pub
PermitRootLogin yes
StrictModes no
UsePAM no
PasswordAuthentication no
PidFile /run/sshd.pid
MaxStartups 100
END
  for i in $(seq "$n"); do
    mkdir -p "$dir/h$i"
    # The host's first process; it takes in what is orphaned.
    setsid unshare -n -u -m -p -i $(clock --monotonic $((i * 1000))) -f --kill-child --mount-proc "$0" init "$dir" "h$i" "$@" </dev/null >"$dir/h$i/log" 2>&1 &
    echo $! >"$dir/h$i/unshare"
  done
  for i in $(seq "$n"); do
    until [ -s "$dir/h$i/ready" ]; do
      [ ! -s "$dir/h$i/log" ] || { cat "$dir/h$i/log" >&2; say "h$i did not come up"; }
      sleep 0.01
    done
    # The process inside, as seen from outside.
    outer=$(cat "$dir/h$i/unshare"); cat "/proc/$outer/task/$outer/children" | tr -d ' ' >"$dir/h$i/pid"
    switch ip link add "p$i" type veth peer name eth0 netns "$(cat "$dir/h$i/pid")"
    switch ip link set "p$i" master switch up
    enter "h$i" sh -c "ip link set lo up; ip addr add $net.$i/24 dev eth0; ip link set eth0 up; /usr/sbin/sshd -f $dir/sshd_config"
    found "h$i" >"$dir/h$i/first"
  done
}

# init is a host's first process.
init() {
  host=$1; shift
  hostname "$host"
  mount --make-rprivate /
  new=/mnt
  mount -t tmpfs -o mode=755 none "$new"
  mkdir "$new/tmp" "$new/root" "$new/run"; chmod 1777 "$new/tmp"; chmod 700 "$new/root"
  for path in "$dir" "$@"; do
    case $path in
    /tmp/* | /root/* | /run/*) mkdir -p "$new$path"; mount --bind "$path" "$new$path" ;;
    esac
  done
  mkdir -p "$new/run/sshd" "$new/root/.ssh"
  cp "$dir/key" "$new/root/.ssh/id_ed25519"; cp "$dir/known_hosts" "$new/root/.ssh/"
  for d in /root /run /tmp; do mount --rbind "$new$d" $d; done
  umount -l /mnt
  mount -t tmpfs -o mode=1777 none /dev/shm
  mount --bind "$dir/etc-hosts" /etc/hosts
  cd /
  echo up >"$dir/$host/ready"
  exec >/dev/null 2>&1
  while :; do sleep 1000 & wait $!; done
}

# found lists what is in a host's own folders, but for what it has of others.
found() { enter "$1" sh -c 'cd /; find /tmp /dev/shm /run /root -mindepth 1 -mount | grep -v ^/run/slurm/ | sort'; }

slurm() {
  mkdir "$dir/slurm"
  # Slurm's plugin opens PMIx by a name that only Debian's development package has.
  pmix=$(echo /usr/lib/*/pmix2/lib)
  mkdir "$dir/pmix"
  [ ! -d "$pmix" ] || { cp -a "$pmix/." "$dir/pmix"; ln -s libpmix.so.2 "$dir/pmix/libpmix.so"; }
  dd if=/dev/urandom of="$dir/munge.key" bs=1024 count=1 status=none
  chmod 400 "$dir/munge.key"
  echo "NodeName=h[1-$(ls -d "$dir"/h[0-9]* | wc -l)] Name=gpu File=/dev/null,/dev/zero" >"$dir/slurm/gres.conf"
  cat >"$dir/slurm/slurm.conf" <<END
ClusterName=hosts
SlurmctldHost=h1
SlurmUser=root
AuthInfo=socket=/run/munge/socket
StateSaveLocation=/run/slurm/state
SlurmdSpoolDir=/run/slurm/spool
SlurmctldPidFile=/run/slurm/slurmctld.pid
SlurmdPidFile=/run/slurm/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SlurmdParameters=config_overrides
ReturnToService=2
GresTypes=gpu
SchedulerParameters=batch_sched_delay=0,sched_min_interval=0
NodeName=h[1-$(ls -d "$dir"/h[0-9]* | wc -l)] CPUs=4 Boards=1 SocketsPerBoard=1 CoresPerSocket=4 ThreadsPerCore=1 Gres=gpu:2
PartitionName=all Nodes=ALL Default=YES
END
  for host in $(cd "$dir" && ls -d h[0-9]*); do
    enter "$host" sh -c "mkdir -p /run/munge /run/slurm/state /run/slurm/spool; mount --bind $dir/slurm /etc/slurm
      [ ! -d $pmix ] || mount --bind $dir/pmix $pmix
      /usr/sbin/munged --force --key-file=$dir/munge.key --socket=/run/munge/socket --pid-file=/run/munge/pid --seed-file=/run/munge/seed --log-file=/run/munge/log 2>/run/munge/said
      [ $host != h1 ] || /usr/sbin/slurmctld -i -L /run/slurm/slurmctld.log
      /usr/sbin/slurmd -N $host -L /run/slurm/slurmd.log"
  done
  until enter h1 sinfo -h -o %T -N 2>/dev/null | grep -c idle | grep -qx "$(ls -d "$dir"/h[0-9]* | wc -l)"; do sleep 0.05; done
  for host in $(cd "$dir" && ls -d h[0-9]*); do found "$host" >"$dir/$host/first"; done
}

[ $# -ge 1 ] || say "see the top of $0"
command=$1; shift
[ "$command" = can ] || { dir=$(readlink -m "$1"); shift; }
case $command in
can) can ;;
up) up "$@" ;;
init) init "$@" ;;
in) host=$1; shift; exec nsenter -t "$(cat "$dir/$host/pid")" -m -u -i -n -p $(clock) env HOME=/root "$@" ;;
cut) switch ip link set "p${1#h}" down ;;
ps) enter "$1" ps -eo pid,ppid,args --no-headers | grep -vE '^ +1 |sleep 1000|sshd: .*listener|ps -eo|/munged |slurmctld|/slurmd ' || true ;;
left) found "$1" | comm -13 "$dir/$1/first" - ;;
sshd)
  case $2 in
  restart)
    enter "$1" sh -c 'kill $(cat /run/sshd.pid) 2>/dev/null; rm -f /run/sshd.pid'
    enter "$1" /usr/sbin/sshd -f "$dir/sshd_config"
    ;;
  stop) enter "$1" sh -c 'kill $(cat /run/sshd.pid)' ;;
  kill) enter "$1" pkill -9 sshd ;;
  esac
  ;;
kill)
  enter "$1" sh -c 'for p in /proc/[0-9]*; do
    words=$(tr "\0" " " <$p/cmdline 2>/dev/null)
    case "${p#/proc/} $words" in "1 "* | "$$ "* | *"sleep 1000"* | *" [listener] "*) ;; *) kill -9 ${p#/proc/} 2>/dev/null ;; esac
  done; true'
  ;;
slurm) slurm ;;
restore) switch ip link set "p${1#h}" up ;;
down)
  for pid in "$dir"/h*/unshare "$dir"/switch; do kill -9 "$(cat "$pid")" 2>/dev/null || true; done
  ;;
*) say "see the top of $0" ;;
esac
