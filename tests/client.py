"""A real Jupyter client for the tests: runs cells, collects what comes back."""

import queue
import time
from dataclasses import dataclass, field

from jupyter_client.manager import KernelManager
from jupyter_kernel_test.msgspec_v5 import validate_message

# Against hangs only: nothing in the tests depends on how long things take,
# but for the interrupt, whose second the user was promised.
PATIENCE = 60


@dataclass
class Outcome:
    """What one cell did."""

    reply: dict
    messages: list = field(default_factory=list)  # iopub's, without status and execute_input

    @property
    def status(self):
        return self.reply["content"]["status"]

    def text(self, name="stdout"):
        return "".join(
            m["content"]["text"]
            for m in self.messages
            if m["msg_type"] == "stream" and m["content"]["name"] == name
        )

    def of(self, kind):
        return [m["content"] for m in self.messages if m["msg_type"] == kind]

    @property
    def value(self):
        """The text of the last expression's value, or None."""
        results = self.of("execute_result")
        return results[-1]["data"]["text/plain"] if results else None

    @property
    def error(self):
        """Name, message and trace of the error that was shown, as one text."""
        return "".join(
            "\n".join([e["ename"], e["evalue"], *e["traceback"]]) for e in self.of("error")
        )


class Client:
    """A kernel and its client."""

    def __init__(self, kernel_name="gocuda", **start):
        self.manager = KernelManager(kernel_name=kernel_name)
        self.manager.start_kernel(**start)
        self.kc = self.manager.client()
        self.kc.start_channels()

    def __enter__(self):
        self.kc.wait_for_ready(timeout=PATIENCE)
        return self

    def __exit__(self, *_):
        self.kc.stop_channels()
        self.manager.shutdown_kernel(now=False)

    def send(self, code, **options):
        """Starts a cell and returns its message id."""
        return self.kc.execute(code, **options)

    def finish(self, msg_id, answer=None, until=None):
        """Collects a cell's messages to its idle, and its reply.

        answer is called with the content of each input_request; until, with
        each iopub message, may look in while the cell runs."""
        outcome = Outcome(reply={})
        end = time.monotonic() + PATIENCE
        states = []
        while not states or states[-1] != "idle":
            if answer:
                try:
                    request = self.kc.get_stdin_msg(timeout=0.02)
                    self.kc.input(answer(request["content"]))
                except queue.Empty:
                    pass
            try:
                msg = self.kc.get_iopub_msg(timeout=0.05 if answer else 1)
            except queue.Empty:
                assert time.monotonic() < end, f"no end of the cell; so far: {outcome.messages}"
                continue
            if msg["parent_header"].get("msg_id") != msg_id:
                continue
            if not msg["msg_type"].startswith(("comm_", "debug_")):  # they have no schema
                validate_message(msg, msg["msg_type"], msg_id)
            if msg["msg_type"] == "status":
                states.append(msg["content"]["execution_state"])
            elif msg["msg_type"] != "execute_input":
                assert states == ["busy"], f"{msg['msg_type']} while {states}"
                outcome.messages.append(msg)
            if until:
                until(msg)
        assert states == ["busy", "idle"]
        outcome.reply = self.reply(msg_id)
        return outcome

    def reply(self, msg_id):
        end = time.monotonic() + PATIENCE
        while True:
            msg = self.kc.get_shell_msg(timeout=max(0.1, end - time.monotonic()))
            if msg["parent_header"].get("msg_id") == msg_id:
                return msg

    def run(self, code, answer=None, **options):
        return self.finish(self.send(code, **options), answer=answer)

    def interrupt(self):
        """Interrupts what runs, as Jupyter does, and waits for the answer: if the cell has
        ended meanwhile, the interrupt is not for the next one."""
        self.manager.interrupt_kernel()
        control = self.manager._control_socket
        assert control.poll(PATIENCE * 1000), "no answer to the interrupt"
        control.recv_multipart()

    def value(self, code):
        """The value of a cell that must succeed."""
        outcome = self.run(code)
        assert outcome.status == "ok", outcome.error
        return outcome.value
