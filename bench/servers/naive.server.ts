// A first version of such a service as it is usually written: Elysia with a schema, and a handler that signs with viem. No
// API key, no policy, no record, no worker. The port is the first argument. Ends with its parent.
import { Elysia, t } from 'elysia'
import { type Hex, serializeSignature, zeroAddress } from 'viem'
import { privateKeyToAddress, sign } from 'viem/accounts'
import { statementDigest } from '../load/verify-answer.ts'
import { benchKey } from './bench-key.ts'

const privateKey: Hex = `0x${Buffer.from(benchKey('naive attester')).toString('hex')}`
const attester = privateKeyToAddress(privateKey)
const VERIFICATION_HASH = 'x-00000000000000000000000000000000'
const LIFETIME_SECONDS = 300

const app = new Elysia().post(
  '/v2/attestation',
  async ({ body }) => {
    const uuid = crypto.randomUUID()
    const expiration = Math.floor(Date.now() / 1000) + LIFETIME_SECONDS
    const hash = statementDigest(
      {
        chain: body.chain,
        from: body.from,
        to: body.to ?? zeroAddress,
        verificationHash: VERIFICATION_HASH,
        msgValue: body.msg_value ?? '0',
        data: body.data ?? '0x',
      },
      { uuid, policy: VERIFICATION_HASH, expiration },
    )
    const signature = serializeSignature(await sign({ hash, privateKey }))
    return {
      policy_id: 'policy_0000000000000000',
      policy_name: 'Naive',
      verification_hash: VERIFICATION_HASH,
      is_compliant: true,
      attestation: { uuid, expiration, attester, signature },
    }
  },
  {
    body: t.Object({
      from: t.String(),
      chain: t.String(),
      to: t.Optional(t.String()),
      verification_hash: t.Optional(t.String()),
      data: t.Optional(t.String()),
      msg_value: t.Optional(t.String()),
    }),
  },
)

app.listen({ hostname: '127.0.0.1', port: Number(process.argv[2] ?? 0), reusePort: false })
process.on('disconnect', () => process.exit(0))
process.send?.({ port: app.server?.port, attester })
