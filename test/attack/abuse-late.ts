// Attacks between a request and its signature: revocations and missed deadlines. They run against a separate service
// with a short deadline and a screener whose responses the attack controls.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseApiKey } from '../../src/domain/api-key.ts'
import { type RunningService, runCommand, startAlone } from '../service/start-service.ts'
import { temporaryFolder } from '../store/temporary-store.ts'
import { until } from '../support/until.ts'
import type { Abuse } from './abuse.ts'
import { exchangeBytes, requestBytes } from './wire.ts'

const DEADLINE_MS = 4_000
const LEASE_MS = 2_000

const policy = (name: string, allow: string): string =>
  JSON.stringify({ name, default: 'deny', rules: [{ id: 'rule', allow }] })
const SCREENED = policy('Screened', 'screener("held").flagged == false')
const LIMITED = policy('Limited', 'screener("held").flagged == false && velocity.count(days(1)) < 2')
const VERIFIED = policy('Verified', 'identity.verified && screener("held").flagged == false')
const DENIES = policy('Denies', 'wallet.address == address("0x000000000000000000000000000000000000dEaD")')

interface Attacked {
  readonly service: RunningService
  /** Returns the number of requests that wait for the screener. */
  waiting(): number
  /** The screener responds to all pending requests, and immediately to later requests. */
  open(): void
  close(): void
  attest(wallet: number, headers?: Readonly<Record<string, string>>): Promise<{ status: number; compliant: unknown }>
  /** Sends the request's head immediately and its body after `bodyAt` resolves. */
  attestInParts(wallet: number, bodyAt: Promise<void>): ReturnType<Attacked['attest']>
  /** Runs a command while the service is running. @throws Error if it fails */
  command(...words: readonly string[]): Promise<string>
  /** Saves a policy and makes it the active revision of the project. */
  activate(source: string): Promise<void>
  revokeKey(): Promise<void>
  /** Verifies the wallet with a test key, which sends all later requests. Returns the session. */
  verify(wallet: number): Promise<string>
  revokeVerification(session: string): Promise<void>
  /** Adds the wallets to a deny list that is long enough to take a while to read. */
  deny(wallets: readonly number[]): Promise<void>
}

const DENY_LIST_LENGTH = 300_000
const addressOf = (wallet: number): string => `0x${wallet.toString(16).padStart(40, '0')}`

const attacked = async (run: (attacked: Attacked) => Promise<void>): Promise<void> => {
  const folder = temporaryFolder()
  let gate = Promise.withResolvers<void>()
  let held = 0
  const screener = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: async () => {
      held += 1
      await gate.promise
      held -= 1
      return Response.json({ flagged: false })
    },
  })
  const config = join(folder.path, 'config.yaml')
  writeFileSync(
    config,
    JSON.stringify({
      screeners: {
        held: {
          url: `${screener.url.origin}/\${address}`,
          reach: 'loopback',
          answer: { flagged: '/flagged' },
          'timeout-ms': 20_000,
          'cache-seconds': 0,
        },
      },
    }),
  )
  const service = await startAlone({
    arguments: ['--config', config, '--deadline-ms', String(DEADLINE_MS)],
    environment: { COUNTERSIGN_WORKERS: '1' },
  })
  const value = (name: string): string => service.quickstart[name] ?? ''
  let key = value('ATTESTATION_API_KEY')
  const bodyOf = (wallet: number) => ({
    from: addressOf(wallet),
    chain: 'sepolia',
    verification_hash: value('VERIFICATION_HASH'),
  })
  const command = async (...words: readonly string[]): Promise<string> => {
    const { code, stdout, stderr } = await runCommand(service.dataDirectory, ...words)
    if (code !== 0) throw new Error(`${words.join(' ')}: ${stdout}${stderr}`)
    return stdout
  }
  try {
    const id = (await command('policy', 'list', '--quiet')).trim()
    await run({
      service,
      command,
      waiting: () => held,
      open: () => gate.resolve(),
      close: () => {
        gate = Promise.withResolvers<void>()
      },
      attest: async (wallet, headers = {}) => {
        const response = await service.attest(bodyOf(wallet), { 'x-api-key': key, ...headers })
        const answer = (await response.json()) as { is_compliant?: boolean }
        return { status: response.status, compliant: answer.is_compliant }
      },
      attestInParts: async (wallet, end) => {
        const body = Buffer.from(JSON.stringify(bodyOf(wallet)))
        const headers = [
          ['host', new URL(service.url).host],
          ['content-type', 'application/json'],
          ['x-api-key', key],
        ] as const
        const bytes = requestBytes({ method: 'POST', target: '/v2/attestation', headers, body, cutAfterBytes: null })
        const pause = { at: bytes.length - body.length, end }
        const outcome = await exchangeBytes(Number(new URL(service.url).port), bytes, { method: 'POST', pause })
        if (typeof outcome === 'string') throw new Error(`no answer: ${outcome}`)
        return { status: outcome.status, compliant: JSON.parse(outcome.body).is_compliant }
      },
      activate: async (source) => {
        const path = join(folder.path, 'policy.yaml')
        writeFileSync(path, source)
        await command('policy', 'apply', path, '--policy', id, '--config', config)
      },
      revokeKey: async () => {
        await command('keys', 'revoke', parseApiKey(value('ATTESTATION_API_KEY'))?.keyId ?? '')
      },
      verify: async (wallet) => {
        key = (
          await command(
            'keys',
            'issue',
            '--org',
            'demo',
            '--kind',
            'attestation',
            '--name',
            'late',
            '--environment',
            'test',
          )
        ).trim()
        const response = await fetch(`${service.url}/api/v1/register/individual`, {
          method: 'POST',
          headers: {
            authorization: `Bearer ${value('IDENTITY_TEST_API_KEY')}`,
            'content-type': 'application/json',
            'countersign-sandbox-outcome': 'completed',
          },
          body: JSON.stringify({ walletAddress: addressOf(wallet) }),
        })
        return ((await response.json()) as { sessionId: string }).sessionId
      },
      revokeVerification: async (session) => {
        await command('session', 'decide', session, 'rejected', '--revoke', '--comment', 'revoked')
      },
      deny: async (wallets) => {
        const path = join(folder.path, 'deny.txt')
        const others = Array.from({ length: DENY_LIST_LENGTH }, (_, index) => 0x1_0000 + index)
        writeFileSync(path, [...wallets, ...others].map(addressOf).join('\n'))
        await command('lists', 'create', 'deny')
        await command('lists', 'upload', 'deny', path)
      },
    })
  } finally {
    gate.resolve()
    // A suspended service would not receive the signal to stop.
    service.process.kill('SIGCONT')
    await service.stop()
    await screener.stop(true)
    folder.remove()
  }
}

/** Null while the request waits for the screener. */
const soon = <Answer>(answer: Promise<Answer>): Promise<Answer | null> =>
  Promise.race([answer, Bun.sleep(300).then(() => null)])

/** Waits until the policy with the screener is in use. */
const screened = async ({ activate, attest, open, close, waiting }: Attacked, source: string): Promise<void> => {
  close()
  await activate(source)
  const probes: Promise<unknown>[] = []
  await until(() => {
    probes.push(attest(0xffff))
    return waiting() > 0
  })
  open()
  await Promise.all(probes)
  close()
}

export const LATE_ABUSES: readonly Abuse[] = [
  {
    row: 60,
    name: 'late-facts',
    mustHappen: 'requests that got 408 before signing do not count against a wallet',
    run: async (_deployment, faults) =>
      attacked(async (world) => {
        await screened(world, LIMITED)
        const late = await Promise.all([world.attest(1), world.attest(1)])
        faults.holds(
          'the late requests',
          late.every(({ status }) => status === 408),
        )
        world.open()
        const { status, compliant } = await world.attest(1)
        faults.holds(`the wallet is denied: ${status} ${compliant}`, status === 200 && compliant === true)
      }),
  },
  {
    row: 61,
    name: 'revoked-during-facts',
    mustHappen:
      'nothing is signed for a key that was revoked, or under a policy that was replaced, while facts were collected',
    run: async (_deployment, faults) =>
      attacked(async (world) => {
        await screened(world, SCREENED)
        const underOld = [world.attest(1), world.attest(2, { 'idempotency-key': 'order-7' })]
        await until(() => world.waiting() === 2)
        await world.activate(DENIES)
        await until(async () => (await soon(world.attest(3)))?.compliant === false)
        world.open()
        for (const { status, compliant } of await Promise.all(underOld))
          faults.holds(`under the replaced policy: ${status} ${compliant}`, status === 408 || compliant === false)
        await screened(world, SCREENED)
        const withOld = [world.attest(4), world.attest(5, { 'idempotency-key': 'order-8' })]
        await until(() => world.waiting() === 2)
        await world.revokeKey()
        await until(async () => (await soon(world.attest(6)))?.status === 401)
        world.open()
        for (const { status } of await Promise.all(withOld))
          faults.holds(`with the revoked key: ${status}`, status === 401)
      }),
  },
  {
    row: 61,
    name: 'suspended-service',
    mustHappen: 'a suspended service signs nothing for keys or policies that changed in the meantime',
    run: async (_deployment, faults) => {
      for (const changed of ['policy', 'key', 'list', 'verification'] as const) {
        await attacked(async (world) => {
          const { service, attest } = world
          const isOneWallet = changed === 'verification'
          const session = isOneWallet ? await world.verify(1) : ''
          await screened(world, isOneWallet ? VERIFIED : SCREENED)
          const wallets = (first: number) => Array.from({ length: 20 }, (_, index) => (isOneWallet ? 1 : first + index))
          const [waiting, late, divided] = [wallets(1), wallets(101), wallets(201)]
          const held = waiting.map((wallet) => attest(wallet))
          // Requests of the same wallet share one response of the screener.
          await until(() => world.waiting() === (isOneWallet ? 1 : held.length))
          service.process.kill('SIGSTOP')
          const suspendedMs = performance.now()
          // Requests that arrive while the service is suspended are processed with outdated caches.
          const arriving = late.map((wallet) => attest(wallet))
          // Their keys are looked up in these caches, and their bodies arrive after the change is known.
          const body = Promise.withResolvers<void>()
          const inParts = divided.map((wallet) => world.attestInParts(wallet, body.promise))
          if (changed === 'key') await world.revokeKey()
          else if (changed === 'policy') await world.activate(DENIES)
          else if (changed === 'verification') await world.revokeVerification(session)
          else await world.deny([...waiting, ...late, ...divided])
          world.open()
          // The last read of the changes must be older than a lease.
          while (performance.now() - suspendedMs < LEASE_MS + 200) await world.command('policy', 'list')
          service.process.kill('SIGCONT')
          const early = await Promise.all([...held, ...arriving])
          body.resolve()
          const answers = [...early, ...(await Promise.all(inParts))]
          const signed = answers.filter(({ status, compliant }) => status === 200 && compliant === true)
          faults.holds(`${signed.length} of ${answers.length} were signed after the ${changed}`, signed.length === 0)
          const wanted = changed === 'key' ? 401 : 200
          const unlike = answers.filter(({ status }) => status !== wanted && status !== 408)
          faults.holds(`another answer: ${JSON.stringify(unlike[0])}`, unlike.length === 0)
        })
      }
    },
  },
]
