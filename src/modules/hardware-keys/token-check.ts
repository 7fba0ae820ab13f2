// Checks attester keys in the token, in a process with a time limit.
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { sendToChild } from '../../cluster/send.ts'
import type { AttesterReference } from '../../pool/protocol.ts'
import { ownProcess } from '../../program/entries.ts'
import { TokenUnavailableError, TokenUnusableError } from '../../signing/errors.ts'
import { isTokenKey } from '../../signing/token-key.ts'
import type { AskToken, TokenFinding, TokenKeyReference } from '../../signing/token-service.ts'
import type { TokenSettings } from '../../signing/types.ts'
import type { Logger } from '../../telemetry/log.ts'
import type { TokenQuestion } from './worker/token-check.process.ts'

const PROGRAM = ownProcess('src/modules/hardware-keys/worker/token-check.process.ts', true)
/** Limit for the check: enough for a connection to a network HSM, a login, and one signature per key. */
const TIME_LIMIT_MS = 20_000

const notSet: AskToken = async (keys) =>
  keys.map(() => ({ ok: false, name: 'TokenUnusableError', detail: 'pkcs11-module is not set' }))

const askProcess = async (question: TokenQuestion): Promise<readonly TokenFinding[]> => {
  const answered = Promise.withResolvers<readonly TokenFinding[] | null>()
  // The vendor's module may read its settings, including the PIN, from the environment.
  const child = Bun.spawn([...PROGRAM.words], {
    env: { ...process.env, ...PROGRAM.environment },
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'ignore',
    serialization: 'json',
    timeout: TIME_LIMIT_MS,
    killSignal: 'SIGKILL',
    ipc: (findings: readonly TokenFinding[]) => answered.resolve(findings),
    onExit: () => answered.resolve(null),
  })
  sendToChild(child, question)
  const findings = await answered.promise
  const detail =
    child.signalCode === 'SIGKILL'
      ? `the token did not respond within ${TIME_LIMIT_MS / 1_000} s`
      : 'the PKCS#11 module crashed its process'
  child.kill('SIGKILL')
  return findings ?? question.keys.map(() => ({ ok: false, name: 'TokenUnavailableError', detail }))
}

const reachedKeys = ({ loginFile, module, token }: TokenSettings) => {
  const path = `${loginFile}.reached`
  const lines = new Set(existsSync(path) ? readFileSync(path, 'utf8').split('\n') : [])
  const lineOf = ({ kind, key, address }: TokenKeyReference): string =>
    createHash('sha256')
      .update(JSON.stringify([module, token, kind, key, address]))
      .digest('hex')
  return {
    has: (key: TokenKeyReference): boolean => lines.has(lineOf(key)),
    add: (keys: readonly TokenKeyReference[]): void => {
      const added = keys.map(lineOf).filter((line) => !lines.has(line))
      if (added.length > 0) writeFileSync(path, [...lines, ...added].join('\n'), { mode: 0o600 })
    },
  }
}

/** Returns the findings in the order of the keys. Never rejects. */
export const createTokenCheck = (settings: TokenSettings | null): AskToken => {
  if (settings === null) return notSet
  return async (keys) => {
    if (keys.length === 0) return []
    const findings = await askProcess({ settings, keys })
    reachedKeys(settings).add(
      keys.flatMap((key, index) => {
        const finding = findings[index]
        return finding?.ok === true ? [{ ...key, address: finding.address }] : []
      }),
    )
    return findings
  }
}

const tokenAttesters = <Reference extends Pick<AttesterReference, 'keystorePath' | 'status'>>(
  attesters: readonly Reference[],
): readonly Reference[] =>
  attesters.filter(({ keystorePath, status }) => status === 'active' && isTokenKey(keystorePath))

/**
 * Checks that every key in the token can sign. Without the token, the service starts only if these settings have
 * reached the same keys before. @throws TokenUnusableError, TokenUnavailableError
 */
export const requireTokenKeys = async (
  attesters: readonly AttesterReference[],
  settings: TokenSettings | null,
  log: Pick<Logger, 'warn'>,
): Promise<void> => {
  const wanted = tokenAttesters(attesters)
  if (wanted.length === 0) return
  const keys = wanted.map(({ kind, keystorePath: key, address }) => ({ kind, key, address }))
  const findings = await createTokenCheck(settings)(keys)
  for (const [index, finding] of findings.entries()) {
    const key = keys[index]
    if (finding.ok || key === undefined) continue
    const detail = `could not use the key of attester ${key.address} in the hardware token: ${finding.detail}`
    if (finding.name !== 'TokenUnavailableError') throw new TokenUnusableError(detail)
    if (settings === null || !reachedKeys(settings).has(key)) throw new TokenUnavailableError(detail)
    log.warn('the hardware token is unavailable; requests that need its keys will fail until it is available', {
      attester: key.address,
      reason: finding.detail,
    })
  }
}
