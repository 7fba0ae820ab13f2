// `bun test/long/locked-store.ts [--seconds 5,30]`: another program holds the write lock of the SQLite file under load. Requests
// without an idempotency key are signed in the meantime, and keyed requests wait or are refused until two seconds after the lock
// is released. Exit code 1 if anything is lost or repeated.
import { Database } from 'bun:sqlite'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { projectRequest } from '../service/calls.ts'
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
    const sentMs = performance.now()
    const key = { 'idempotency-key': crypto.randomUUID() }
    const isSigned = async () => (await service.attest(projectRequest(service), key)).status === 200
    await until(isSigned, { what: 'the response to the keyed request', limitMs: 120_000 })
    const keyedMs = performance.now() - sentMs
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
