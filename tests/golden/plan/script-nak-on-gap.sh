#!/bin/sh
# Lab script-nak-on-gap, by hand. rdmalab itself speaks netlink and runs none of these lines.
# A receiver that finds a gap asks for the missing packet at once.
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
ip -n rl-fabric link set br0 mtu 1500 up

# 2. A veth cable from each host to a port of the fabric
ip -n rl-fabric link add p0 mtu 1500 type veth peer name eth0 address 02:00:00:00:00:01 mtu 1500 netns rl-client
ip netns exec rl-fabric ethtool -K p0 tso off gso off gro off
ip netns exec rl-client ethtool -K eth0 tso off gso off gro off
ip -n rl-fabric link set p0 master br0 up
ip -n rl-client address add 10.0.0.1/24 dev eth0
ip -n rl-client link set eth0 up
ip -n rl-fabric link add p1 mtu 1500 type veth peer name eth0 address 02:00:00:00:00:02 mtu 1500 netns rl-server
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
tc -n rl-fabric qdisc add dev p0 root handle 1: netem limit 1731 delay 300us rate 250mbit seed 16321491304643971414
tc -n rl-fabric qdisc add dev p1 root handle 1: netem limit 1731 delay 300us rate 250mbit seed 4585330820673184961

# 5. Traffic, unfaulted
# rdmalab sends its own, checked traffic here. Public tools that come near:
#   roce: ip netns exec rl-server ib_write_bw -m 1024 -s 16384 -t 1 -q 1 -u 14 -D 1 -F -d rxe1 &
#   roce: ip netns exec rl-client ib_write_bw -m 1024 -s 16384 -t 1 -q 1 -u 14 -D 1 -F -d rxe0 10.0.0.2
printf 'The lab stands; press Enter to go on. '; read -r _ || true

# 6. The faults
# event-2: drop roce's data 3, stream 0, sent the 1st time, 1 at most. Only rdmalab's eBPF programs can do that.

# 7. Traffic, faulted
# rdmalab sends its own, checked traffic here. Public tools that come near:
#   roce: ip netns exec rl-server ib_write_bw -m 1024 -s 16384 -t 1 -q 1 -u 14 -D 1 -F -d rxe1 &
#   roce: ip netns exec rl-client ib_write_bw -m 1024 -s 16384 -t 1 -q 1 -u 14 -D 1 -F -d rxe0 10.0.0.2
printf 'The lab stands; press Enter to go on. '; read -r _ || true

# 8. What was counted; then everything goes away
tc -n rl-fabric -s qdisc show
ip netns exec rl-client rdma statistic show link rxe0/1
ip netns exec rl-server rdma statistic show link rxe1/1
ip netns exec rl-client rdma link delete rxe0
ip netns exec rl-server rdma link delete rxe1
ip netns delete rl-client
ip netns delete rl-server
ip netns delete rl-fabric
