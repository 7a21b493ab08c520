"""Encryption (CurveZMQ), with jupyter_client's keys and libzmq's own client."""

import json
import socket
import threading
import time

import pytest
import zmq
import zmq.utils.monitor
from jupyter_client.manager import KernelManager

from client import PATIENCE, Client

PORTS = ["shell_port", "iopub_port", "stdin_port", "control_port", "hb_port"]


class Encrypted(Client):
    def __init__(self, encryption):
        self.manager = KernelManager(kernel_name="gocuda", transport_encryption=encryption)
        self.manager.start_kernel()
        self.kc = self.manager.client()
        self.kc.start_channels()


@pytest.fixture(scope="module")
def encrypted():
    with Encrypted("auto") as c:
        yield c


def test_a_client_with_keys_works(encrypted):
    assert encrypted.manager.curve_publickey
    assert encrypted.value("1 + 1") == "2"
    outcome = encrypted.run('fmt.Print(strings.Repeat("x", 1<<20), input("name? "))', answer=lambda _: "Ada")
    assert outcome.text() == "x" * (1 << 20) + "Ada"
    cell = encrypted.send("for {}")
    encrypted.manager.interrupt_kernel()
    assert "Interrupted" in encrypted.finish(cell).error
    assert encrypted.kc.is_alive()
    end = time.monotonic() + PATIENCE
    while not encrypted.kc.hb_channel.is_beating():  # a beat that takes a second counts as missed
        assert time.monotonic() < end, "the heart does not beat"
        time.sleep(0.1)


def test_others_get_nothing(encrypted):
    """Without keys, with another server's key, and a client that speaks PLAIN."""
    info = encrypted.manager.get_connection_info()
    request = encrypted.kc.session.msg("kernel_info_request", {})
    frames = encrypted.kc.session.serialize(request)
    context = zmq.Context()
    try:
        for port in PORTS:
            kind = {"iopub_port": zmq.SUB, "hb_port": zmq.REQ}.get(port, zmq.DEALER)
            for how in ("no keys", "another server's key", "plain"):
                s = context.socket(kind)
                s.linger = 0
                if how == "another server's key":
                    s.curve_publickey, s.curve_secretkey = zmq.curve_keypair()
                    s.curve_serverkey = zmq.curve_keypair()[0]
                elif how == "plain":
                    s.plain_username, s.plain_password = b"a", b"b"
                if kind == zmq.SUB:
                    s.subscribe(b"")
                monitor = s.get_monitor_socket()
                s.connect(f"tcp://{info['ip']}:{info[port]}")
                if kind != zmq.SUB:
                    try:
                        s.send_multipart(frames, zmq.DONTWAIT)
                    except zmq.Again:
                        pass  # refused before it could send: no peer is left
                refused = {zmq.EVENT_DISCONNECTED, zmq.EVENT_HANDSHAKE_FAILED_PROTOCOL, zmq.EVENT_HANDSHAKE_FAILED_NO_DETAIL, zmq.EVENT_HANDSHAKE_FAILED_AUTH}
                while True:
                    assert monitor.poll(PATIENCE * 1000), f"{port}, {how}: not refused"
                    event = zmq.utils.monitor.recv_monitor_message(monitor)["event"]
                    assert event != zmq.EVENT_HANDSHAKE_SUCCEEDED, f"{port}, {how}: taken"
                    if event in refused:
                        break
                assert encrypted.value("1 + 1") == "2"
                assert not s.poll(0), f"{port}, {how}: {s.recv_multipart()}"
                s.disable_monitor()
                s.close()
    finally:
        context.destroy(linger=0)


class Tap:
    """Stands between a client and a kernel's ports, and keeps all that passes."""

    def __init__(self, info):
        self.seen, self.lock = bytearray(), threading.Lock()
        self.ports = {}
        for port in PORTS:
            listener = socket.create_server(("127.0.0.1", 0))
            self.ports[port] = listener.getsockname()[1]
            threading.Thread(target=self.accept, args=(listener, info[port]), daemon=True).start()

    def accept(self, listener, port):
        while True:
            a, _ = listener.accept()
            b = socket.create_connection(("127.0.0.1", port))
            for x, y in ((a, b), (b, a)):
                threading.Thread(target=self.copy, args=(x, y), daemon=True).start()

    def copy(self, source, to):
        try:
            while data := source.recv(1 << 16):
                with self.lock:
                    self.seen += data
                to.sendall(data)
            to.shutdown(socket.SHUT_WR)
        except OSError:
            pass


@pytest.mark.parametrize("encryption", ["required", "disabled"])
def test_nobody_reads_along(encryption, tmp_path):
    with Encrypted(encryption) as c:
        info = c.manager.get_connection_info()
        tap = Tap(info)
        for key in ("key", "curve_publickey", "curve_secretkey"):
            if isinstance(info.get(key), bytes):
                info[key] = info[key].decode()
        file = tmp_path / "kernel.json"
        file.write_text(json.dumps({**info, **tap.ports}))
        from jupyter_client import BlockingKernelClient

        own, c.kc = c.kc, BlockingKernelClient(connection_file=str(file))
        c.kc.load_connection_file()
        c.kc.start_channels()
        c.kc.wait_for_ready(timeout=PATIENCE)
        assert c.run('secret := "swordfish"\nfmt.Println(secret)').text() == "swordfish\n"
        with tap.lock:
            seen = bytes(tap.seen)
        for word in (b"swordfish", b"execute_request", b"fmt.Println", b"kernel_info"):
            assert (word in seen) == (encryption == "disabled"), word
        c.kc.stop_channels()
        c.kc = own
