// The requests of all stages: on-chain EVM calls with 68 bytes of calldata, as in the load runs. Several requests take
// turns, because a single one would be unrealistically fast due to branch prediction and caches.
import type { DecisionRecord } from '../../src/decision-log/types.ts'
import { EVM_ZERO_ADDRESS, type EvmAddress } from '../../src/domain/address.ts'
import type { AttestationRequest } from '../../src/domain/attestation.ts'
import type { Statement } from '../../src/signing/types.ts'
import { type AttestationBody, makeBody } from '../load/requests.ts'

export const EXAMPLES = 256
export const CHAIN_ID = 11_155_111
export const EXPIRATION_SECONDS = 1_800_000_300
export const VERIFICATION_HASH = 'x-0123456789abcdef0123456789abcdef'
export const ATTESTER = '0x8bE4baC46fc9d5fEc816DA027BAAEAabB5AcB5eB'
export const SIGNATURE = `0x${'5a'.repeat(65)}`

/** Length of the statement's ABI encoding: eight head words, then uuid, data and policy, each after its length. */
export const STATEMENT_BYTES = 32 * (8 + (1 + 2) + (1 + 3) + (1 + 2))

export interface Example {
  readonly body: AttestationBody
  readonly uuid: string
}

const BODY_PLAN = {
  seed: 'stages',
  wallets: EXAMPLES,
  chain: 'sepolia',
  target: { to: '0x4daf89a45564390fba803dc9509ea6732d0b6c42' },
} as const

export const examples: readonly Example[] = Array.from({ length: EXAMPLES }, (_, index) => ({
  body: makeBody(BODY_PLAN, index),
  uuid: `658ffaa7-2fe7-402d-8ddb-${index.toString(16).padStart(12, '0')}`,
}))

/** Returns the example at this index of an endless series. */
export const exampleAt = (index: number): Example => examples[index % EXAMPLES]!

export const requestOf = ({ body }: Example): AttestationRequest => ({
  chain: { name: body.chain, family: 'evm', chainId: CHAIN_ID },
  from: body.from as EvmAddress,
  onBehalf: '',
  to: (body.to ?? EVM_ZERO_ADDRESS) as EvmAddress,
  value: body.msgValue,
  data: body.data,
  userIp: '',
  nowSeconds: EXPIRATION_SECONDS - 300,
})

export const statementOf = (example: Example): Statement => ({
  uuid: example.uuid,
  request: requestOf(example),
  expiration: EXPIRATION_SECONDS,
})

export const recordOf = ({ body, uuid }: Example): DecisionRecord => ({
  kind: 'attestation',
  uuid,
  at: EXPIRATION_SECONDS * 1000,
  organization: 'org_0123456789abcdef',
  project: 'project_0123456789abcdef',
  key: '0123456789ab',
  request: uuid,
  policy: 'policy_0123456789abcdef',
  revision: 'revision_0123456789abcdef',
  verification_hash: VERIFICATION_HASH,
  chain: body.chain,
  from: body.from,
  to: body.to ?? '',
  value: body.msgValue,
  data_sha256: 'ab'.repeat(32),
  data_size: (body.data.length - 2) / 2,
  data: body.data,
  requested: EXPIRATION_SECONDS - 300,
  compliant: true,
  rule: 'opened',
  expiration: EXPIRATION_SECONDS,
  attesters: [ATTESTER],
  signatures: [SIGNATURE],
  policy_name: 'Six rules',
})
