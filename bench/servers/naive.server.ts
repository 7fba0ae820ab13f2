// A simple attestation service: Elysia with a schema, and a handler that signs with viem or with the secp256k1 backend
// in the first argument. It has no API key, policy, record or worker, and ends with its parent.
import { Elysia, t } from 'elysia'
import { type Hex, hexToBytes, serializeSignature, zeroAddress } from 'viem'
import { privateKeyToAddress, sign } from 'viem/accounts'
import { chooseSecp256k1Backend } from '../../src/signing/secp256k1-backends.ts'
import { statementDigest } from '../load/verify-answer.ts'
import { benchKey } from './bench-key.ts'

const privateKey: Hex = `0x${Buffer.from(benchKey('naive attester')).toString('hex')}`
const attester = privateKeyToAddress(privateKey)
const VERIFICATION_HASH = 'x-00000000000000000000000000000000'
const LIFETIME_SECONDS = 300

const createSign = (): ((hash: Hex) => Hex | Promise<Hex>) => {
  const name = process.argv[2] ?? 'viem'
  if (name === 'viem') return async (hash) => serializeSignature(await sign({ hash, privateKey }))
  const { backend } = chooseSecp256k1Backend(name as Parameters<typeof chooseSecp256k1Backend>[0])
  const signer = backend.createSigner(hexToBytes(privateKey))
  const signature = new Uint8Array(65)
  return (hash) => {
    signer.sign(hexToBytes(hash), signature)
    return `0x${signature.toHex()}`
  }
}

const signHash = createSign()

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
    const signature = await signHash(hash)
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

app.listen({ hostname: '127.0.0.1', port: 0, reusePort: false })
process.on('disconnect', () => process.exit(0))
process.send?.({ port: app.server?.port, attester })
