# Driver of the Python client: JSON lines, as ../driver.ts describes them.
import dataclasses
import json
import sys
from typing import Any, Dict, Iterable

import countersign as c


def attestation_request(fields: Dict[str, Any]) -> c.AttestationRequest:
    given = {**fields, "from_": fields["from"]}
    del given["from"]
    if "msg_value" in given:
        given["msg_value"] = int(given["msg_value"])
    return c.AttestationRequest(**given)


def failure(error: c.ClientError) -> Dict[str, Any]:
    kinds = {
        c.RequestRefusedError: "refused",
        c.ServiceUnreachableError: "unreachable",
        c.AnswerInvalidError: "answer_invalid",
        c.ArgumentInvalidError: "argument_invalid",
    }
    failed = {"kind": kinds[type(error)], "code": error.code}
    for name in ("status", "detail", "retry_after_seconds"):
        failed[name] = getattr(error, name, None)
    return failed


class Driver:
    client: c.Client

    def run(self, step: Dict[str, Any]) -> Any:
        return getattr(self, step.pop("call"))(**step)

    def open(self, options: Dict[str, Any]) -> None:
        retry = options.pop("retry", {})
        if "timeout_ms" in options:
            options["timeout_seconds"] = options.pop("timeout_ms") / 1000
        self.client = c.Client(
            retry=c.RetryPolicy(
                tries=retry["tries"],
                base_delay_seconds=retry["base_delay_ms"] / 1000,
                max_delay_seconds=retry["max_delay_ms"] / 1000,
            ),
            **options,
        )

    def attest(self, request: Dict[str, Any], idempotency_key: Any = None) -> Any:
        return self.client.attest(attestation_request(request), idempotency_key=idempotency_key)

    def attest_many(self, requests: Iterable[Dict[str, Any]], idempotency_key: Any = None) -> Any:
        results = self.client.attest_many([attestation_request(r) for r in requests], idempotency_key=idempotency_key)
        return [
            {"error": failure(r)} if isinstance(r, c.RequestRefusedError) else {"answer": dataclasses.asdict(r)}
            for r in results
        ]

    def task(self, request: Dict[str, Any], idempotency_key: Any = None) -> Any:
        given = {**request, "from_": request["from"], "msg_value": int(request["msg_value"])}
        del given["from"]
        return self.client.task(c.TaskRequest(**given), idempotency_key=idempotency_key)

    def register(self, type: str, request: Any = None, idempotency_key: Any = None) -> Any:
        return self.client.register(type, idempotency_key=idempotency_key, **(request or {}))

    def status(self, type: str, session_id: str) -> Any:
        return self.client.status(type, session_id)

    def follow(self, type: str, session_id: str) -> None:
        for state in self.client.follow(type, session_id):
            say({"state": dataclasses.asdict(state)})

    def verify(self, address: str, type: Any = None, chain: Any = None) -> Any:
        return self.client.verify(address, kind=type, chain=chain)

    def evm_digest(self, request: Dict[str, Any], answer: Dict[str, Any], chain_id: Any = None) -> Any:
        asked, got = attestation_request(request), answered(answer)
        return {"bytes": "0x" + c.evm_digest(c.evm_attested_call(asked, got, chain_id), got.attestation).hex()}

    def solana_message(self, request: Dict[str, Any], answer: Dict[str, Any]) -> Any:
        asked, got = attestation_request(request), answered(answer)
        return {"bytes": "0x" + c.solana_message(c.solana_attested_call(asked, got), got.attestation).hex()}


def answered(answer: Dict[str, Any]) -> c.AttestationAnswer:
    given = c.Attestation(**answer["attestation"])
    return c.AttestationAnswer(True, "", "", answer["verification_hash"], given.uuid, given, None, "")


def say(line: Any) -> None:
    print(json.dumps(line), flush=True)


driver = Driver()
for line in sys.stdin:
    try:
        result = driver.run(json.loads(line))
        say({"result": dataclasses.asdict(result) if dataclasses.is_dataclass(result) else result})
    except c.ClientError as error:
        say({"error": failure(error)})
