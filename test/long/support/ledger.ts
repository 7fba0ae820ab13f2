// The responses of a long run, and their checks: every acknowledged uuid is in the log, none belongs to two requests, a repeated
// key has one uuid, and the log is valid.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { segmentsSince } from '../../../src/decision-log/time-position.ts'
import { type RunningService, runCommand } from '../../service/start-service.ts'

export interface Load {
  /** Stops the clients after their requests in flight. */
  stop(): Promise<void>
}

const RETRY_MS_MAX = 1_000
/** Share of keyed requests that repeat an acknowledged key. */
const REPEATED = 0.1
/** Attestations of the demo policy expire after 300 s, and then a key is decided again. */
const REPEATED_MS_MAX = 200_000

export const createLedger = () => {
  /** uuid → the key of its request, or null. */
  const answered = new Map<string, string | null>()
  /** Acknowledged keys, newest last. */
  let keys: { readonly key: string; readonly atMs: number }[] = []
  const uuidOfKey = new Map<string, string>()
  const statuses = new Map<number, number>()
  const problems: string[] = []
  let number = 0
  /** Increased by forgetKeys(); responses of earlier eras may repeat expired keys. */
  let era = 0

  const note = (uuid: string, key: string | null, requestEra: number): void => {
    if (key === null) {
      if (answered.has(uuid)) problems.push(`uuid ${uuid} was answered twice`)
    } else {
      const before = uuidOfKey.get(key)
      if (before === undefined && requestEra === era) keys.push({ key, atMs: performance.now() })
      else if (before !== undefined && before !== uuid && requestEra === era)
        problems.push(`key ${key} was answered ${before} and ${uuid}`)
      uuidOfKey.set(key, uuid)
      if (answered.has(uuid) && answered.get(uuid) !== key) problems.push(`uuid ${uuid} was answered under two keys`)
    }
    answered.set(uuid, key)
  }

  /** Sends a request, and retries it if it has a key. */
  const send = async (
    service: () => RunningService | null,
    keyed: boolean,
    isRunning: () => boolean,
  ): Promise<void> => {
    const chosen = Math.random() < REPEATED ? keys[Math.floor(Math.random() * keys.length)] : undefined
    const repeated = chosen !== undefined && performance.now() - chosen.atMs < REPEATED_MS_MAX ? chosen.key : null
    const key = keyed ? (repeated ?? `key-${number++}`) : null
    const requestEra = era
    do {
      const at = service()
      if (at === null) {
        await Bun.sleep(10)
        continue
      }
      const body = { from: `0x${'1'.repeat(40)}`, chain: 'base', verification_hash: at.quickstart['VERIFICATION_HASH'] }
      try {
        const response = await at.attest(body, key === null ? {} : { 'idempotency-key': key })
        statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1)
        const answer = (await response.json()) as { attestation?: { uuid: string }; code?: string }
        if (response.status === 200) {
          note(answer.attestation?.uuid ?? '', key, requestEra)
          return
        }
        if (![408, 409, 429, 503].includes(response.status)) problems.push(`${response.status} ${answer.code}`)
        const waitMs = 1_000 * Number(response.headers.get('retry-after') ?? 0.1)
        await Bun.sleep(Math.min(RETRY_MS_MAX, waitMs))
      } catch {
        // The process exited, or its response was lost.
        await Bun.sleep(10)
      }
    } while (key !== null && isRunning())
  }

  return {
    problems,
    /** Returns the number of acknowledged responses. */
    count: (): number => answered.size,
    /** Stops repeating acknowledged keys, whose attestations have expired. */
    forgetKeys: (): void => {
      era += 1
      keys = []
    },
    statuses: (): string => [...statuses].map(([status, count]) => `${status}: ${count}`).join(', '),
    /** Starts clients, half of them with keys. @param service returns null while no service runs */
    load: (service: () => RunningService | null, clients: number): Load => {
      let stopped = false
      const work = async (keyed: boolean): Promise<void> => {
        while (!stopped) await send(service, keyed, () => !stopped)
      }
      const done = Promise.all(Array.from({ length: clients }, (_, index) => work(index % 2 === 0)))
      return {
        stop: async () => {
          stopped = true
          await done
        },
      }
    },
    /** Compares the responses with the log of a stopped deployment. */
    compare: async (dataDirectory: string): Promise<void> => {
      const missing = new Set(answered.keys())
      // One file at a time, because a long log does not fit in one string.
      for (const { path } of segmentsSince(join(dataDirectory, 'decisions'), 0)) {
        for (const uuid of readFileSync(path, 'utf8').match(/(?<="uuid":")[^"]+/g) ?? []) missing.delete(uuid)
      }
      for (const uuid of missing) problems.push(`answer ${uuid} is not in the log`)
      const verified = await runCommand(dataDirectory, 'decisions', 'verify')
      if (verified.code !== 0) problems.push(`the log does not verify:\n${verified.stdout}${verified.stderr}`)
    },
  }
}

export type Ledger = ReturnType<typeof createLedger>

/** Returns the milliseconds until the service is ready. @throws Error after the limit */
export const readyAfterMs = async (service: RunningService, limitMs = 60_000): Promise<number> => {
  const startedMs = performance.now()
  for (;;) {
    const response = await fetch(`${service.url}/readyz`, { signal: AbortSignal.timeout(5_000) }).catch(() => null)
    const passedMs = performance.now() - startedMs
    if (response?.status === 200) return passedMs
    if (passedMs > limitMs) throw new Error(`not ready after ${passedMs.toFixed(0)} ms: ${await response?.text()}`)
    await Bun.sleep(10)
  }
}

/** Prints the problems, and exits with 0 without problems, otherwise 1. */
export const conclude = (ledger: Pick<Ledger, 'problems' | 'count' | 'statuses'>, figures: string): never => {
  for (const problem of ledger.problems.slice(0, 20)) process.stdout.write(`problem: ${problem}\n`)
  process.stdout.write(
    `${figures}; ${ledger.count()} acknowledged (${ledger.statuses()}), ${ledger.problems.length} problems\n`,
  )
  process.exit(ledger.problems.length === 0 ? 0 : 1)
}
