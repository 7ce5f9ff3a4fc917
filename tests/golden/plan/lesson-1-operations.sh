#!/bin/sh
# Lab lesson-1-operations, by hand. rdmalab itself speaks netlink and runs none of these lines.
# What a message costs depends on the operation: whether the peer's application takes part, how many packets it makes, and whether anybody waits for an acknowledgement.
# Needs root, iproute2 6.6 (netem's seed) and ethtool. Best tried in a virtual machine.
# Soft-RoCE works in network namespaces from kernel 7.1 on.
set -eu
modprobe -a bridge ib_uverbs rdma_rxe sch_netem veth
# Each QP may have 64 packets in a receiver's backlog; an overflow there kills it.
sysctl -qw net.core.netdev_max_backlog=100000

# 1. A namespace for each host, one for the fabric between them
ip netns add rl-fabric
ip netns add rl-client
ip -n rl-client link set lo up
ip netns exec rl-client sysctl -qw net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1
ip netns add rl-server
ip -n rl-server link set lo up
ip netns exec rl-server sysctl -qw net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1
ip netns exec rl-fabric sysctl -qw net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1
ip -n rl-fabric link add br0 type bridge
ip -n rl-fabric link set br0 mtu 4200 up

# 2. A veth cable from each host to a port of the fabric
ip -n rl-fabric link add p0 mtu 4200 type veth peer name eth0 address 02:00:00:00:00:01 mtu 4200 netns rl-client
ip netns exec rl-fabric ethtool -K p0 tso off gso off gro off
ip netns exec rl-client ethtool -K eth0 tso off gso off gro off
ip -n rl-fabric link set p0 master br0 up
ip -n rl-client address add 10.0.0.1/24 dev eth0
ip -n rl-client link set eth0 up
ip -n rl-fabric link add p1 mtu 4200 type veth peer name eth0 address 02:00:00:00:00:02 mtu 4200 netns rl-server
ip netns exec rl-fabric ethtool -K p1 tso off gso off gro off
ip netns exec rl-server ethtool -K eth0 tso off gso off gro off
ip -n rl-fabric link set p1 master br0 up
ip -n rl-server address add 10.0.0.2/24 dev eth0
ip -n rl-server link set eth0 up
# Permanent neighbours: no ARP packet may get lost instead of a payload packet.
ip -n rl-client neighbour replace 10.0.0.2 lladdr 02:00:00:00:00:02 dev eth0 nud permanent
ip -n rl-server neighbour replace 10.0.0.1 lladdr 02:00:00:00:00:01 dev eth0 nud permanent

# 3. A Soft-RoCE device on each host's interface
ip netns exec rl-client rdma link add rxe0 type rxe netdev eth0
ip netns exec rl-server rdma link add rxe1 type rxe netdev eth0

# 4. The links: one netem at each port's egress, the last thing before a host
# limit is computed so that the queue itself never drops a packet.
tc -n rl-fabric qdisc add dev p0 root handle 1: netem limit 1000 delay 20us rate 25mbit seed 16321491304643971414
tc -n rl-fabric qdisc add dev p1 root handle 1: netem limit 1000 delay 20us rate 25mbit seed 4585330820673184961

# 5. Traffic
# rdmalab sends its own, checked traffic here. Public tools that come near:
#   read-256: ip netns exec rl-server ib_read_bw -m 4096 -s 256 -t 2 -q 1 -u 14 -D 1 -F -d rxe1 &
#   read-256: ip netns exec rl-client ib_read_bw -m 4096 -s 256 -t 2 -q 1 -u 14 -D 1 -F -d rxe0 10.0.0.2
#   read-4k: ip netns exec rl-server ib_read_bw -m 4096 -s 4096 -t 2 -q 1 -u 14 -D 1 -F -d rxe1 &
#   read-4k: ip netns exec rl-client ib_read_bw -m 4096 -s 4096 -t 2 -q 1 -u 14 -D 1 -F -d rxe0 10.0.0.2
#   read-16k: ip netns exec rl-server ib_read_bw -m 4096 -s 16384 -t 2 -q 1 -u 14 -D 1 -F -d rxe1 &
#   read-16k: ip netns exec rl-client ib_read_bw -m 4096 -s 16384 -t 2 -q 1 -u 14 -D 1 -F -d rxe0 10.0.0.2
#   read-64k: ip netns exec rl-server ib_read_bw -m 4096 -s 65536 -t 2 -q 1 -u 14 -D 1 -F -d rxe1 &
#   read-64k: ip netns exec rl-client ib_read_bw -m 4096 -s 65536 -t 2 -q 1 -u 14 -D 1 -F -d rxe0 10.0.0.2
#   send-imm: ip netns exec rl-server ib_send_bw -m 4096 -s 4096 -t 16 -q 1 -u 14 -D 1 -F -d rxe1 &
#   send-imm: ip netns exec rl-client ib_send_bw -m 4096 -s 4096 -t 16 -q 1 -u 14 -D 1 -F -d rxe0 10.0.0.2
#   write-imm: ip netns exec rl-server ib_write_bw --write_with_imm -m 4096 -s 4096 -t 16 -q 1 -u 14 -D 1 -F -d rxe1 &
#   write-imm: ip netns exec rl-client ib_write_bw --write_with_imm -m 4096 -s 4096 -t 16 -q 1 -u 14 -D 1 -F -d rxe0 10.0.0.2
#   notify: ip netns exec rl-server ib_write_bw -m 4096 -s 4096 -t 16 -q 1 -u 14 -D 1 -F -d rxe1 &
#   notify: ip netns exec rl-client ib_write_bw -m 4096 -s 4096 -t 16 -q 1 -u 14 -D 1 -F -d rxe0 10.0.0.2
#   fetch-add: ip netns exec rl-server ib_atomic_bw -A FETCH_AND_ADD -m 4096 -s 8 -t 1 -q 1 -u 14 -D 1 -F -d rxe1 &
#   fetch-add: ip netns exec rl-client ib_atomic_bw -A FETCH_AND_ADD -m 4096 -s 8 -t 1 -q 1 -u 14 -D 1 -F -d rxe0 10.0.0.2
#   swap: ip netns exec rl-server ib_atomic_bw -A CMP_AND_SWP -m 4096 -s 8 -t 1 -q 1 -u 14 -D 1 -F -d rxe1 &
#   swap: ip netns exec rl-client ib_atomic_bw -A CMP_AND_SWP -m 4096 -s 8 -t 1 -q 1 -u 14 -D 1 -F -d rxe0 10.0.0.2
#   inline: ip netns exec rl-server ib_write_bw -m 4096 -I 256 -s 256 -t 16 -q 1 -u 14 -D 1 -F -d rxe1 &
#   inline: ip netns exec rl-client ib_write_bw -m 4096 -I 256 -s 256 -t 16 -q 1 -u 14 -D 1 -F -d rxe0 10.0.0.2
#   uc-send: ip netns exec rl-server ib_send_bw -m 4096 -c UC -s 4096 -t 16 -q 1 -u 14 -D 1 -F -d rxe1 &
#   uc-send: ip netns exec rl-client ib_send_bw -m 4096 -c UC -s 4096 -t 16 -q 1 -u 14 -D 1 -F -d rxe0 10.0.0.2
#   uc-write: ip netns exec rl-server ib_write_bw --write_with_imm -m 4096 -c UC -s 4096 -t 16 -q 1 -u 14 -D 1 -F -d rxe1 &
#   uc-write: ip netns exec rl-client ib_write_bw --write_with_imm -m 4096 -c UC -s 4096 -t 16 -q 1 -u 14 -D 1 -F -d rxe0 10.0.0.2
#   uc-imm: ip netns exec rl-server ib_send_bw -m 4096 -c UC -s 4096 -t 16 -q 1 -u 14 -D 1 -F -d rxe1 &
#   uc-imm: ip netns exec rl-client ib_send_bw -m 4096 -c UC -s 4096 -t 16 -q 1 -u 14 -D 1 -F -d rxe0 10.0.0.2
#   ud-send: ip netns exec rl-server ib_send_bw -m 4096 -c UD -s 4096 -t 16 -q 1 -u 14 -D 1 -F -d rxe1 &
#   ud-send: ip netns exec rl-client ib_send_bw -m 4096 -c UD -s 4096 -t 16 -q 1 -u 14 -D 1 -F -d rxe0 10.0.0.2
#   ud-imm: ip netns exec rl-server ib_send_bw -m 4096 -c UD -s 4096 -t 16 -q 1 -u 14 -D 1 -F -d rxe1 &
#   ud-imm: ip netns exec rl-client ib_send_bw -m 4096 -c UD -s 4096 -t 16 -q 1 -u 14 -D 1 -F -d rxe0 10.0.0.2
printf 'The lab stands; press Enter to go on. '; read -r _ || true

# 6. What was counted; then everything goes away
tc -n rl-fabric -s qdisc show
ip netns exec rl-client rdma statistic show link rxe0/1
ip netns exec rl-server rdma statistic show link rxe1/1
ip netns exec rl-client rdma link delete rxe0
ip netns exec rl-server rdma link delete rxe1
ip netns delete rl-client
ip netns delete rl-server
ip netns delete rl-fabric
