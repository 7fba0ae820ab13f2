// A program that uses only the packed client, run in an empty folder. Prints one line of JSON that the test compares.
// Argument: the URL of the server.
import { createCountersignClient } from '@countersign/client'
import { RequestRefusedError } from '@countersign/client/errors'
import { attestationArgument, evmAttestedCall } from '@countersign/client/evm-arguments'
import { solanaMessage } from '@countersign/client/solana-attestation'

const url = process.argv[2]
const client = createCountersignClient({
  attestationUrl: url,
  attestationApiKey: 'csa_test_key',
  identityUrl: url,
  identityApiKey: 'csi_test_key',
  retry: { baseDelayMs: 0 },
})
const sessionId = '0f9a4a1e-7b1c-4d4e-9a53-3c8f2f2f3b10'
const from = '0x1111111111111111111111111111111111111111'

const request = { from, to: from, chain: 'base', msgValue: 5n }
const answer = await client.attest(request)

const statuses = []
for await (const { status } of client.follow('individual', sessionId)) statuses.push(status)

const left = new AbortController()
const reason = await (async () => {
  try {
    for await (const _ of client.follow('business', sessionId, { signal: left.signal })) left.abort('left')
  } catch (error) {
    return error
  }
})()

const refusal = await client.verify({ address: from }).catch((error) => error)

process.stdout.write(
  JSON.stringify({
    attester: attestationArgument(answer.attestation).attester,
    chainId: evmAttestedCall(request, answer).chainId,
    statuses,
    reason,
    refused: refusal instanceof RequestRefusedError && refusal.code,
    messageBytes: solanaMessage(
      { from: '1'.repeat(32), to: '1'.repeat(32), verificationHash: 'x' },
      { uuid: sessionId, expiration: 1 },
    ).length,
  }),
)
