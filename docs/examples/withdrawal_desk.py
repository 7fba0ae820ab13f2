"""A withdrawal desk: pays out what the policy allows, once for each order, and keeps the proof beside the payment.

    set -a; . ./data/quickstart.env; set +a
    PYTHONPATH=clients/python python3 docs/examples/withdrawal_desk.py

One order is PUT /withdrawals/ORDER {"chain":"base","to":"0x…","wei":"5"}. A denial is an answer and is kept as well; without
an answer from the service nothing is paid and nothing is kept, so that the same order can be sent again. Standard library
and the client of clients/python only.
"""

import json
import os
import re
import sqlite3
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock

from countersign import AttestationRequest, Client, ClientError, RequestRefusedError

client = Client(
    attestation_url=os.environ["ATTESTATION_URL"],
    attestation_api_key=os.environ["ATTESTATION_API_KEY"],
)
VERIFICATION_HASH = os.environ["VERIFICATION_HASH"]
BODY_BYTES_MAX = 1_000

books = sqlite3.connect(os.environ.get("BOOKS", "withdrawals.db"), check_same_thread=False)
books.execute(
    "CREATE TABLE IF NOT EXISTS withdrawals "
    "(order_id TEXT PRIMARY KEY, body TEXT NOT NULL, outcome TEXT NOT NULL, uuid TEXT, signature TEXT)"
)
turn = Lock()


def pay(chain: str, to: str, wei: int) -> None:
    """Yours: hand the payment to whoever holds the money. Within the order's transaction, so it is made once."""


def decide(order: str, body: str) -> tuple[int, dict]:
    fields = json.loads(body)
    if not isinstance(fields, dict) or not re.fullmatch(r"[1-9][0-9]{0,30}", str(fields.get("wei"))):
        return 400, {"error": 'send {"chain":"base","to":"0x…","wei":"5"}'}
    known = books.execute("SELECT body, outcome FROM withdrawals WHERE order_id = ?", (order,)).fetchone()
    if known is not None:
        return (200, json.loads(known[1])) if known[0] == body else (409, {"error": "this order is another one"})

    chain, to, wei = str(fields.get("chain")), str(fields.get("to")), int(fields["wei"])
    # The receiver is the wallet that the policy looks at. Asked twice under one key, it is decided once.
    request = AttestationRequest(chain=chain, from_=to, verification_hash=VERIFICATION_HASH, msg_value=wei)
    answer = client.attest(request, idempotency_key=f"withdrawal-{order}")
    attestation = answer.attestation
    outcome = (
        {"paid": True, "uuid": attestation.uuid}
        if attestation is not None
        else {"paid": False, "code": answer.reason and answer.reason.code, "reason": answer.reason and answer.reason.message}
    )
    with books:
        row = (order, body, json.dumps(outcome), attestation and attestation.uuid, attestation and attestation.signature)
        books.execute("INSERT INTO withdrawals VALUES (?, ?, ?, ?, ?)", row)
        if attestation is not None:
            pay(chain, to, wei)
    return 200, outcome


class Desk(BaseHTTPRequestHandler):
    def do_PUT(self) -> None:
        order = re.fullmatch(r"/withdrawals/([A-Za-z0-9-]{1,64})", self.path)
        length = int(self.headers.get("content-length") or 0)
        if order is None or not 0 < length <= BODY_BYTES_MAX:
            return self.answer(404 if order is None else 400, {"error": "PUT /withdrawals/ORDER"})
        body = self.rfile.read(length).decode("utf-8", "replace")
        try:
            with turn:
                self.answer(*decide(order[1], body))
        except json.JSONDecodeError:
            self.answer(400, {"error": "that is no JSON"})
        except RequestRefusedError as error:
            # 400 and the like: the order itself is wrong. The rest is tried again by whoever sent the order.
            wrong = error.status == 400
            self.answer(400 if wrong else 503, {"error": error.detail if wrong else "try again later"})
        except ClientError as error:
            self.log_message("%s %s", error.code, error.request_id)
            self.answer(503, {"error": "try again later"})

    def answer(self, status: int, body: dict) -> None:
        content = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "8091"))), Desk)
    print(f"PUT http://127.0.0.1:{server.server_port}/withdrawals/ORDER", flush=True)
    server.serve_forever()
