// `bun test/long/locked-store.ts [--seconds 5,30]`: another program holds the write lock of the SQLite file while keyed and
// other requests arrive. Those without a key go on being signed, those with one wait or are told to come again, and within
// two seconds of the lock's end keyed ones are answered. Exit code 1 when anything is lost or given twice.
import { Database } from 'bun:sqlite'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { startService } from '../service/start-service.ts'
import { answerHelp } from '../support/head-help.ts'
import { until } from '../support/until.ts'
import { conclude, createLedger, readyAfterMs } from './support/ledger.ts'

answerHelp(import.meta)

const { values } = parseArgs({ options: { seconds: { type: 'string', default: '5,30' } } })
const BACK_WITHIN_MS = 2_000
const dataDirectory = mkdtempSync(join(tmpdir(), 'countersign-locked-'))
const ledger = createLedger()
const figures: string[] = []
try {
  const service = await startService({ dataDirectory })
  const load = ledger.load(() => service, 16)
  await Bun.sleep(1_000)
  for (const text of values.seconds.split(',')) {
    const seconds = Number(text)
    const other = new Database(join(dataDirectory, 'countersign.db'))
    other.run('PRAGMA busy_timeout = 10000')
    other.run('BEGIN IMMEDIATE')
    const before = ledger.count()
    await Bun.sleep(seconds * 1_000)
    const meanwhile = ledger.count() - before
    other.run('ROLLBACK')
    other.close()
    const readyMs = await readyAfterMs(service)
    const askedMs = performance.now()
    const body = {
      from: `0x${'1'.repeat(40)}`,
      chain: 'base',
      verification_hash: service.quickstart['VERIFICATION_HASH'],
    }
    const key = { 'idempotency-key': crypto.randomUUID() }
    await until(async () => (await service.attest(body, key)).status === 200, {
      what: 'the answer to the keyed request',
      limitMs: 120_000,
    })
    const keyedMs = performance.now() - askedMs
    if (meanwhile === 0) ledger.problems.push(`nothing was signed in ${seconds} s of lock`)
    if (readyMs + keyedMs > BACK_WITHIN_MS) ledger.problems.push(`back after ${(readyMs + keyedMs).toFixed(0)} ms`)
    figures.push(
      `locked ${seconds} s: ${meanwhile} signed meanwhile, ready ${readyMs.toFixed(0)} ms and a key answered ${keyedMs.toFixed(0)} ms after it`,
    )
    process.stderr.write(`${figures.at(-1)}\n`)
    await Bun.sleep(1_000)
  }
  await load.stop()
  await service.stop()
  await ledger.compare(dataDirectory)
} finally {
  rmSync(dataDirectory, { recursive: true, force: true })
}
conclude(ledger, figures.join('; '))
