#!/bin/sh
# Lab lesson-6-when, by hand. rdmalab itself speaks netlink and runs none of these lines.
# For small messages fixed costs decide, for large ones the bytes. In software RDMA does not win on latency, and on CPU at the receiver only; so the cheap options come first.
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
ip netns add rl-slow
ip -n rl-slow link set lo up
ip netns exec rl-slow sysctl -qw net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1
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
ip -n rl-fabric link add p2 mtu 4200 type veth peer name eth0 address 02:00:00:00:00:03 mtu 4200 netns rl-slow
ip netns exec rl-fabric ethtool -K p2 tso off gso off gro off
ip netns exec rl-slow ethtool -K eth0 tso off gso off gro off
ip -n rl-fabric link set p2 master br0 up
ip -n rl-slow address add 10.0.0.3/24 dev eth0
ip -n rl-slow link set eth0 up
# Permanent neighbours: no ARP packet may get lost instead of a payload packet.
ip -n rl-client neighbour replace 10.0.0.2 lladdr 02:00:00:00:00:02 dev eth0 nud permanent
ip -n rl-client neighbour replace 10.0.0.3 lladdr 02:00:00:00:00:03 dev eth0 nud permanent
ip -n rl-server neighbour replace 10.0.0.1 lladdr 02:00:00:00:00:01 dev eth0 nud permanent
ip -n rl-server neighbour replace 10.0.0.3 lladdr 02:00:00:00:00:03 dev eth0 nud permanent
ip -n rl-slow neighbour replace 10.0.0.1 lladdr 02:00:00:00:00:01 dev eth0 nud permanent
ip -n rl-slow neighbour replace 10.0.0.2 lladdr 02:00:00:00:00:02 dev eth0 nud permanent

# 3. A Soft-RoCE device on each host's interface
ip netns exec rl-client rdma link add rxe0 type rxe netdev eth0
ip netns exec rl-server rdma link add rxe1 type rxe netdev eth0
ip netns exec rl-slow rdma link add rxe2 type rxe netdev eth0

# 4. The links: one netem at each port's egress, the last thing before a host
# limit is computed so that the queue itself never drops a packet.
tc -n rl-fabric qdisc add dev p0 root handle 1: netem limit 22902 delay 20us rate 1gbit seed 16321491304643971414
tc -n rl-fabric qdisc add dev p1 root handle 1: netem limit 22902 delay 20us rate 1gbit seed 4585330820673184961
tc -n rl-fabric qdisc add dev p2 root handle 1: netem limit 22855 delay 20us rate 200mbit seed 10430974457111710706

# 5. Traffic
# rdmalab sends its own, checked traffic here. Public tools that come near:
#   write-64b: ip netns exec rl-server ib_write_bw -m 4096 -s 64 -t 1 -q 1 -u 14 -D 1 -F -d rxe1 &
#   write-64b: ip netns exec rl-client ib_write_bw -m 4096 -s 64 -t 1 -q 1 -u 14 -D 1 -F -d rxe0 10.0.0.2
#   tcp-64b: ip netns exec rl-server netserver
#   tcp-64b: ip netns exec rl-client netperf -H 10.0.0.2 -l 1 -t TCP_RR -- -r 64,8
#   write-4k: ip netns exec rl-server ib_write_bw -m 4096 -s 4096 -t 1 -q 1 -u 14 -D 1 -F -d rxe1 &
#   write-4k: ip netns exec rl-client ib_write_bw -m 4096 -s 4096 -t 1 -q 1 -u 14 -D 1 -F -d rxe0 10.0.0.2
#   tcp-4k: ip netns exec rl-server netserver
#   tcp-4k: ip netns exec rl-client netperf -H 10.0.0.2 -l 1 -t TCP_RR -- -r 4096,8
#   write-64k: ip netns exec rl-server ib_write_bw -m 4096 -s 65536 -t 1 -q 1 -u 14 -D 1 -F -d rxe1 &
#   write-64k: ip netns exec rl-client ib_write_bw -m 4096 -s 65536 -t 1 -q 1 -u 14 -D 1 -F -d rxe0 10.0.0.2
#   tcp-64k: ip netns exec rl-server netserver
#   tcp-64k: ip netns exec rl-client netperf -H 10.0.0.2 -l 1 -t TCP_RR -- -r 65536,8
#   write-1m: ip netns exec rl-server ib_write_bw -m 4096 -s 1048576 -t 1 -q 1 -u 14 -D 1 -F -d rxe1 &
#   write-1m: ip netns exec rl-client ib_write_bw -m 4096 -s 1048576 -t 1 -q 1 -u 14 -D 1 -F -d rxe0 10.0.0.2
#   tcp-1m: ip netns exec rl-server netserver
#   tcp-1m: ip netns exec rl-client netperf -H 10.0.0.2 -l 1 -t TCP_RR -- -r 1048576,8
#   write-4m: ip netns exec rl-server ib_write_bw -m 4096 -s 4194304 -t 1 -q 1 -u 14 -D 1 -F -d rxe1 &
#   write-4m: ip netns exec rl-client ib_write_bw -m 4096 -s 4194304 -t 1 -q 1 -u 14 -D 1 -F -d rxe0 10.0.0.2
#   tcp-4m: ip netns exec rl-server netserver
#   tcp-4m: ip netns exec rl-client netperf -H 10.0.0.2 -l 1 -t TCP_RR -- -r 4194304,8
#   write-mtu1024: ip netns exec rl-server ib_write_bw -m 1024 -s 65536 -t 16 -q 1 -u 14 -D 1 -F -d rxe1 &
#   write-mtu1024: ip netns exec rl-client ib_write_bw -m 1024 -s 65536 -t 16 -q 1 -u 14 -D 1 -F -d rxe0 10.0.0.2
#   write-mtu4096: ip netns exec rl-server ib_write_bw -m 4096 -s 65536 -t 16 -q 1 -u 14 -D 1 -F -d rxe1 &
#   write-mtu4096: ip netns exec rl-client ib_write_bw -m 4096 -s 65536 -t 16 -q 1 -u 14 -D 1 -F -d rxe0 10.0.0.2
#   write-4qps: ip netns exec rl-server ib_write_bw -m 4096 -s 65536 -t 4 -q 4 -u 14 -D 1 -F -d rxe1 &
#   write-4qps: ip netns exec rl-client ib_write_bw -m 4096 -s 65536 -t 4 -q 4 -u 14 -D 1 -F -d rxe0 10.0.0.2
#   write-2deep: ip netns exec rl-server ib_write_bw -m 4096 -s 4096 -t 2 -q 1 -u 14 -D 1 -F -d rxe1 &
#   write-2deep: ip netns exec rl-client ib_write_bw -m 4096 -s 4096 -t 2 -q 1 -u 14 -D 1 -F -d rxe0 10.0.0.2
#   write-64deep: ip netns exec rl-server ib_write_bw -m 4096 -s 4096 -t 64 -q 1 -u 14 -D 1 -F -d rxe1 &
#   write-64deep: ip netns exec rl-client ib_write_bw -m 4096 -s 4096 -t 64 -q 1 -u 14 -D 1 -F -d rxe0 10.0.0.2
#   write-64deep-16th: ip netns exec rl-server ib_write_bw -m 4096 -s 4096 -t 64 -q 1 -u 14 -D 1 -F -d rxe1 &
#   write-64deep-16th: ip netns exec rl-client ib_write_bw -m 4096 -s 4096 -t 64 -q 1 -u 14 -D 1 -F -d rxe0 10.0.0.2
#   write-slow: ip netns exec rl-slow ib_write_bw -m 4096 -s 4096 -t 64 -q 1 -u 14 -D 1 -F -d rxe2 &
#   write-slow: ip netns exec rl-client ib_write_bw -m 4096 -s 4096 -t 64 -q 1 -u 14 -D 1 -F -d rxe0 10.0.0.3
#   write-slow-16th: ip netns exec rl-slow ib_write_bw -m 4096 -s 4096 -t 64 -q 1 -u 14 -D 1 -F -d rxe2 &
#   write-slow-16th: ip netns exec rl-client ib_write_bw -m 4096 -s 4096 -t 64 -q 1 -u 14 -D 1 -F -d rxe0 10.0.0.3
#   tcp-2deep: ip netns exec rl-server netserver
#   tcp-2deep: ip netns exec rl-client netperf -H 10.0.0.2 -l 1 -t TCP_RR -- -r 64,8 -b 1
#   tcp-2deep-nodelay: ip netns exec rl-server netserver
#   tcp-2deep-nodelay: ip netns exec rl-client netperf -H 10.0.0.2 -l 1 -t TCP_RR -- -r 64,8 -b 1
#   tcp-16deep: ip netns exec rl-server netserver
#   tcp-16deep: ip netns exec rl-client netperf -H 10.0.0.2 -l 1 -t TCP_RR -- -r 64,8 -b 15
#   tcp-16deep-nodelay: ip netns exec rl-server netserver
#   tcp-16deep-nodelay: ip netns exec rl-client netperf -H 10.0.0.2 -l 1 -t TCP_RR -- -r 64,8 -b 15
#   tcp-stream: ip netns exec rl-server iperf3 -s -1 &
#   tcp-stream: ip netns exec rl-client iperf3 -c 10.0.0.2 -P 1 -C cubic -l 65536 -t 1
#   tcp-4streams: ip netns exec rl-server iperf3 -s -1 &
#   tcp-4streams: ip netns exec rl-client iperf3 -c 10.0.0.2 -P 4 -C cubic -l 65536 -t 1
#   tcp-zerocopy: ip netns exec rl-server iperf3 -s -1 &
#   tcp-zerocopy: ip netns exec rl-client iperf3 -c 10.0.0.2 -P 1 -C cubic -l 65536 -t 1
printf 'The lab stands; press Enter to go on. '; read -r _ || true

# 6. What was counted; then everything goes away
tc -n rl-fabric -s qdisc show
ip netns exec rl-client rdma statistic show link rxe0/1
ip netns exec rl-server rdma statistic show link rxe1/1
ip netns exec rl-slow rdma statistic show link rxe2/1
ip netns exec rl-client rdma link delete rxe0
ip netns exec rl-server rdma link delete rxe1
ip netns exec rl-slow rdma link delete rxe2
ip netns delete rl-client
ip netns delete rl-server
ip netns delete rl-slow
ip netns delete rl-fabric
