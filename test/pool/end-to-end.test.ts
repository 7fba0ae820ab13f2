// 2000 jobs with two real workers, keys, a policy and a decision log. Independent code (viem, noble, Node's Ed25519) checks
// each attestation.
import { afterAll, expect, setDefaultTimeout, test } from 'bun:test'
import { createHash, createPublicKey, verify } from 'node:crypto'
import bs58 from 'bs58'
import { publicKeyToAddress } from 'viem/accounts'
import { BUILT_IN_CHAINS } from '../../src/domain/chain.ts'
import { newUuid } from '../../src/domain/identifier.ts'
import type { SignableJob } from '../../src/pool/protocol.ts'
import { referenceSolanaMessage, referenceStatementDigest, referenceTaskDigest } from '../signing/reference-encoding.ts'
import { hasLowS, recoverWithNoble } from '../signing/rounds.ts'
import { testKey } from '../signing/test-keys.ts'
import { requestOf } from '../support/request.ts'
import { removeTemporaryDirectories, storeAttester, temporaryDirectory } from '../workers/support/attesters.ts'
import { DENIED_WALLET, testTarget } from '../workers/support/policies.ts'
import type { Settled } from './support/harness.ts'
import { jobOf } from './support/jobs.ts'
import { allRecords, deadlineIn, REAL_WORKER, startThreadPool } from './support/thread-pool.ts'

setDefaultTimeout(60_000)
afterAll(removeTemporaryDirectories)

const JOBS = 2000
const target = testTarget({ id: 'target_1', quorum: 2 })

const hexOf = (seed: string, bytes: number): string =>
  createHash('shake256', { outputLength: bytes }).update(seed).digest('hex')

/** The n-th job; uses every EVM chain, Solana, v1 tasks and denied wallets in turn. */
const jobAt = (number: number): SignableJob => {
  const chain = BUILT_IN_CHAINS[number % BUILT_IN_CHAINS.length]!
  const isTask = number % 10 === 7 && chain.family === 'evm'
  const address = (seed: string): string =>
    chain.family === 'evm' ? `0x${hexOf(seed, 20)}` : bs58.encode(Buffer.from(hexOf(seed, 32), 'hex'))
  return jobOf(number, {
    kind: isTask ? 'task' : 'attestation',
    uuid: newUuid(),
    request: requestOf({
      chain,
      from: number % 25 === 3 && chain.family === 'evm' ? DENIED_WALLET : address(`from ${number}`),
      to: address(`to ${number}`),
      value: String(number ** 3),
      data: `0x${hexOf(`data ${number}`, number % 70)}`,
    }),
    expiration: 1_800_000_000 + number,
  })
}

const recover = (digest: string, signature: string): string => {
  const bytes = Buffer.from(signature.slice(2), 'hex')
  expect(bytes).toHaveLength(65)
  expect([27, 28]).toContain(bytes[64] as number)
  expect(hasLowS(bytes)).toBe(true)
  return publicKeyToAddress(`0x${recoverWithNoble(bytes, Buffer.from(digest.slice(2), 'hex')).toHex()}`)
}

const commonOf = ({ request }: SignableJob) => ({
  from: request.from,
  to: request.to,
  data: request.data,
  policy: target.verificationHash,
})
const amountOf = ({ request }: SignableJob): bigint => BigInt(request.value)

const attestationDigest = (job: SignableJob, chainId: number): string =>
  referenceStatementDigest({
    ...commonOf(job),
    chainId,
    uuid: job.uuid,
    value: amountOf(job),
    expirationSeconds: job.expiration,
  })

const taskDigest = (job: SignableJob): string =>
  referenceTaskDigest({
    ...commonOf(job),
    taskId: job.uuid,
    value: amountOf(job),
    quorum: target.quorum,
    expiry: job.expiration,
  })

const solanaMessage = (job: SignableJob): Buffer => {
  const statement = { ...commonOf(job), uuid: job.uuid, lamports: amountOf(job), expirationSeconds: job.expiration }
  return Buffer.from(referenceSolanaMessage('predicate_solana_attestation', statement), 'hex')
}

const isSolanaSignature = (message: Buffer, signature: string, attester: string): boolean => {
  const x = Buffer.from(bs58.decode(attester)).toString('base64url')
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
  return verify(null, message, key, Buffer.from(signature.slice(2), 'hex'))
}

test(`of ${JOBS} jobs, every attestation is valid, every decision is recorded once, and the log verifies`, async () => {
  const keystores = temporaryDirectory()
  const [first, second, solana] = [
    await storeAttester(keystores, 'secp256k1', testKey(1).toHex()),
    await storeAttester(keystores, 'secp256k1', testKey(2).toHex()),
    await storeAttester(keystores, 'ed25519', testKey(3).toHex()),
  ]
  const threads = await startThreadPool({
    attesters: [first, second, solana],
    entry: REAL_WORKER,
    limits: { hangMs: 2000 },
    settings: { segmentMaxBytes: 65_536 },
  })
  const jobs = Array.from({ length: JOBS }, (_, number) => jobAt(number))
  const answers: Settled[] = []
  for (let from = 0; from < JOBS; from += 250) {
    const burst = jobs
      .slice(from, from + 250)
      .map((job, index) => threads.submit(from + index, { ...job, deadlineMs: deadlineIn(25_000) }, target))
    answers.push(...(await Promise.all(burst)))
  }

  const quorum = [first.address, second.address].sort((a, b) => (BigInt(a) < BigInt(b) ? -1 : 1))
  const counts = { evm: 0, solana: 0, task: 0, denied: 0 }
  jobs.forEach((job, number) => {
    const { answer, code } = answers[number] ?? {}
    if (!answer) throw new Error(`job ${number} failed: ${code}`)
    const body = JSON.parse(answer.body)
    const { chain } = job.request
    expect(body.is_compliant).toBe(String(job.request.from) !== DENIED_WALLET)
    if (job.kind === 'task') {
      expect(body.task_id).toBe(job.uuid)
      expect(body.expiry_block).toBe(body.is_compliant ? job.expiration : 0)
      expect(body.signers).toEqual(body.is_compliant ? quorum : [])
      expect(body.signature.map((signature: string) => recover(taskDigest(job), signature))).toEqual(body.signers)
      counts.task += 1
      return
    }
    const { uuid, expiration, attester, signature } = body.attestation
    expect(uuid).toBe(job.uuid)
    if (!body.is_compliant) {
      expect([expiration, attester, signature]).toEqual([0, '', ''])
      counts.denied += 1
      return
    }
    expect(expiration).toBe(job.expiration)
    if (chain.family === 'solana') {
      expect(attester).toBe(solana.address)
      expect(isSolanaSignature(solanaMessage(job), signature, attester)).toBe(true)
      counts.solana += 1
    } else {
      expect(attester).toBe(first.address)
      expect(recover(attestationDigest(job, chain.chainId), signature)).toBe(first.address)
      counts.evm += 1
    }
  })
  expect(Math.min(...Object.values(counts))).toBeGreaterThan(50)

  expect(threads.pool.stats()).toMatchObject({
    workers: 2,
    restarts: { crash: 0, hang: 0, start: 0 },
    answered: JOBS,
    wait: { count: JOBS },
    run: { count: JOBS },
  })

  const report = await threads.finish()
  expect(report).toMatchObject({ ok: true, decisions: JOBS, withheld: 0 })
  const recorded = allRecords(threads.decisions).map(({ uuid }) => uuid)
  expect(recorded.sort()).toEqual(jobs.map(({ uuid }) => uuid).sort())
  // Both workers recorded decisions.
  expect(new Set(report.segments.map(({ slot }) => slot)).size).toBe(2)
})
